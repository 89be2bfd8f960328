import * as XLSX from '@e965/xlsx';
import { afterAll, describe, expect, it } from 'vitest';

import { ParserPool } from '../../parser-pool.ts';
import { makeXlsx, sheetXml } from '../../../../test/support/documents/make-office.ts';
import { read, texts } from '../../../../test/support/documents/read.ts';

const pool = new ParserPool({ size: 1 });
afterAll(() => pool.close());

function workbook(): XLSX.WorkBook {
  const book = XLSX.utils.book_new();
  const staff = XLSX.utils.aoa_to_sheet([
    ['Staff of 2024'],
    [],
    ['Name', 'Joined', 'Share', 'Salary', 'Left'],
    ['Anna', { t: 'n', v: 45352, z: 'yyyy-mm-dd' }, { t: 'n', v: 0.25, z: '0%' }, { t: 'n', v: 1234.5, z: '#,##0.00' }, false],
    ['রহিম উদ্দিন', { t: 'n', v: 45353, z: 'dd.mm.yyyy' }, { t: 'n', v: 0.125, z: '0.0%' }, 99],
    [],
    ['Zoe', null, null, 7],
  ]);
  XLSX.utils.book_append_sheet(book, staff, 'Staff');
  XLSX.utils.book_append_sheet(
    book,
    XLSX.utils.aoa_to_sheet([
      ['Product', 'Price'],
      ['Tea', 3],
    ]),
    'মূল্য',
  );
  XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet([['secret', 'plan']]), 'Hidden');
  book.Workbook = { Sheets: [{ Hidden: 0 }, { Hidden: 0 }, { Hidden: 1 }] };
  return book;
}

describe('workbooks', () => {
  it.each([
    ['xlsx', 'xlsx'],
    ['xls', 'xls'],
    ['xls', 'xlml'],
  ] as const)('reads .%s (%s): values as shown, rows as numbered, sheets by name', async (extension, bookType) => {
    const content = Buffer.from(XLSX.write(workbook(), { type: 'buffer', bookType }) as Uint8Array);
    const { blocks, document } = await read(pool, { content, extension });
    const header = ['Name', 'Joined', 'Share', 'Salary', 'Left'];
    expect(blocks).toEqual([
      { kind: 'paragraph', text: 'Staff of 2024', sheet: 'Staff', headingPath: [] },
      {
        kind: 'table',
        header,
        rows: [
          ['Anna', '2024-03-01', '25%', '1,234.50', 'FALSE'],
          ['রহিম উদ্দিন'.normalize('NFC'), '02.03.2024', '12.5%', '99'],
        ],
        firstRow: 4,
        sheet: 'Staff',
        headingPath: [],
      },
      { kind: 'table', header, rows: [['Zoe', '', '', '7']], firstRow: 7, sheet: 'Staff', headingPath: [] },
      { kind: 'table', header: ['Product', 'Price'], rows: [['Tea', '3']], firstRow: 2, sheet: 'মূল্য', headingPath: [] },
    ]);
    expect(document.warnings).toEqual(['left out: hidden sheet "Hidden"; show it to have it read']);
  });

  it.each([
    { uses1904: false, day: 45_356 },
    { uses1904: true, day: 45_356 - 1462 },
  ])('writes dates and times alike whatever country their format follows: $uses1904', async ({ uses1904, day }) => {
    const formats = [14, 22, 27, 27, 31, 57, 58, 58, 78, 20, 5];
    const cells = formats.map((_, style) => `<c r="${String.fromCharCode(65 + style)}1" s="${style}"><v>${day + 0.4375}</v></c>`);
    const content = makeXlsx({ formats, uses1904, sheet: { content: sheetXml(`<row r="1">${cells.join('')}</row>`, 'A1:K1') } });
    const date = '2024-03-05';
    expect((await read(pool, { content, extension: 'xlsx' })).blocks).toMatchObject([
      { rows: [[date, `${date} 10:30`, date, date, date, date, date, date, `${date} 10:30`, '10:30', expect.stringMatching(/^\$4/u)]] },
    ]);
  });

  it.each(['xlsx', 'xls'] as const)('keeps all digits of whole numbers in .%s, unless their format says otherwise', async (extension) => {
    const row = [
      { t: 'n', v: 4_006_381_333_931 },
      { t: 'n', v: 4_006_381_333_948, z: 'GENERAL' },
      { t: 'n', v: -491_701_234_567 },
      { t: 'n', v: 4_006_381_333_931, z: '0.00E+00' },
      { t: 'n', v: 1e20 },
    ];
    const book = XLSX.utils.book_new();
    XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet([row]), 'One');
    const content = Buffer.from(XLSX.write(book, { type: 'buffer', bookType: extension }) as Uint8Array);
    expect(texts((await read(pool, { content, extension })).blocks)).toEqual([
      '4006381333931 | 4006381333948 | -491701234567 | 4.01E+12 | 1E+20',
    ]);
  });

  it('knows the number of each of 20,000 rows', async () => {
    const rows = Array.from({ length: 19_999 }, (_, at) => [`item ${at + 2}`, `code-${(at + 2) * 7}`, at]);
    const book = XLSX.utils.book_new();
    XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet([['Item', 'Code', 'Count'], ...rows]), 'Stock');
    const content = Buffer.from(XLSX.write(book, { type: 'buffer', bookType: 'xlsx' }) as Uint8Array);
    const { blocks } = await read(pool, { content, extension: 'xlsx' });
    const tables = blocks.filter((block) => block.kind === 'table');
    const table = tables.find(({ firstRow, rows: { length } }) => firstRow <= 17_345 && 17_345 < firstRow + length);
    expect(table?.header).toEqual(['Item', 'Code', 'Count']);
    expect(table?.rows[17_345 - table.firstRow]).toEqual(['item 17345', 'code-121415', '17343']);
    expect(tables.reduce((sum, { rows: { length } }) => sum + length, 0)).toBe(19_999);
  });

  it('reports how many formulas have no calculated value', async () => {
    const rows =
      '<row r="1"><c r="A1"><v>2</v></c><c r="B1"><f>A1+1</f><v></v></c><c r="C1"><f>A1+2</f></c><c r="D1"><f>A1+3</f><v>5</v></c></row>';
    const { blocks, document } = await read(pool, {
      content: makeXlsx({ sheet: { content: sheetXml(rows, 'A1:D1') } }),
      extension: 'xlsx',
    });
    expect(texts(blocks)).toEqual(['2 | 5']);
    expect(document.warnings).toEqual([expect.stringMatching(/^left out: 2 formulas without a stored value/u)]);
  });

  it('reads only cells that are there, whatever size a sheet claims', async () => {
    const rows = '<row r="1"><c r="A1" t="str"><v>here</v></c></row><row r="1048576"><c r="XFD1048576" t="str"><v>there</v></c></row>';
    const { blocks } = await read(pool, { content: makeXlsx({ sheet: { content: sheetXml(rows, 'A1:XFD1048576') } }), extension: 'xlsx' });
    expect(texts(blocks)).toEqual(['here', 'there']);
  });
});
