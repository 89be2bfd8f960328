import fc from 'fast-check';
import { expect, it } from 'vitest';

import { partsOf } from './pronunciations.ts';

const OWN = [
  { spoken: 'Aare', ipa: 'ˈaːrə' },
  { spoken: 'Aare Bikes', ipa: 'ˈaːrə baɪks' },
  { spoken: 'C++', ipa: 'siː' },
];

it.each([
  [
    'At Aare Bikes, by the Aare.',
    [{ text: 'At ' }, { text: 'Aare Bikes', ipa: 'ˈaːrə baɪks' }, { text: ', by the ' }, { text: 'Aare', ipa: 'ˈaːrə' }, { text: '.' }],
  ],
  ['Aarau aare', [{ text: 'Aarau aare' }]],
  ['C++ and C++', [{ text: 'C++', ipa: 'siː' }, { text: ' and ' }, { text: 'C++', ipa: 'siː' }]],
  ['', []],
])('%j is cut at whole words', (sentence, expected) => {
  expect(partsOf(sentence, OWN)).toEqual(expected);
});

it('loses and adds nothing', () => {
  const words = fc
    .array(fc.constantFrom('Aare', 'Bikes', ' ', 'C++', '.', 'Aarau', '<b>'), { maxLength: 12 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(words, (sentence) => {
      expect(
        partsOf(sentence, OWN)
          .map(({ text }) => text)
          .join(''),
      ).toBe(sentence);
    }),
  );
});
