import fc from 'fast-check';
import { expect, it } from 'vitest';

import { segmentedWordsOf, wordsOf } from './words.ts';

const codes = Array.from({ length: 0x2200 }, (_, code) => String.fromCharCode(code).toLowerCase());
const characters = fc.oneof(
  fc.constantFrom(...Array.from("ab01_.,':; -é\u2018\u00b7")),
  fc.constantFrom(...codes.filter((character) => character < '\u0250')),
  fc.constantFrom(...codes.filter((character) => character >= '\u2010')),
);

it('cuts Latin text as ICU does, but for lines of underscores', () => {
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 14 }), (text) => {
      expect(wordsOf(text).filter((word) => !/^_+$/.test(word))).toEqual(segmentedWordsOf(text).filter((word) => !/^_+$/.test(word)));
    }),
    { numRuns: 20_000 },
  );
});

it.each([
  ["it's 12.50 at example.com, e.g. on 3/4; ab_12", ["it's", '12.50', 'at', 'example.com', 'e.g', 'on', '3', '4', 'ab_12']],
  ['„größe“ – l’été…', ['größe', 'l’été']],
  ['東京', ['東京']],
])('%s', (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

it('takes a time that grows with the length of the text, whatever is in it', () => {
  const long = '_'.repeat(1_000_000);
  expect(wordsOf(`${long} a`)).toEqual(['a']);
  expect(wordsOf("a'".repeat(500_000))).toHaveLength(1);
  expect(wordsOf('1,'.repeat(500_000))).toHaveLength(1);
});
