import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { answeredFields, sentAs, unknownFields } from './unknown-fields.ts';
import { unknownFieldWarnings, warningHeader } from './warning.ts';

const schema = z.object({
  agent_name: z.string(),
  llm: z.object({
    model_name: z.string(),
    system_prompt: z.string().nullish(),
    tools: z.array(z.object({ tool_id: z.string() })).nullish(),
  }),
  params: z.record(z.string(), z.object({ value: z.unknown() })).optional(),
  free: z.record(z.string(), z.unknown()).optional(),
  number: z
    .discriminatedUnion('provider', [
      z.object({ provider: z.literal('sip').default('sip'), uri: z.string() }),
      z.object({ provider: z.literal('carrier'), sid: z.string() }),
    ])
    .optional(),
  either: z.union([z.int(), z.object({ a: z.string() }), z.object({ b: z.string() })]).optional(),
});
const warnings = (input: unknown, answers: readonly z.ZodType[] = []): readonly string[] =>
  unknownFieldWarnings(unknownFields(schema, input, answers, 4), 3);

describe('fields that no schema reads', () => {
  it.each([
    [{ agent_name: 'x', llm: { model_name: 'm', tools: [{ tool_id: 'a' }] }, free: { any: { thing: 1 } } }, []],
    [{ agentName: 'x' }, ['unknown field "agentName": did you mean "agent_name"?']],
    [{ llm: { sytem_prompt: '' } }, ['unknown field "llm.sytem_prompt": did you mean "system_prompt"?']],
    [{ llm: { tools: [{}, { nonsense: 1 }] } }, ['unknown field "llm.tools[1].nonsense"']],
    [{ params: { a: { value: { any: 1 }, vale: 1 } } }, ['unknown field "params.a.vale": did you mean "value"?']],
    [{ number: { uri: '', account: '' } }, ['unknown field "number.account"']],
    [{ number: { provider: 'carrier', sid: '', uri: '' } }, ['unknown field "number.uri"']],
    [{ either: { b: '', c: 1 } }, ['unknown field "either.c"']],
    [JSON.parse('{"__proto__": 1, "toString": 2}'), ['unknown field "__proto__"', 'unknown field "toString"']],
    ['no object', []],
  ])('of %j', (input, expected) => {
    expect(warnings(input)).toEqual(expected);
  });

  it('are those alone that no answer has at the same place', () => {
    const answer = z.object({ id: z.string(), llm: z.object({ llm_id: z.string() }), items: z.array(z.union([z.object({ x: z.int() })])) });
    expect(warnings({ id: '1', llm: { llm_id: '2' }, items: [{ x: 1 }] }, [answer])).toEqual([]);
    expect(warnings({ llm_id: '2', llm: { id: '1' } }, [answer])).toEqual([
      'unknown field "llm_id": did you mean "llm"?',
      'unknown field "llm.id"',
    ]);
  });

  it('are told from those that only answers have, which name the field that sets them', () => {
    const answer = z.object({ id: z.string(), llm: z.object({ llm_id: sentAs(z.string(), 'model_name') }) });
    expect(answeredFields(schema, { id: '1', nonsense: 1, llm: { model_name: 'm', llm_id: '2' } }, [answer], 9)).toEqual([
      { path: ['id'], value: '1', sentAs: undefined, isVolatile: false },
      { path: ['llm', 'llm_id'], value: '2', sentAs: 'model_name', isVolatile: false },
    ]);
  });

  it('are named up to a bound, however many and long they are', () => {
    const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`${'é'.repeat(n === 0 ? 100_000 : 0)}x${n}`, 1]));
    const found = warnings(many);
    expect(found).toHaveLength(4);
    expect(found.at(-1)).toBe('there are more unknown fields');
    expect(Math.max(...found.map(({ length }) => length))).toBeLessThan(200);
  });

  it('are listed in a header that any client reads', () => {
    expect(warningHeader('unknown field "llm.sytem_prompt"')).toBe(String.raw`299 - "unknown field \"llm.sytem_prompt\""`);
    expect(warningHeader('unknown field "é\r\n\\"')).toMatch(/^299 - "([\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/);
  });
});
