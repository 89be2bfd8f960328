import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readAnswer, readValue } from './answer.ts';
import type { AnalysisQuestion } from './questions.ts';

const mood: AnalysisQuestion = { name: 'mood', type: 'enum', choices: ['calm', 'Very angry'] };
const guests: AnalysisQuestion = { name: 'guests', type: 'number' };
const done: AnalysisQuestion = { name: 'done', type: 'boolean' };
const note: AnalysisQuestion = { name: 'note', type: 'string' };

describe('a value', () => {
  it.each([
    [mood, 'calm', 'calm'],
    [mood, ' very ANGRY ', 'Very angry'],
    [guests, 4, 4],
    [guests, '-4.5', -4.5],
    [done, false, false],
    [done, 'True', true],
    [note, ' said so ', 'said so'],
    [note, '', null],
    [note, 'a\u0000b\ud800', 'ab\ufffd'],
    [mood, null, null],
  ])('%j takes %j as %j', (question, value, result) => {
    expect(readValue(value, question)).toEqual({ result });
  });

  it.each([
    [mood, 'constructor'],
    [mood, ['calm']],
    [guests, 'four'],
    [guests, '4 people'],
    [guests, '1e999'],
    [guests, Number.POSITIVE_INFINITY],
    [guests, true],
    [done, 'constructor'],
    [done, 'yes'],
    [done, 1],
    [done, { toString: 0 }],
    [note, 7],
    [note, { text: 'x' }],
    [note, undefined],
  ])('%j does not take %j', (question, value) => {
    expect(readValue(value, question)).toEqual({ problem: expect.any(String) });
  });

  it('has the type that was asked for, or is none, whatever comes', () => {
    const types = { string: 'string', enum: 'string', number: 'number', boolean: 'boolean' };
    fc.assert(
      fc.property(fc.anything(), fc.constantFrom(mood, guests, done, note), (value, question) => {
        const reading = readValue(value, question);
        if ('problem' in reading || reading.result === null) return;
        expect(typeof reading.result).toBe(types[question.type]);
        if (question.type === 'enum') expect(question.choices).toContain(reading.result);
      }),
    );
  });

  it('is cut off where it is long', () => {
    expect(readValue('x'.repeat(10_000), note)).toEqual({ result: 'x'.repeat(4_096) });
  });
});

describe('an answer', () => {
  const both = [mood, guests];
  const expected = new Map<string, unknown>([
    ['mood', { result: 'calm' }],
    ['guests', { result: 4 }],
  ]);
  const object = '{"mood": "calm", "guests": 4}';

  it.each([
    object,
    `\`\`\`json\n${object}\n\`\`\``,
    `Let me see. The answer is ${object}. Is there anything else?`,
    `{"results": ${object}}`,
    `{"answer": {"results": [{"name": "mood", "result": "calm"}, {"name": "guests", "value": 4}]}}`,
    `[{"name": "mood", "result": "calm"}, {"name": "guests", "result": "4"}]`,
  ])('is found in %s', (text) => {
    expect(readAnswer(text, both)).toEqual(expected);
  });

  it('says what is missing of it', () => {
    expect(readAnswer('{"mood": "calm"}', both).get('guests')).toEqual({ problem: expect.stringContaining('key') });
    expect(readAnswer('I can’t tell.', both).get('mood')).toEqual({ problem: expect.stringContaining('JSON') });
    expect(readAnswer('', [note]).get('note')).toEqual({ problem: expect.stringContaining('JSON') });
  });

  it('may be the value alone, where one thing was asked for', () => {
    expect(readAnswer('calm', [mood]).get('mood')).toEqual({ result: 'calm' });
    expect(readAnswer('"calm"', [mood]).get('mood')).toEqual({ result: 'calm' });
    expect(readAnswer('4', [guests]).get('guests')).toEqual({ result: 4 });
    expect(readAnswer('Sorry, I can’t say.', [note]).get('note')).toHaveProperty('problem');
  });

  it('never fails, and never says more than was asked for', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect([...readAnswer(text, both).keys()]).toEqual(['mood', 'guests']);
      }),
    );
  });

  it('may have names that objects have by themselves', () => {
    const odd: AnalysisQuestion[] = [
      { name: '__proto__', type: 'string' },
      { name: 'toString', type: 'string' },
    ];
    expect(readAnswer('{"__proto__": "a"}', odd)).toEqual(
      new Map<string, unknown>([
        ['__proto__', { result: 'a' }],
        ['toString', { problem: expect.stringContaining('key') }],
      ]),
    );
  });
});
