import { expect, it } from 'vitest';

import { readYaml } from './yaml.ts';

const valuesOf = (text: string): readonly unknown[] => readYaml(text).map(({ value }) => value);
/** Returns ten times ten times ten … values in a few lines. */
const bomb = (levels: number): string =>
  Array.from(
    { length: levels },
    (_, n) => `a${n}: &a${n} [${Array.from({ length: 10 }, () => (n === 0 ? 'x' : `*a${n - 1}`)).join(', ')}]\n`,
  ).join('');

it('follows aliases, in every document', () => {
  expect(valuesOf('a: &a [1, 2]\nb: [*a, *a]\n---\nc: &c {d: e}\nf: *c\n')).toEqual([
    {
      a: [1, 2],
      b: [
        [1, 2],
        [1, 2],
      ],
    },
    { c: { d: 'e' }, f: { d: 'e' } },
  ]);
  expect(valuesOf(`a: &a x\nb: [${'*a, '.repeat(1_000)}]\n`)).toHaveLength(1);
  expect(valuesOf('')).toEqual([]);
});

it.each([
  ['aliases of aliases that stand for billions of values', bomb(9)],
  ['aliases of a long text', `a: &a ${'x'.repeat(1_000_000)}\nb: [${'*a, '.repeat(20)}]\n`],
  ['an alias inside of itself', 'a: &a [*a]\n'],
  ['more aliases than can be looked up', `a: &a x\nb: [${'*a, '.repeat(60_000)}]\n`],
  ['more nesting than the stack holds', '['.repeat(100_000)],
  ['an alias of nothing', 'a: *a\n'],
  ['no YAML', 'a: [\n'],
])('refuses %s', (_, text) => {
  expect(() => readYaml(text)).toThrow(expect.objectContaining({ name: 'YamlError' }));
});

it('takes as much as it is told to, and names the line of a fault', () => {
  expect(() => readYaml(bomb(3), { maxExpansion: 100_000 })).toThrow('its aliases stand for too much');
  expect(readYaml(bomb(3), { maxExpansion: 200_000 })).toHaveLength(1);
  expect(() => readYaml('a: 1\nb: [\n')).toThrow(expect.objectContaining({ line: 3 }));
});
