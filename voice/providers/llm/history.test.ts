import { llm } from '@livekit/agents';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { bytesOf, fitted, shortenedTo, turnsToSummarize } from './history.ts';

const PROMPT = 'You are a receptionist.';
type Step = 'user' | 'agent' | 'tool' | 'slow tool';

/** @param steps `slow tool`: its result comes after the user's next words */
function talk(steps: readonly Step[], size = 100): llm.ChatContext {
  const context = new llm.ChatContext();
  context.addMessage({ role: 'system', content: PROMPT, id: 'system' });
  const late: llm.FunctionCallOutput[] = [];
  for (const [index, step] of steps.entries()) {
    const content = `${step} ${index} `.padEnd(size, '.');
    if (step === 'user' || step === 'agent') {
      context.addMessage({ role: step === 'user' ? 'user' : 'assistant', content, id: `${index}` });
      if (step === 'user') context.items.push(...late.splice(0));
      continue;
    }
    context.items.push(llm.FunctionCall.create({ id: `${index}`, callId: `call ${index}`, name: 'look_up', args: '{}' }));
    const output = llm.FunctionCallOutput.create({ id: `${index} result`, callId: `call ${index}`, output: content, isError: false });
    (step === 'tool' ? context.items : late).push(output);
  }
  context.items.push(...late);
  return context;
}

const turns = (count: number): readonly Step[] => Array.from({ length: count }, () => ['user', 'tool', 'agent'] as const).flat();
const ids = ({ items }: llm.ChatContext): readonly string[] => items.map(({ id }) => id);
const promptOf = ({ items }: llm.ChatContext): string => (items[0] as llm.ChatMessage).textContent ?? '';

describe('a request', () => {
  it('holds all that was said where it fits', () => {
    const chatCtx = talk(turns(10));
    expect(fitted({ chatCtx, maxBytes: bytesOf(chatCtx), summary: undefined })).toBe(chatCtx);
  });

  it('has no more than fits: the prompt with a note, and the last turns', () => {
    const chatCtx = talk(turns(10));
    const request = fitted({ chatCtx, maxBytes: 1_500, summary: undefined });
    expect(bytesOf(request)).toBeLessThanOrEqual(1_500);
    expect(ids(request)).toEqual(['system', ...ids(chatCtx).slice(-12)]);
    expect(promptOf(request)).toMatch(/^You are a receptionist\.\n\nThe oldest part of the conversation is left out/);
    expect(promptOf(chatCtx)).toBe(PROMPT);
  });

  it('has the summary in place of what it covers, and a note of what it doesn’t', () => {
    const chatCtx = talk(turns(10));
    const summary = { before: '15', text: 'Ann wants a table.' };
    const request = fitted({ chatCtx, maxBytes: 10_000, summary });
    expect(ids(request)).toEqual(['system', ...ids(chatCtx).slice(ids(chatCtx).indexOf('15'))]);
    expect(promptOf(request)).toContain('Ann wants a table.');
    expect(promptOf(request)).not.toContain('oldest part');
    const shorter = fitted({ chatCtx, maxBytes: 1_500, summary });
    expect(promptOf(shorter)).toMatch(/Ann wants a table\.\n\nThe oldest part/);
    expect(bytesOf(shorter)).toBeLessThanOrEqual(1_500);
  });

  it('of another conversation has nothing to do with the summary', () => {
    const chatCtx = talk(['user']);
    expect(fitted({ chatCtx, maxBytes: 10_000, summary: { before: 'x', text: 'Ann wants a table.' } })).toBe(chatCtx);
  });

  it('has the last turn, with results of tools cut off where they leave no room', () => {
    const chatCtx = talk(['user', 'agent', 'user', 'tool', 'tool'], 2_000);
    const request = fitted({ chatCtx, maxBytes: 4_000, summary: undefined });
    expect(ids(request)).toEqual(['system', '2', '3', '3 result', '4', '4 result']);
    expect(bytesOf(request)).toBeLessThanOrEqual(4_000);
    expect((request.items.at(-1) as llm.FunctionCallOutput).output).toMatch(/^tool 4.* … \(cut off\)$/);
    expect((chatCtx.items.at(-1) as llm.FunctionCallOutput).output).toHaveLength(2_000);
  });

  it('never parts a call from its result, and keeps what the user said last', () => {
    const steps = fc.array(fc.constantFrom<Step>('user', 'agent', 'tool', 'slow tool'), { maxLength: 60 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 300, max: 8_000 }), (all, maxBytes) => {
        const chatCtx = talk([...all, 'user']);
        const request = fitted({ chatCtx, maxBytes, summary: undefined });
        const left = ids(request);
        expect(ids(chatCtx).slice(-left.length + 1)).toEqual(left.slice(1));
        expect(left).toContain(String(all.length));
        const of = (type: 'function_call' | 'function_call_output'): readonly string[] =>
          request.items.flatMap((item) => (item.type === type ? [item.callId] : []));
        expect(of('function_call').toSorted()).toEqual(of('function_call_output').toSorted());
      }),
    );
  });
});

describe('what is summarised', () => {
  const request = { maxBytes: 4_000, summary: undefined };

  it('is nothing while there is room', () => {
    expect(turnsToSummarize({ ...request, chatCtx: talk(turns(6)) })).toBeUndefined();
  });

  it('is the oldest turns, before the room is used up', () => {
    const chatCtx = talk(turns(9));
    expect(bytesOf(chatCtx)).toBeLessThan(4_000);
    const old = turnsToSummarize({ ...request, chatCtx });
    expect(old?.items[0]?.id).toBe('0');
    expect(old?.before).toBe('18');
    const again = turnsToSummarize({ ...request, chatCtx: talk(turns(15)), summary: { before: '18', text: 'Ann wants a table.' } });
    expect([again?.items[0]?.id, again?.before]).toEqual(['18', '36']);
  });

  it('is never one of the last two turns', () => {
    expect(turnsToSummarize({ ...request, chatCtx: talk(['user', 'agent', 'user'], 3_000) })).toBeUndefined();
    expect(turnsToSummarize({ ...request, chatCtx: talk(['user', 'agent', 'user', 'agent', 'user'], 3_000) })?.before).toBe('2');
  });
});

it('a text is cut off between characters', () => {
  expect(shortenedTo('Grüße', 5)).toBe('Grüße'.slice(0, 3) + ' … (cut off)');
  expect(shortenedTo('Grüße', 3)).toBe('Gr … (cut off)');
  expect(shortenedTo('Grüße', 7)).toBe('Grüße');
});
