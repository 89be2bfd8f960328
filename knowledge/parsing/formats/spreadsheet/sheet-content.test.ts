import * as XLSX from '@e965/xlsx';
import { afterAll, describe, expect, it } from 'vitest';

import { ParserPool } from '../../parser-pool.ts';
import { failureCode, read, texts } from '../../../../test/support/documents/read.ts';

const pool = new ParserPool({ size: 1 });
afterAll(() => pool.close());

type Cell = string | number | null;

function written(sheet: XLSX.WorkSheet, bookType: 'xlsx' | 'xls' = 'xlsx'): Buffer {
  const book = XLSX.utils.book_new();
  XLSX.utils.book_append_sheet(book, sheet, 'One');
  return Buffer.from(XLSX.write(book, { type: 'buffer', bookType, cellStyles: true }) as Uint8Array);
}

const sheetOf = (rows: readonly (readonly Cell[])[], merges: readonly string[] = []): XLSX.WorkSheet =>
  Object.assign(XLSX.utils.aoa_to_sheet(rows.map((row) => [...row])), { '!merges': merges.map((range) => XLSX.utils.decode_range(range)) });

const readSheet = async (sheet: XLSX.WorkSheet, extension: 'xlsx' | 'xls' = 'xlsx') =>
  read(pool, { content: written(sheet, extension), extension });

/** Returns tables as their header and rows, paragraphs as their text. */
async function shapeOf(rows: readonly (readonly Cell[])[], merges: readonly string[] = []): Promise<readonly unknown[]> {
  const { blocks } = await readSheet(sheetOf(rows, merges));
  return blocks.map((block) =>
    block.kind === 'table' ? { header: block.header, firstRow: block.firstRow, rows: block.rows.length } : block.text,
  );
}

describe('merged cells', () => {
  it.each(['xlsx', 'xls'] as const)('are repeated in each row and column that they cover: .%s', async (extension) => {
    const rows = [
      ['Room', 'Season', 'Price', 'Tax'],
      ['Suite', 'Spring', 280, 20],
      [null, 'Summer', 'closed', null],
      ['Double', 'Spring', 180, 10],
    ];
    const { blocks } = await readSheet(sheetOf(rows, ['A2:A3', 'C3:D3']), extension);
    expect(texts(blocks)).toEqual(['Suite | Spring | 280 | 20', 'Suite | Summer | closed | closed', 'Double | Spring | 180 | 10']);
  });

  it('name columns by both rows of a header, and make a title of what covers a whole row', async () => {
    const rows = [
      ['Sales in thousands', null, null, null, null],
      ['Region', '2024', null, '2025', null],
      [null, 'Q1', 'Q2', 'Q1', 'Q2'],
      ['North', 11, 12, 13, 14],
    ];
    const header = ['Region', '2024 Q1', '2024 Q2', '2025 Q1', '2025 Q2'];
    const expected = ['Sales in thousands', { header, firstRow: 4, rows: 1 }];
    expect(await shapeOf(rows, ['A1:E1', 'A2:A3', 'B2:C2', 'D2:E2'])).toEqual(expected);
    expect(await shapeOf(rows)).toEqual(expected);
  });

  it('make no rows, however much they cover', async () => {
    expect(
      await shapeOf(
        [
          ['Note', 'Price'],
          ['all', null],
          ['x', 1],
        ],
        ['A2:XFD1048576'],
      ),
    ).toEqual([{ header: [], firstRow: 1, rows: 3 }]);
  });
});

describe('the tables of a sheet', () => {
  it('have no header where there is none', async () => {
    const questions = [
      ['Do you take cards?', 'Yes, all.'],
      ['Is there parking?', 'Behind the house.'],
      ['Is there wifi?', 'Yes, free.'],
    ];
    expect(await shapeOf(questions)).toEqual([{ header: [], firstRow: 1, rows: 3 }]);
    const values = [
      ['Phone', '0123 4567'],
      ['Check-out', '11:00'],
      ['Address', 'Lake Road 5'],
      ['Wifi password', 'lakeview'],
    ];
    expect(await shapeOf(values)).toEqual([{ header: [], firstRow: 1, rows: 4 }]);
  });

  it('have each its own header, and the lines between them are none of theirs', async () => {
    const rows = [
      ['Room', 'Price'],
      ['Room 1', 100],
      ['Room 2', 101],
      [],
      ['All prices with breakfast'],
      [],
      ['Restaurant'],
      ['Dish', 'Allergens'],
      ['Soup', 'celery'],
      ['Cake', 'egg'],
      ['Fish', 'fish'],
    ];
    expect(await shapeOf(rows)).toEqual([
      { header: ['Room', 'Price'], firstRow: 2, rows: 2 },
      'All prices with breakfast',
      'Restaurant',
      { header: ['Dish', 'Allergens'], firstRow: 9, rows: 3 },
    ]);
  });

  it('go on behind an empty row with rows of the same kind', async () => {
    const rows = [['Name', 'Role', 'Age'], ['Ada', 'Engineer', 36], [], ['Bob', 'Clerk', 41], ['Eve', 'Cook', 29]];
    expect(await shapeOf(rows)).toEqual([
      { header: ['Name', 'Role', 'Age'], firstRow: 2, rows: 1 },
      { header: ['Name', 'Role', 'Age'], firstRow: 4, rows: 2 },
    ]);
  });
});

