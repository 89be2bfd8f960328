import fc from 'fast-check';
import { expect, it } from 'vitest';

import { canonicalJson, memoizeCanonicalJson } from './canonical-json.ts';

/** Returns the same value with the fields of every object in reverse order. */
const reversed = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, field]) => [key, reversed(field)]),
  );
};

it('sorts the fields at every level and leaves out those that are undefined', () => {
  expect(canonicalJson({ b: [{ d: 1, c: undefined }, undefined, []], a: { é: 'ü"', '"': {}, Z: null } })).toBe(
    String.raw`{"a":{"\"":{},"Z":null,"é":"ü\""},"b":[{"d":1},null,[]]}`,
  );
});

it('is the same JSON, and the same text in whatever order', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = canonicalJson(value);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(reversed(value))).toBe(json);
      if (typeof value === 'object' && value !== null) expect(canonicalJson([memoizeCanonicalJson(value)])).toBe(`[${json}]`);
    }),
  );
});

it('takes any depth', () => {
  let value: unknown = 'x';
  for (let level = 0; level < 100_000; level += 1) value = { a: [value] };
  expect(canonicalJson(value)).toBe(`${'{"a":['.repeat(100_000)}"x"${']}'.repeat(100_000)}`);
});
