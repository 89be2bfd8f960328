import { countTokens as countNew } from 'gpt-tokenizer/encoding/o200k_base';
import { countTokens as countOld } from 'gpt-tokenizer/encoding/cl100k_base';
import { describe, expect, it } from 'vitest';

import { aMessage, aQuestion } from '../../../test/support/answers.ts';
import { talks } from '../../../test/support/talks.ts';
import { contextTokensOf, ContextWindow } from './context-window.ts';
import { promptBytes, fitted, type AnswerRequest, type HistoryItem } from './history.ts';

it.each([
  ['gpt-4', 8_192],
  ['gpt-4-0613', 8_192],
  ['gpt-4o-mini', 128_000],
  ['openai/gpt-4.1-mini', 1_048_576],
  ['gpt-3.5-turbo', 16_385],
  ['gpt-5-mini', 272_000],
  ['o4-mini', 200_000],
  ['claude-sonnet-4-5', 200_000],
  ['models/gemini-2.5-flash', 1_048_576],
  ['meta-llama/Llama-3.3-70B-Instruct', 128_000],
  ['llama3:8b', 8_192],
  ['llama-3.1-8b-instant', 128_000],
  ['of-our-own', 32_768],
])('%s takes %d tokens', (model, tokens) => {
  expect(contextTokensOf(model)).toBe(tokens);
});

it('leaves room for the answer, and takes the agent’s word for the window', () => {
  const bytes = (options: object): number => new ContextWindow({ model: 'gpt-4', ...options }).bytes;
  expect(bytes({})).toBe((8_192 - 1_024) * 0.9 * 3);
  expect(bytes({ maxTokens: 5_000 })).toBe((8_192 - 4_096) * 0.9 * 3);
  expect(bytes({ contextTokens: 2_048, maxTokens: 100 })).toBe((2_048 - 100) * 0.9 * 3);
});

it('is smaller once the provider has refused a request as too long', () => {
  const window = new ContextWindow({ model: 'gpt-4o' });
  window.refused(20_000);
  expect(window.bytes).toBe(10_000);
  window.refused(9_000);
  expect(window.bytes).toBe(4_500);
});

it('believes no count that can’t be one', () => {
  const window = new ContextWindow({ model: 'gpt-4o' });
  for (const tokens of [0, 3, 1_000_000]) window.counted(4_000, tokens);
  expect(window.tokensOf(3_000)).toBe(1_000);
});

const PROMPT = `You are the receptionist of a practice. ${'Be friendly and brief, never give medical advice, and ask when you are not sure. '.repeat(40)}`;

describe.each([
  ['of today', countNew],
  ['of 2023', countOld],
])('with a tokenizer %s the estimate is right within a tenth', (_, count) => {
  const counts = new Map<string, number>();
  /** Counts as providers do, with what they put around each message. */
  const tokensOf = ({ instructions, history }: AnswerRequest): number =>
    [instructions, ...history.map((item) => (item.type === 'message' ? item.text : ''))].reduce((sum, text) => {
      if (!counts.has(text)) counts.set(text, count(text));
      return sum + 4 + counts.get(text)!;
    }, 3);

  it.each(Object.entries(talks))('in a talk in %s after an English prompt, also when it is trimmed', (_language, lines) => {
    const window = new ContextWindow({ model: 'm', contextTokens: 3_000 });
    const history: HistoryItem[] = [];
    const conversation = aQuestion('', { instructions: PROMPT, history });
    const errors: number[] = [];
    for (let turn = 0; turn < 120; turn += 1) {
      const [asked, answered] = [lines[(turn * 2) % lines.length]!, lines[(turn * 2 + 1) % lines.length]!];
      history.push(aMessage('user', `${turn}: ${asked}`));
      const request = fitted(conversation, { maxBytes: window.bytes, summary: undefined });
      if (turn > 0) errors.push(window.tokensOf(promptBytes(request)) / tokensOf(request) - 1);
      window.counted(promptBytes(request), tokensOf(request));
      history.push(aMessage('agent', answered));
      expect(tokensOf(request)).toBeLessThan(3_000);
    }
    expect(tokensOf(conversation)).toBeGreaterThan(3_000);
    expect(Math.max(...errors.map(Math.abs))).toBeLessThan(0.1);
  });
});
