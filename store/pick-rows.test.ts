import fc from 'fast-check';
import { expect, it } from 'vitest';

import { pickRows } from './pick-rows.ts';

const pick = (chunks: readonly string[], wanted: Readonly<Record<string, string>>): string => {
  const next = pickRows(['id', 'org', 'text'], wanted);
  return chunks.map((chunk) => next(Buffer.from(chunk)).toString()).join('');
};

it('picks the rows whose columns are equal, and not those that begin alike', () => {
  const rows = '1\tacme\tx\n2\tacmes\tacme\n3\tac\tacme\n4\tacme\t\n';
  expect(pick([rows], { org: 'acme' })).toBe('1\tacme\tx\n4\tacme\t\n');
  expect(pick([rows], { org: 'acme', id: '4' })).toBe('4\tacme\t\n');
  expect(pick([rows], { text: 'acme' })).toBe('2\tacmes\tacme\n3\tac\tacme\n');
});

it('picks the same rows wherever the text is cut', () => {
  const word = fc.stringMatching(/^[a-c\\]{0,4}$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(word, fc.constantFrom('a', 'ab', 'b'), word)), fc.array(fc.nat(60)), (rows, cuts) => {
      const lines = rows.map((row) => `${row.join('\t')}\n`);
      const text = lines.join('');
      const places = [0, ...cuts.filter((cut) => cut <= text.length).toSorted((a, b) => a - b), text.length];
      const chunks = places.slice(1).map((place, index) => text.slice(places[index], place));
      expect(pick(chunks, { org: 'ab' })).toBe(lines.filter((_, index) => rows[index]![1] === 'ab').join(''));
    }),
  );
});

it('picks nothing by a column that the rows lack', () => {
  expect(pick(['1\tacme\tx\n'], { call_id: '1' })).toBe('');
});
