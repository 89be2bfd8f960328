import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isObject, parseJson } from '../../platform/json.ts';
import { calls, called, chunk, events, finish, modelAnswers, readingOf, says } from '../../test/support/model-answers.ts';
import { argumentsProblem, argumentsToPass, describeProblem, ModelStreamReader, rawArgumentsIn, type ModelEvent } from './index.ts';

type Options = ConstructorParameters<typeof ModelStreamReader>[0];

/** @param cuts where the body is cut, in bytes */
function read(
  body: string | Uint8Array,
  { cuts = [], ...options }: Options & { readonly cuts?: readonly number[] } = {},
): readonly ModelEvent[] {
  const bytes = Buffer.from(body);
  const reader = new ModelStreamReader(options);
  const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
  return [
    ...at.slice(1).flatMap((to, index) => reader.push(bytes.subarray(at[index], to))),
    ...reader.end(),
    ...reader.push(bytes),
    ...reader.end(),
  ];
}

const isLast = ({ type }: ModelEvent): boolean => type === 'end' || type === 'failure';
const callsIn = (all: readonly ModelEvent[]) => all.flatMap((event) => (event.type === 'call' ? [event.call] : []));

/** Changes of a stream of events, each of which some server or network makes. */
type Change =
  | { readonly kind: 'cut' | 'repeat' | 'drop' | 'null'; readonly at: number }
  | { readonly kind: 'swap'; readonly at: number; readonly with: number };

const at = fc.nat({ max: 2_000 });
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constantFrom('cut' as const, 'repeat' as const, 'drop' as const, 'null' as const), at }),
  fc.record({ kind: fc.constant('swap' as const), at, with: at }),
);

function changed(body: string, one: Change): string {
  if (one.kind === 'cut')
    return Buffer.from(body)
      .subarray(0, one.at % (Buffer.byteLength(body) + 1))
      .toString('latin1');
  const lines = body.split('\n\n');
  const index = one.at % lines.length;
  if (one.kind === 'repeat') return lines.toSpliced(index, 0, lines[index]!).join('\n\n');
  if (one.kind === 'drop') return lines.toSpliced(index, 1).join('\n\n');
  if (one.kind !== 'swap') return lines.with(index, nulled(lines[index]!, one.at)).join('\n\n');
  const other = one.with % lines.length;
  return lines.with(index, lines[other]!).with(other, lines[index]!).join('\n\n');
}

/** Sets one of the values in the event to null. */
function nulled(line: string, which: number): string {
  const value = parseJson(line.replace(/^data: ?/, ''));
  const places: (() => void)[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      places.push(() => Object.assign(node, { [key]: null }));
      visit((node as Record<string, unknown>)[key]);
    }
  };
  visit(value);
  places[which % places.length]?.();
  return `data: ${JSON.stringify(value)}`;
}

/** Collects what the stream has of calls, without the reader. */
function fragmentsOf(body: string): { readonly names: ReadonlySet<string>; readonly pieces: readonly string[] } {
  const found = body
    .split(/[\r\n]+/)
    .flatMap((line): unknown => parseJson(line.replace(/^data: ?/, '')))
    .concat(parseJson(body))
    .flatMap((value) => (isObject(value) && Array.isArray(value['choices']) ? (value['choices'] as unknown[]) : []))
    .flatMap((choice) => (isObject(choice) ? [choice['delta'], choice['message']] : []))
    .flatMap((part): unknown => (isObject(part) ? [part['tool_calls'], { function: part['function_call'] }].flat() : []))
    .flatMap((call) => (isObject(call) && isObject(call['function']) ? [call['function']] : []));
  const texts = found.map(({ arguments: args }) => (typeof args === 'string' ? args : JSON.stringify(args ?? '')));
  return { names: new Set(found.map(({ name }) => String(name))), pieces: [...new Set(texts.filter((text) => text !== ''))] };
}

