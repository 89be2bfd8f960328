import fc from 'fast-check';
import { expect, it } from 'vitest';

import { SentenceSplitter } from './sentence-splitter.ts';

const cut = (language: string, pieces: readonly string[]): readonly string[] => {
  const cutter = new SentenceSplitter(language);
  return [...pieces.flatMap((piece) => cutter.push(piece)), ...cutter.end()];
};

it('gives a sentence away when the next one begins, not before', () => {
  const cutter = new SentenceSplitter('en-US');
  expect(cutter.push('Your bicycle is ready for you.')).toEqual([]);
  expect(cutter.push(' Come')).toEqual(['Your bicycle is ready for you.']);
  expect(cutter.end()).toEqual(['Come']);
});

it('keeps short ones with the next', () => {
  expect(cut('en-US', ['Yes. No. ', 'I will ask Mr. Smith about that now. Bye.'])).toEqual(
    ['Yes. No. I will ask Mr. ', 'Smith about that now. ', 'Bye.'].map((text) => text.trim()),
  );
});

it('knows the marks of other scripts', () => {
  expect(cut('zh-CN', ['您的自行车已经修好了，请明天上午来取。', '我们明天上午九点开始营业，期待您的光临。'])).toHaveLength(2);
  expect(cut('de-DE', ['Der Preis beträgt 3.50 Euro am Tag. Bis morgen dann also!'])).toEqual([
    'Der Preis beträgt 3.50 Euro am Tag.',
    'Bis morgen dann also!',
  ]);
});

it('cuts what never ends', () => {
  const sentences = cut('en', ['a long list of things, '.repeat(100)]);
  expect(Math.max(...sentences.map(({ length }) => length))).toBeLessThanOrEqual(400);
  expect(sentences.join(' ')).toBe('a long list of things, '.repeat(100).trim());
});

it('leaves out what has no sound, and accepts an unknown language', () => {
  expect(cut('x-nobody', ['…', ' 🙂 ', '— '])).toEqual([]);
});

it('loses no word, however the text comes', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z ,.!?]{0,40}$/)), (pieces) => {
      const letters = (text: string): string => text.replaceAll(/[^a-z]/g, '');
      expect(letters(cut('en', pieces).join(''))).toBe(letters(pieces.join('')));
    }),
  );
});
