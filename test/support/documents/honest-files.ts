/** Makes files of every kind that a parser reads, with what could stay in a library: formats, code pages, fonts, charsets. */
import * as XLSX from '@e965/xlsx';

import type { ParsedExtension } from '../../../knowledge/parsing/extension.ts';
import { makeDocx, wordParagraph, wordStyles, wordTable } from './make-office.ts';
import { makePdf, makeSubsetFontPdf } from './make-pdf.ts';

export interface HonestFile {
  readonly name: string;
  readonly extension: ParsedExtension;
  readonly content: Buffer | string;
  readonly contentType?: string;
  readonly url?: string;
}

const sentence = 'The kettle is under guarantee for two years. Call us when it leaks.';

function workbook(format: string, bookType: XLSX.BookType, uses1904 = false): Buffer {
  const book = XLSX.utils.book_new();
  const rows = [
    ['Name', 'When', 'Share', 'Price'],
    ...[1, 2, 3].map((at) => [
      `part ${at}`,
      { t: 'n', v: 45_352 + at, z: 'dd.mm.yyyy' },
      { t: 'n', v: at / 8, z: '0.0%' },
      { t: 'n', v: 1234.5 * at, z: format },
    ]),
  ];
  XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet(rows), 'Parts');
  if (uses1904) book.Workbook = { WBProps: { date1904: true } };
  return Buffer.from(XLSX.write(book, { type: 'buffer', bookType }) as Uint8Array);
}

/** Makes a workbook of before 1997 in this code page: its record (number 0x42, two bytes) and its letters are set afterwards. */
function oldWorkbook(codePage: number | 'default'): Buffer {
  const book = XLSX.utils.book_new();
  XLSX.utils.book_append_sheet(
    book,
    XLSX.utils.aoa_to_sheet([
      ['Stra~e', 'caf~'],
      ['~pfel', 3],
    ]),
    'One',
  );
  const written = Buffer.from(XLSX.write(book, { type: 'buffer', bookType: 'biff5' }) as Uint8Array);
  const bytes = Buffer.from(
    written.toString('latin1').replaceAll(/(Stra|caf)~|~(?=pfel)/gu, (found) => found.replace('~', '\u00c4')),
    'latin1',
  );
  const at = bytes.indexOf(Buffer.from('42000200', 'hex'));
  if (at < 0) throw new Error('the workbook names no code page');
  // The record 0xc1 says nothing.
  if (codePage === 'default') bytes.writeUInt16LE(0xc1, at);
  else bytes.writeUInt16LE(codePage, at + 4);
  return bytes;
}

/** Removes the definition of the book's own formats, at the same length. A library that keeps formats shows those of the file before. */
function withoutFormats(book: Buffer): Buffer {
  return Buffer.from(
    book.toString('latin1').replaceAll(/<numFmt [^>]*>/gu, (tag) => ' '.repeat(tag.length)),
    'latin1',
  );
}

const page = (body: string, head = ''): string => `<html><head>${head}<title>Kettles</title></head><body>${body}</body></html>`;
const article = `<nav>menu</nav><article><h1>Kettles</h1>${`<p>${sentence} ${sentence}</p>`.repeat(8)}<table><tr><th>a<th>b<tr><td>1<td>2</table></article>`;

