import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseFilter } from './search-filter.ts';

const problems = (value: unknown): readonly string[] => {
  const parsed = parseFilter(value);
  return parsed.ok ? [] : parsed.problems.map(({ path, message }) => `${path.join('/')}: ${message}`);
};

describe('parseFilter', () => {
  it('reads equality of strings, numbers and booleans', () => {
    expect(parseFilter({ lang: { $eq: 'bn' }, 'year.month-1_a': { $eq: 2024.5 }, public: { $eq: false } })).toEqual({
      ok: true,
      filter: { lang: 'bn', 'year.month-1_a': 2024.5, public: false },
    });
    expect(parseFilter({ text: { $eq: 'a\tb\r\nc' } }).ok).toBe(true);
    expect(parseFilter({ text: { $eq: '' } }).ok).toBe(true);
  });

  it.each([
    ['no object', 'lang'],
    ['null', null],
    ['a list', [{ lang: { $eq: 'bn' } }]],
    ['an empty filter', {}],
    ['an empty condition', { lang: {} }],
    ['a bare value', { lang: 'bn' }],
    ['a list as condition', { lang: ['bn'] }],
    ['another operator', { lang: { $ne: 'bn' } }],
    ['two operators', { lang: { $eq: 'bn', $ne: 'en' } }],
    ['logic', { $and: [{ lang: { $eq: 'bn' } }] }],
    ['null as value', { lang: { $eq: null } }],
    ['a list as value', { lang: { $eq: ['bn'] } }],
    ['an object as value', { lang: { $eq: { $gt: '' } } }],
    ['infinity', { n: { $eq: Infinity } }],
    ['no number', { n: { $eq: NaN } }],
    ['the placeholder of a key', { additionalProp1: { $eq: 'bn' } }],
    ['the placeholder of a value', { lang: { $eq: 'string' } }],
    ['the placeholder of both', { additionalProp1: {}, additionalProp2: {}, additionalProp3: {} }],
    ['an empty key', { '': { $eq: 'x' } }],
    ['a long key', { ['k'.repeat(65)]: { $eq: 'x' } }],
    ['a key with a quote', { "a'": { $eq: 'x' } }],
    ['a key with a line end', { 'a\n': { $eq: 'x' } }],
    ['a long value', { lang: { $eq: 'x'.repeat(513) } }],
    ['U+0000', { lang: { $eq: 'a\0' } }],
    ['half of a pair', { lang: { $eq: '\ud83d' } }],
  ])('refuses %s', (_, value) => {
    expect(problems(value)).not.toEqual([]);
  });

  it('takes ten fields and not eleven', () => {
    const of = (size: number): unknown => Object.fromEntries(Array.from({ length: size }, (__, index) => [`f${index}`, { $eq: index }]));
    expect(problems(of(10))).toEqual([]);
    expect(problems(of(11))).toHaveLength(1);
  });

  it('names every field that is wrong', () => {
    expect(problems({ good: { $eq: 1 }, bad: { $lt: 1 }, 'worse!': { $eq: 1 } })).toEqual([
      expect.stringMatching(/^bad: /),
      expect.stringMatching(/^worse!: /),
    ]);
  });

  it('takes __proto__ for a field like any other', () => {
    const parsed = parseFilter(JSON.parse('{"__proto__": {"$eq": "x"}}'));
    expect(parsed.ok && Object.entries(parsed.filter)).toEqual([['__proto__', 'x']]);
    expect(problems({ constructor: { $eq: 1 }, hasOwnProperty: { $eq: 1 } })).toEqual([]);
    // An inherited field is not a written one.
    expect(problems({ lang: Object.create({ $eq: 'bn' }) as unknown })).toHaveLength(1);
  });

  it('answers anything at all, and what it lets through has the promised shape', () => {
    const checked = fc.check(
      fc.property(fc.oneof(fc.anything(), fc.dictionary(fc.string(), fc.record({ $eq: fc.anything() }))), (value) => {
        const parsed = parseFilter(value);
        if (!parsed.ok) return parsed.problems.length > 0;
        const entries = Object.entries(parsed.filter);
        return (
          entries.length >= 1 &&
          entries.length <= 10 &&
          entries.every(
            ([key, scalar]) =>
              /^[A-Za-z0-9_.-]{1,64}$/.test(key) && ['string', 'number', 'boolean'].includes(typeof scalar) && scalar !== 'string',
          )
        );
      }),
      { numRuns: 2_000 },
    );
    expect(checked.counterexample).toBeNull();
  });
});
