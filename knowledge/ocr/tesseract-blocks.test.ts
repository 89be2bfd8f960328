import { expect, it } from 'vitest';

import { tesseractBlocks } from './tesseract-blocks.ts';

const HEADER = 'level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext';

/** Writes a line of Tesseract's output: words of 10 pixels a letter, with 8 between them. */
function line(block: number, left: number, top: number, text: string, confidence = 95): string {
  let x = left;
  const rows = text.split(' ').map((word, at) => {
    const row = [5, 1, block, 1, top, at + 1, x, top, 10 * word.length, 24, confidence, word].join('\t');
    x += 10 * word.length + 8;
    return row;
  });
  return [[4, 1, block, 1, top, 0, left, top, x - left, 24, -1, ''].join('\t'), ...rows].join('\n');
}

it('joins lines to paragraphs, and leaves out what Tesseract only guessed', () => {
  const tsv = [
    HEADER,
    line(1, 100, 100, 'The workshop opens at nine in the'),
    line(1, 100, 130, 'morning and closes at six.'),
    line(2, 600, 900, '~|=', 7),
  ];
  expect(tesseractBlocks(tsv.join('\n'))).toEqual([
    { kind: 'paragraph', text: 'The workshop opens at nine in the morning and closes at six.', headingPath: [] },
  ]);
});

it('reads the columns of a table as rows, though Tesseract reads one after the other', () => {
  const columns = [
    ['Room', 'Single', 'Double', 'Suite'],
    ['Summer', '60', '90', '140'],
    ['Winter', '50', '70', '110'],
  ];
  const tsv = [HEADER, ...columns.flatMap((cells, at) => cells.map((cell, row) => line(at, 100 + 250 * at, 100 + 40 * row, cell)))];
  expect(tesseractBlocks(tsv.join('\n'))).toEqual([
    {
      kind: 'table',
      header: ['Room', 'Summer', 'Winter'],
      rows: [
        ['Single', '60', '50'],
        ['Double', '90', '70'],
        ['Suite', '140', '110'],
      ],
      firstRow: 1,
      headingPath: [],
    },
  ]);
});

it('keeps words apart that stand close, but not where a script has no spaces', () => {
  const close = (text: string): string =>
    line(1, 100, 100, text).replaceAll(/\t(\d+)\t100\t(\d+)\t24/g, (_, x, width) => `\t${x}\t100\t${Number(width) + 7}\t24`);
  expect(tesseractBlocks(`${HEADER}\n${close('8 euros a night')}`)).toMatchObject([{ text: '8 euros a night' }]);
  expect(tesseractBlocks(`${HEADER}\n${close('営業 時間')}`)).toMatchObject([{ text: '営業時間' }]);
});

it('has nothing to say of a page without words', () => {
  expect(tesseractBlocks('')).toEqual([]);
  expect(tesseractBlocks(`${HEADER}\n5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t95\t `)).toEqual([]);
});