export const HONEST_FILES: readonly HonestFile[] = [
  { name: 'text', extension: 'txt', content: `${sentence}\n\nSecond paragraph.\n` },
  { name: 'text in UTF-16', extension: 'txt', content: Buffer.from(`\ufeff${sentence} é`, 'utf16le') },
  {
    name: 'text in windows-1251',
    extension: 'txt',
    content: Buffer.from('cff0e8e2e5f22c20fdf2ee20f2e5eaf1f220ede020f0f3f1f1eaeeec20ffe7fbeae5', 'hex'),
  },
  {
    name: 'text in GB18030',
    extension: 'txt',
    content: Buffer.from('d6d0b9fad6c7c4dcd3efd2f4b4fac0edc6bdcca8a3acd6a7b3d6b6e0d6d6d3efd1d4', 'hex'),
  },
  {
    name: 'Bangla of an old font',
    extension: 'txt',
    content: 'Avgvi †mvbvi evsjv Avwg †Zvgvq fvjevwm wPiw`b †Zvgvi AvKvk †Zvgvi evZvm Avgvi cÖv‡Y evRvq euvwk',
  },
  { name: 'long text', extension: 'txt', content: `${sentence}\n\n`.repeat(3000) },
  {
    name: 'Markdown',
    extension: 'md',
    content: `---\ntitle: Kettles\n---\n# One\n\n${sentence}\n\n## Two\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n`,
  },
  {
    name: 'Markdown with definitions',
    extension: 'md',
    content: `# Links\n\n[one] and [two][one] and ![p][one], a note[^1].\n\n[one]: http://example.com "title"\n[^1]: ${sentence}\n`,
  },
  { name: 'Markdown that uses what another defines', extension: 'md', content: '# Links\n\n[one] and [two][one], a note[^1].\n' },
  {
    name: 'Markdown with code',
    extension: 'md',
    content: '# Code\n\n```js\nObject.prototype.polluted = 1;\n```\n\n> quote\n\n__proto__ and constructor\n',
  },
  {
    name: 'front matter with keys of the language',
    extension: 'md',
    content: '---\n__proto__:\n  title: wrong\nconstructor: x\ntitle: right\n---\ntext\n',
  },
  { name: 'page', extension: 'html', content: page(article), url: 'https://example.com/kettles' },
  { name: 'page of another address', extension: 'html', content: page(article), url: 'https://example.org/kettles' },
  {
    name: 'page in a charset of its own',
    extension: 'html',
    content: Buffer.from(page('<p>caf\u00e9 M\u00fcnchen</p>', '<meta charset="windows-1252">'), 'latin1'),
  },
  {
    name: 'page in the charset of its response',
    extension: 'html',
    content: Buffer.from(page('<p>caf\u00e9</p>'), 'latin1'),
    contentType: 'text/html; charset=iso-8859-1',
  },
  {
    name: 'page with attributes of the language',
    extension: 'html',
    content: page(
      '<p __proto__="x" constructor="y" toString="z">odd attributes</p><form><input name="attributes"><input name="length"></form>',
    ),
  },
  {
    name: 'Word',
    extension: 'docx',
    content: makeDocx({
      body:
        wordParagraph('One', 'Heading1') +
        wordParagraph(sentence) +
        wordTable([
          ['a', 'b'],
          ['1', '2'],
        ]),
      parts: [wordStyles],
    }),
  },
  {
    name: 'Word without styles',
    extension: 'docx',
    content: makeDocx({ body: wordParagraph('One', 'Heading1') + wordParagraph(sentence) }),
  },
  { name: 'workbook', extension: 'xlsx', content: workbook('#,##0.00', 'xlsx') },
  { name: 'workbook with formats of its own', extension: 'xlsx', content: workbook('"EUR" 0.000', 'xlsx') },
  { name: 'workbook that counts from 1904', extension: 'xlsx', content: workbook('0', 'xlsx', true) },
  { name: 'workbook that uses formats without a definition', extension: 'xlsx', content: withoutFormats(workbook('"EUR" 0.000', 'xlsx')) },
  { name: 'old workbook', extension: 'xls', content: workbook('#,##0.00', 'biff8') },
  { name: 'old workbook with formats of its own', extension: 'xls', content: workbook('"USD" 0.0', 'biff8') },
  { name: 'old workbook that counts from 1904', extension: 'xls', content: workbook('0', 'biff8', true) },
  ...([1250, 1251, 1252, 932, 'default'] as const).map((codePage): HonestFile => ({
    name: `workbook in code page ${codePage}`,
    extension: 'xls',
    content: oldWorkbook(codePage),
  })),
  {
    name: 'PDF',
    extension: 'pdf',
    content: makePdf(
      Array.from({ length: 4 }, (_, at) => [
        { text: `Chapter ${at}`, y: 780, size: 18 },
        { text: sentence, y: 700 },
        { text: `Page ${at + 1}`, y: 30, size: 8 },
      ]),
      { title: 'Kettles' },
    ),
  },
  { name: 'PDF without a title', extension: 'pdf', content: makePdf([[{ text: sentence, y: 700 }]]) },
  { name: 'PDF with a font of its own', extension: 'pdf', content: makeSubsetFontPdf([{ glyphs: 'kettle'.split(''), x: 72, y: 700 }]) },
];
