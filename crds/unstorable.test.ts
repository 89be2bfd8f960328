import { describe, expect, it } from 'vitest';

import { unstorable } from './unstorable.ts';

describe('unstorable', () => {
  it('names each place that holds U+0000, in values and in keys', () => {
    const spec = { welcomeMessage: 'a\0b', llm: { model: 'm' }, dynamicData: [{ name: 'x', body: { list: ['ok', '\0'], 'k\0': 1 } }] };
    expect(unstorable(spec, 'spec')).toEqual([
      { path: 'spec.welcomeMessage', message: 'holds the character U+0000; take it out' },
      { path: 'spec.dynamicData[0].body', message: 'has a key that holds the character U+0000; take it out' },
      { path: 'spec.dynamicData[0].body.list[1]', message: 'holds the character U+0000; take it out' },
    ]);
  });

  it('finds nothing in ordinary text, line breaks and the six characters of an escape among it', () => {
    expect(unstorable({ a: 'Grüße\n\t\u{1f600}', b: String.raw`\u0000`, c: [null, 0, false] }, 'spec')).toEqual([]);
  });

  it('names the first few of many, and survives any depth', () => {
    expect(
      unstorable(
        Array.from({ length: 100 }, () => '\0'),
        'spec',
      ),
    ).toHaveLength(5);
    let deep: unknown = '\0';
    for (let level = 0; level < 20_000; level += 1) deep = [deep];
    expect(unstorable(deep, 'x')).toHaveLength(1);
  });
});