const isMadeOf = (text: string, pieces: readonly string[]): boolean =>
  text === '' || pieces.some((piece) => text.startsWith(piece) && isMadeOf(text.slice(piece.length), pieces));

describe('an answer of a model', () => {
  it.each(modelAnswers)('is read: $name', ({ name: _name, body, ...expected }) => {
    expect(readingOf(read(body))).toEqual(expected);
  });

  it('gives the same events wherever the bytes are cut, and one end as the last', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...modelAnswers),
        fc.array(at, { maxLength: 12 }),
        fc.boolean(),
        ({ body }, cuts, beginsWithReasoning) => {
          const length = Buffer.byteLength(body);
          const whole = read(body, { beginsWithReasoning });
          expect(read(body, { beginsWithReasoning, cuts: cuts.map((cut) => cut % (length + 1)) })).toEqual(whole);
          expect(whole.map(isLast)).toEqual([...whole.slice(1).map(() => false), true]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each(modelAnswers)('gives no other call to run where it breaks off at any byte: $name', ({ body }) => {
    const bytes = Buffer.from(body);
    const whole = callsIn(read(body)).map((call) => JSON.stringify(call));
    for (let length = 0; length < bytes.length; length += 1) {
      const part = read(bytes.subarray(0, length));
      expect(part.filter(isLast)).toHaveLength(1);
      for (const call of callsIn(part)) if (call.problem === undefined) expect(whole).toContain(JSON.stringify(call));
    }
  });

  it('invents no call, and ends once, whatever is repeated, lost, moved or null in it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...modelAnswers), fc.array(change, { minLength: 1, maxLength: 5 }), ({ body }, changes) => {
        const odd = changes.reduce(changed, body);
        const all = read(odd);
        expect(all.filter(isLast)).toHaveLength(1);
        const { names, pieces } = fragmentsOf(odd);
        for (const { id, name, arguments: args, problem } of callsIn(all)) {
          expect([id === '', names.has(name)]).toEqual([false, true]);
          expect(args === '{}' || isMadeOf(args, pieces)).toBe(true);
          if (problem === undefined) expect(isObject(parseJson(args))).toBe(true);
        }
        expect(new Set(callsIn(all).map(({ id }) => id)).size).toBe(callsIn(all).length);
      }),
      { numRuns: 3_000 },
    );
  });

  it('takes any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom('', 'data: ', '{"choices":'), (bytes, before) => {
        expect(read(Buffer.concat([Buffer.from(before), bytes])).filter(isLast)).toHaveLength(1);
      }),
    );
  });

  it('takes values that are nested too deep for recursion', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const bodies = [`{"choices":[{"delta":{"content":${deep}}}]}`, `{"error":{"deep":${deep}}}`, `{"choices":${deep}}`].map(
      (json) => `data: ${json}\n\n`,
    );
    for (const body of bodies) expect(read(body).filter(isLast)).toHaveLength(1);
    expect(callsIn(read(events(calls(called(0, 't0', 'a', deep)), finish('stop'))))).toMatchObject([{ problem: 'no_object' }]);
  });

  it('takes a hundred thousand reasonings in one piece', () => {
    const body = events(says('<think>x</think>'.repeat(100_000)), finish('stop'));
    expect(readingOf(read(body))).toEqual({ reasoning: 'x'.repeat(100_000), reason: 'empty' });
  });

  it('is bounded', () => {
    const long = 'x'.repeat(5_000_000);
    for (const body of [`{"a":"${long}`, `data: ${long}`, `data: {\ndata: ${long}\n`])
      expect(read(body)).toMatchObject([{ type: 'failure', reason: 'too_large' }]);
    const answer = events(says('One'), finish('stop')).replace('[DONE]', 'x'.repeat(5_000_000));
    expect(readingOf(read(answer))).toEqual({ text: 'One', reason: 'stop' });
  });
});

