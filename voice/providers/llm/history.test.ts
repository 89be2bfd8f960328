import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { aMessage, aQuestion } from '../../../test/support/answers.ts';
import { promptBytes, fitted, shortenedTo, turnsToSummarize, type AnswerRequest, type HistoryItem } from './history.ts';

const PROMPT = 'You are a receptionist.';
type Step = 'user' | 'agent' | 'tool' | 'slow tool';

/** Builds a conversation. @param steps `slow tool`: its result comes after the user's next words */
function talk(steps: readonly Step[], size = 100): AnswerRequest {
  const history: HistoryItem[] = [];
  const late: HistoryItem[] = [];
  for (const [index, step] of steps.entries()) {
    const text = `${step} ${index} `.padEnd(size, '.');
    if (step === 'user' || step === 'agent') {
      history.push(aMessage(step, text, `${index}`));
      if (step === 'user') history.push(...late.splice(0));
      continue;
    }
    const call = { callId: `call ${index}`, name: 'look_up' };
    history.push({ type: 'call', id: `${index}`, answer: `answer ${index}`, ...call, args: '{}' });
    (step === 'tool' ? history : late).push({ type: 'result', id: `${index} result`, ...call, output: text, isError: false });
  }
  return aQuestion('', { instructions: PROMPT, history: [...history, ...late] });
}

const turns = (count: number): readonly Step[] => Array.from({ length: count }, () => ['user', 'tool', 'agent'] as const).flat();
const outputOf = ({ history }: AnswerRequest): string => (history.at(-1) as Extract<HistoryItem, { readonly type: 'result' }>).output;
const ids = ({ history }: AnswerRequest): readonly string[] => history.map(({ id }) => id);

describe('a request', () => {
  it('holds all that was said where it fits', () => {
    const conversation = talk(turns(10));
    expect(fitted(conversation, { maxBytes: promptBytes(conversation), summary: undefined })).toBe(conversation);
  });

  it('has no more than fits: the prompt with a note, and the last turns', () => {
    const conversation = talk(turns(10));
    const request = fitted(conversation, { maxBytes: 1_500, summary: undefined });
    expect(promptBytes(request)).toBeLessThanOrEqual(1_500);
    expect(ids(request)).toEqual(ids(conversation).slice(-12));
    expect(request.instructions).toMatch(/^You are a receptionist\.\n\nThe oldest part of the conversation is left out/);
    expect(conversation.instructions).toBe(PROMPT);
  });

  it('has the summary in place of what it covers, and a note of what it doesn’t', () => {
    const conversation = talk(turns(10));
    const summary = { before: '15', text: 'Ann wants a table.' };
    const request = fitted(conversation, { maxBytes: 10_000, summary });
    expect(ids(request)).toEqual(ids(conversation).slice(ids(conversation).indexOf('15')));
    expect(request.instructions).toContain('Ann wants a table.');
    expect(request.instructions).not.toContain('oldest part');
    const shorter = fitted(conversation, { maxBytes: 1_500, summary });
    expect(shorter.instructions).toMatch(/Ann wants a table\.\n\nThe oldest part/);
    expect(promptBytes(shorter)).toBeLessThanOrEqual(1_500);
  });

  it('of another conversation has nothing to do with the summary', () => {
    const conversation = talk(['user']);
    expect(fitted(conversation, { maxBytes: 10_000, summary: { before: 'x', text: 'Ann wants a table.' } })).toBe(conversation);
  });

  it('has the last turn, with results of tools cut off where they leave no room', () => {
    const conversation = talk(['user', 'agent', 'user', 'tool', 'tool'], 2_000);
    const request = fitted(conversation, { maxBytes: 4_000, summary: undefined });
    expect(ids(request)).toEqual(['2', '3', '3 result', '4', '4 result']);
    expect(promptBytes(request)).toBeLessThanOrEqual(4_000);
    expect(outputOf(request)).toMatch(/^tool 4.* … \(cut off\)$/);
    expect(outputOf(conversation)).toHaveLength(2_000);
  });

  it('has what the user said last before a note', () => {
    const conversation = talk(['user', 'agent', 'user', 'agent'], 1_000);
    const note: HistoryItem = { type: 'message', id: 'note', role: 'user', text: 'It is done.', isNote: true };
    const request = { ...conversation, history: [...conversation.history, note] };
    expect(ids(fitted(request, { maxBytes: 1_500, summary: undefined }))).toEqual(['2', '3', 'note']);
  });

  it('never parts a call from its result, and keeps what the user said last', () => {
    const steps = fc.array(fc.constantFrom<Step>('user', 'agent', 'tool', 'slow tool'), { maxLength: 60 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 300, max: 8_000 }), (all, maxBytes) => {
        const conversation = talk([...all, 'user']);
        const request = fitted(conversation, { maxBytes, summary: undefined });
        const left = ids(request);
        expect(ids(conversation).slice(-left.length)).toEqual(left);
        expect(left).toContain(String(all.length));
        const callIds = (type: 'call' | 'result'): readonly string[] =>
          request.history.flatMap((item) => (item.type === type ? [item.callId] : []));
        expect(callIds('call').toSorted()).toEqual(callIds('result').toSorted());
      }),
    );
  });
});

describe('what is summarised', () => {
  const limits = { maxBytes: 4_000, summary: undefined };

  it('is nothing while there is room', () => {
    expect(turnsToSummarize(talk(turns(6)), limits)).toBeUndefined();
  });

  it('is the oldest turns, before the room is used up', () => {
    const conversation = talk(turns(9));
    expect(promptBytes(conversation)).toBeLessThan(4_000);
    const old = turnsToSummarize(conversation, limits);
    expect(old?.items[0]?.id).toBe('0');
    expect(old?.before).toBe('18');
    const again = turnsToSummarize(talk(turns(15)), { ...limits, summary: { before: '18', text: 'Ann wants a table.' } });
    expect([again?.items[0]?.id, again?.before]).toEqual(['18', '36']);
  });

  it('is never one of the last two turns', () => {
    expect(turnsToSummarize(talk(['user', 'agent', 'user'], 3_000), limits)).toBeUndefined();
    expect(turnsToSummarize(talk(['user', 'agent', 'user', 'agent', 'user'], 3_000), limits)?.before).toBe('2');
  });

  it('is no tool that still runs: the model will read its result', () => {
    const conversation = talk(['user', 'agent', 'user', 'tool', 'user', 'agent', 'user', 'agent', 'user'], 1_000);
    const history = conversation.history.map((item): HistoryItem => (item.type === 'result' ? { ...item, isPending: true } : item));
    expect(turnsToSummarize(conversation, limits)?.before).toBe('6');
    expect(turnsToSummarize({ ...conversation, history }, limits)?.before).toBe('2');
  });
});

it('a text is cut off between characters', () => {
  expect(shortenedTo('Grüße', 5)).toBe('Grüße'.slice(0, 3) + ' … (cut off)');
  expect(shortenedTo('Grüße', 3)).toBe('Gr … (cut off)');
  expect(shortenedTo('Grüße', 7)).toBe('Grüße');
});