describe('what an author hid', () => {
  const prices = (): XLSX.WorkSheet => {
    const sheet = sheetOf([
      ['Item', 'Cost', 'Price'],
      ['Lamp', 10, '19.90 €'],
      ['Internal item', 1, '2 €'],
      ['Chair', 20, '49.50 €'],
    ]);
    sheet['!cols'] = [{ wch: 10 }, { wch: 10, hidden: true }, { wch: 10 }];
    return sheet;
  };

  it('is left out with a warning: rows and columns, which are no gap between the others', async () => {
    const sheet = prices();
    sheet['!rows'] = [{ hpt: 15 }, { hpt: 15 }, { hpt: 15, hidden: true }, { hpt: 15 }];
    const { blocks, document } = await readSheet(sheet);
    expect(blocks).toMatchObject([
      { header: ['Item', 'Price'], firstRow: 2, rows: [['Lamp', '19.90 €']] },
      { header: ['Item', 'Price'], firstRow: 4, rows: [['Chair', '49.50 €']] },
    ]);
    expect(document.warnings).toEqual([
      'left out: hidden columns B of sheet "One"; show them to have them read',
      'left out: hidden rows 3 of sheet "One"; show them to have them read',
    ]);
  });

  it('is left out of old workbooks, too', async () => {
    const { blocks, document } = await readSheet(prices(), 'xls');
    expect(texts(blocks)).toEqual(['Lamp | 19.90 €', 'Internal item | 2 €', 'Chair | 49.50 €']);
    expect(document.warnings).toEqual(['left out: hidden columns B of sheet "One"; show them to have them read']);
  });

  it('needs no warning where nothing is hidden', async () => {
    const sheet = sheetOf([
      ['Item', 'Price'],
      ['Lamp', 1],
    ]);
    sheet['!cols'] = [{ wch: 10 }, { wch: 10 }, { wch: 10, hidden: true }];
    expect((await readSheet(sheet)).document.warnings).toEqual([]);
  });
});

describe('files named .xls that are no workbook of that kind', () => {
  const table = '<table><tr><th>Room<th>Price<tr><td>Suite<td>12<sup>99</sup> €</table>';

  it.each([
    [
      'a page',
      `<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head><meta charset=utf-8><style>td{}</style></head><body>${table}</body></html>`,
      ['Suite | 12.99 €'],
    ],
    ['a table alone', table, ['Suite | 12.99 €']],
    ['values between semicolons', 'Zimmer;Preis;Ort\nSuite;280;Köln\nDoppel;"0180;5";\n', ['Suite | 280 | Köln', 'Doppel | 0180;5']],
    ['values between tabs', Buffer.from('\ufeffRoom\tPrice\tPhone\nSuite\t280\t0123\n', 'utf16le'), ['Suite | 280 | 0123']],
    [
      'a workbook of the new kind',
      written(
        sheetOf([
          ['Room', 'Price'],
          ['Suite', 280],
        ]),
      ),
      ['Suite | 280'],
    ],
  ])('are read as %s', async (_, content, expected) => {
    expect(texts((await read(pool, { content, extension: 'xls' })).blocks)).toEqual(expected);
  });

  it('are read as an XML spreadsheet, without what is hidden in it', async () => {
    const data = (text: string): string => `<ss:Data ss:Type="String">${text}</ss:Data>`;
    const row = (cells: readonly string[], attributes = ''): string =>
      `<Row${attributes}>${cells.map((text) => `<Cell>${data(text)}</Cell>`).join('')}</Row>`;
    const content = `<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Worksheet ss:Name="Prices"><Table><Column/><Column ss:Hidden="1"/><Column/>${[
      row(['Item', 'Cost', 'Price']),
      row(['Lamp', '10', '19']),
      row(['Internal', '1', '2'], ' ss:Hidden="1"'),
      `<Row><Cell ss:MergeDown="1">${data('Chair <B>new</B>')}</Cell><Cell ss:Index="3">${data('49')}</Cell></Row>`,
      `<Row><Cell ss:Index="3">${data('51')}</Cell></Row>`,
    ].join('')}</Table></Worksheet></Workbook>`;
    const { blocks, document } = await read(pool, { content, extension: 'xls' });
    expect(texts(blocks)).toEqual(['Lamp | 19', 'Chair new | 49', 'Chair new | 51']);
    expect(document.warnings).toHaveLength(2);
  });

  it('are refused where they are neither', async () => {
    for (const content of ['Dear guest\nwelcome', '%PDF-1.7 a, b', '<?xml version="1.0"?><a/>'])
      expect(await failureCode(pool, { content, extension: 'xls' })).toBe('unsupported_content');
    expect(await failureCode(pool, { content: '<table><tr><td>'.repeat(20_000), extension: 'xls' })).toBe('too_large');
  });
});