it('makes up the same ids for the same stream, and others for another', () => {
  const body = events(calls(called(0, undefined, 'a', '{}'), called(1, undefined, 'b', '{}')), finish('tool_calls'));
  const ids = (idSeed: string) => callsIn(read(body, { idSeed })).map(({ id }) => id);
  expect(ids('one')).toEqual(ids('one'));
  expect(new Set([...ids('one'), ...ids('two')]).size).toBe(4);
});

it('keeps what a server adds to a call', () => {
  const signed = { ...called(0, 't0', 'a', '{}'), extra_content: { google: { thought_signature: 's' } } };
  expect(callsIn(read(events(calls(signed), finish('stop'))))).toMatchObject([
    { extra: { extra_content: { google: { thought_signature: 's' } } } },
  ]);
});

describe('of a model whose reasoning only ends', () => {
  const body = events(says('The user wants'), says(' a refund.</think>'), says('Sorry, no.'), finish('stop'));

  it('what was given as text is taken back, and the model is known', () => {
    expect(read(body)).toContainEqual({ type: 'retract' });
    const reader = new ModelStreamReader();
    reader.push(Buffer.from(body));
    expect(reader.foundLoneReasoningEnd).toBe(true);
  });

  it('nothing of the reasoning is given as text once it is known', () => {
    const all = read(body, { beginsWithReasoning: true });
    expect(all.filter(({ type }) => type === 'retract')).toEqual([]);
    expect(readingOf(all)).toEqual({ reasoning: 'The user wants a refund.', text: 'Sorry, no.', reason: 'stop' });
  });

  it('an answer whose reasoning is no part of the text is text at once', () => {
    const reader = new ModelStreamReader({ beginsWithReasoning: true });
    const separated = events(chunk({ reasoning_content: 'Hm.' }), says('Sorry, '));
    expect(reader.push(Buffer.from(separated.replace('data: [DONE]\n\n', '')))).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Sorry, ' },
    ]);
  });

  it('an answer without reasoning is text, none the less', () => {
    expect(readingOf(read(events(says('Sorry, '), says('no.'), finish('stop')), { beginsWithReasoning: true }))).toEqual({
      text: 'Sorry, no.',
      reason: 'stop',
    });
  });
});

it('tells what came of an answer that is given up', () => {
  const reader = new ModelStreamReader();
  reader.push(Buffer.from(events(says('One '), calls(called(0, 't0', 'book', '{"slot"'))).replace('data: [DONE]\n\n', '')));
  expect([reader.received, reader.callsTool, reader.chunks]).toEqual(['One book{"slot"', true, 2]);
});

describe('arguments', () => {
  it.each([
    ['', '{}'],
    [' {"a":1} ', '{"a":1}'],
    ['null', '{}'],
    ['"{\\"a\\":1}"', '{"a":1}'],
    ['""', '{}'],
    [`{"a":${'['.repeat(99)}${']'.repeat(99)}}`, `{"a":${'['.repeat(99)}${']'.repeat(99)}}`],
  ])('that are an object pass: %j', (text, passed) => {
    expect([argumentsProblem(text), argumentsToPass(text)]).toEqual([undefined, passed]);
    expect(rawArgumentsIn(JSON.parse(passed) as Record<string, unknown>)).toBeUndefined();
  });

  it.each([
    ['{"amount": 12', 'incomplete', 'complete'],
    ['{"amount": @', 'incomplete', 'complete'],
    ['{"a":1}}', 'no_json', 'JSON'],
    ['12', 'no_object', 'object'],
    ['"text"', 'no_json', 'JSON'],
    [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'too_deep', 'levels'],
  ] as const)('that are none pass as the text that they are: %j', (text, problem, word) => {
    expect(argumentsProblem(text)).toBe(problem);
    expect(describeProblem(text)).toContain(word);
    expect(rawArgumentsIn(JSON.parse(argumentsToPass(text)) as Record<string, unknown>)).toBe(text);
  });
});
