import { expect, it } from 'vitest';

import type { Glyph } from './glyph.ts';
import { type LinePiece, pageLines } from './page-lines.ts';
import { pageParts } from './paragraphs.ts';
import { readingOrder } from './reading-order.ts';
import { splitTables } from './tables.ts';

const SIZE = 10;

/** Draws letters of half the font's height from here to the right, or to the left; `_` leaves the width of a space free. */
function drawn(text: string, x: number, y: number, direction: 1 | -1 = 1): readonly Glyph[] {
  let at = x;
  return Array.from(text).flatMap((letter) => {
    const from = at;
    at += direction * (letter === ' ' || letter === '_' ? 0.25 : 0.5) * SIZE;
    const glyph = { text: letter, left: Math.min(from, at), right: Math.max(from, at), y, size: SIZE, isBold: false };
    return letter === '_' ? [] : [glyph];
  });
}

const said = (glyphs: readonly Glyph[]): readonly string[] => pageLines(glyphs).map(({ text }) => text);

it('parts cells that stand close, where spaces between words are drawn', () => {
  const sentence = drawn('a few words with spaces that were drawn', 50, 20);
  expect(said([...sentence, ...drawn('Double room', 50, 100), ...drawn('90', 107, 100)])).toContain('Double room');
  expect(said([...sentence, ...drawn('12.', 50, 100), ...drawn('Double room', 69, 100)])).toContain('12. Double room');
  expect(said(drawn('words_with_gaps_in_place_of_spaces', 50, 100))).toEqual(['words with gaps in place of spaces']);
});

it('reads a narrow table of such cells as rows', () => {
  const rows = [
    ['Room', 'May', 'July'],
    ['Single', '60'],
    ['Double', '90', '110'],
  ];
  const glyphs = rows.flatMap((cells, row) => cells.flatMap((cell, at) => drawn(cell, [50, 84, 103][at] ?? 0, 100 + 16 * row)));
  const lines: readonly LinePiece[] = pageLines([
    ...drawn('Prices for each night of a stay of one or two guests with all that they bring along to us', 50, 40),
    ...glyphs,
  ]);
  const parts = readingOrder(lines).flatMap((region) => splitTables(region.lines, 1));
  expect(parts.filter((part) => 'kind' in part)).toMatchObject([
    {
      header: ['Room', 'May', 'July'],
      rows: [
        ['Single', '60', ''],
        ['Double', '90', '110'],
      ],
    },
  ]);
});

it('takes a smaller gap for a space between words of which the letters touch', () => {
  const [first, second] = [drawn('مجانا', 100, 20, -1), drawn('خلال', 73.6, 20, -1)];
  expect(said([...first, ...second])).toEqual(['مجانا خلال']);
});

it('parts paragraphs of one line by the leading of longer ones', () => {
  const long = 'words that fill the width of the page from its left edge to the right one, and go on below';
  const lines = [
    [long, 20],
    ['until here', 33],
    ['One line alone', 56],
    ['and another one', 79],
    [long, 102],
    ['to the end', 115],
  ] as const;
  const parts = pageParts(readingOrder(pageLines(lines.flatMap(([text, y]) => drawn(text, 50, y)))), 1, new Set());
  expect(parts.map((part) => (part.kind === 'text' ? part.text : ''))).toEqual([
    `${long} until here`,
    'One line alone',
    'and another one',
    `${long} to the end`,
  ]);
});

it('begins an item at a number of full width', () => {
  const lines = ['電線関係の要件', '１．１ 絶縁電線関係', '（２）ケーブル関係', '③その他の電線'];
  const parts = pageParts(readingOrder(pageLines(lines.flatMap((text, at) => drawn(text, 50, 20 + 13 * at)))), 1, new Set());
  expect(parts.map((part) => (part.kind === 'text' ? [part.text, part.isListItem] : []))).toEqual(lines.map((text, at) => [text, at > 0]));
});
