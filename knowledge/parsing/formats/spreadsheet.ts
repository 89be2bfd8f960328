import * as XLSX from '@e965/xlsx';
import * as codepages from '@e965/xlsx/dist/cpexcel.full.mjs';

import { IngestionError } from '../../ingestion-failure.ts';
import { checkNesting, openArchive } from '../archive/archive.ts';
import { addSheet, type SheetCell, type SheetRow } from './sheet-rows.ts';
import type { Parser, ParserInput, Sink } from '../block.ts';
import { oneLine } from '../text/clean.ts';

// Workbooks from before 1997 name a code page.
XLSX.set_cptable(codepages);

const READ_OPTIONS = {
  type: 'buffer',
  /** Rows as arrays: a tenth of the memory of one key a cell. */
  dense: true,
  /** What a cell shows, not what it holds: dates, percents and currencies as formatted. */
  cellText: true,
  /** For formats that the library can't apply, or applies as the US do: see `shownBy`. */
  cellNF: true,
  cellFormula: false,
  cellHTML: false,
  cellStyles: false,
  bookVBA: false,
  /** The short date format follows the reader's country; this one is read alike everywhere. */
  dateNF: 'yyyy-mm-dd',
} as const satisfies XLSX.ParsingOptions;

/** Excel workbooks, old and new: the rows of each visible sheet, with the row numbers that Excel shows. */
export const parseSpreadsheet: Parser = async (input, sink) => {
  const book = input.extension === 'xlsx' ? await readPackage(input, sink) : readBinary(input);
  const hidden = book.SheetNames.filter((_, at) => (book.Workbook?.Sheets?.[at]?.Hidden ?? 0) !== 0);
  for (const name of hidden) sink.warn(`sheet "${name.slice(0, 60)}" is hidden, and was left out`);
  const visible = book.SheetNames.filter((name) => !hidden.includes(name));
  const budget = { cells: input.limits.cells };
  const uses1904 = book.Workbook?.WBProps?.date1904 === true;
  visible.forEach((name, at) => {
    const sheet = book.Sheets[name];
    if (sheet !== undefined) addSheet({ name: oneLine(name), rows: rowsOf({ sheet, budget, limit: input.limits.cells, uses1904 }), sink });
    // What has been read may go.
    delete book.Sheets[name];
    sink.progress(at + 1, visible.length);
  });
  const title = book.Props?.Title;
  return title === undefined ? {} : { title };
};

async function readPackage({ content, limits }: ParserInput, sink: Sink): Promise<XLSX.WorkBook> {
  const archive = await openArchive(content);
  if (![...archive.parts.keys()].some((name) => /^xl\/workbook\d*\.xml$/iu.test(name))) {
    const really = archive.parts.has('word/document.xml') ? 'a Word document' : 'another kind of archive';
    throw new IngestionError(
      'unsupported_content',
      `The file is named .xlsx but is ${really}. Save it as .xlsx, or give it the extension that fits what it is.`,
    );
  }
  checkNesting(archive);
  const cells = [...archive.counts.values()].reduce((sum, counts) => sum + counts.c, 0);
  if (cells > limits.cells) throw tooManyCells(limits.cells);
  const missing = formulasWithoutValue(archive.parts);
  if (missing > 0)
    sink.warn(`${missing} formulas have no stored value, and were left out: open the workbook in a spreadsheet program and save it`);
  return XLSX.read(archive.repacked(), READ_OPTIONS);
}

function readBinary({ content }: ParserInput): XLSX.WorkBook {
  const isWorkbook = ['Workbook', 'Book', 'WORKBOOK', 'BOOK'].some((stream) => content.includes(Buffer.from(`${stream}\0`, 'utf16le')));
  // The directory that names what is in the file stands where its header says, often at the end.
  if (!isWorkbook && isCutOff(content)) throw new Error('the directory lies behind the end of the file');
  if (!isWorkbook)
    throw new IngestionError(
      'unsupported_content',
      'The file is named .xls but is no Excel workbook. Save it as .xls or .xlsx with a spreadsheet program.',
    );
  try {
    return XLSX.read(content, READ_OPTIONS);
  } catch (error) {
    if (error instanceof Error && /password|encrypt/iu.test(error.message))
      throw new IngestionError('password_protected', 'The file is protected with a password. Remove the password, and upload it again.', {
        cause: error,
      });
    throw error;
  }
}

/** Whether the sector that the header says the directory begins in is missing. @see MS-CFB 2.2 */
function isCutOff(content: Buffer): boolean {
  if (content.length < 512) return true;
  const sectorBits = content.readUInt16LE(30);
  const directory = content.readUInt32LE(48);
  return sectorBits < 7 || sectorBits > 12 || content.length < (directory + 2) * 2 ** sectorBits;
}

/** Only cells that are there: the size that a sheet claims is never walked. */
function* rowsOf(options: {
  readonly sheet: XLSX.WorkSheet;
  readonly budget: { cells: number };
  readonly limit: number;
  readonly uses1904: boolean;
}): Generator<SheetRow> {
  const { sheet, budget, limit, uses1904 } = options;
  const data = (sheet['!data'] ?? []) as (XLSX.CellObject | undefined)[][];
  for (const key of Object.keys(data)) {
    const cells: SheetCell[] = [];
    for (const column of Object.keys(data[Number(key)] ?? [])) {
      const cell = data[Number(key)]?.[Number(column)];
      const shown = cell === undefined || cell.t === 'z' ? '' : shownBy(cell, uses1904);
      if (shown.trim() !== '') cells.push({ column: Number(column), shown, isText: cell?.t === 's' });
    }
    budget.cells -= cells.length;
    if (budget.cells < 0) throw tooManyCells(limit);
    if (cells.length > 0) yield { number: Number(key) + 1, cells };
  }
}

/** Excel's own date formats. Beyond the short date, the library ignores `dateNF`, shows them as the US do, and gives no name to some. */
const COUNTRY_FORMATS: ReadonlySet<unknown> = new Set(['m/d/yy', 'm/d/yy h:mm', undefined]);
const US_DATE = /^\d{1,2}\/\d{1,2}\/\d\d( \d{1,2}:\d\d)?$/u;

/** What a cell shows, the same in every country, with all digits of whole numbers: they are EANs, phone and account numbers. */
function shownBy(cell: XLSX.CellObject, uses1904: boolean): string {
  const date = cell.t === 'n' && COUNTRY_FORMATS.has(cell.z) ? US_DATE.exec(cell.w ?? '') : null;
  if (date !== null) return formatted(cell, date[1] === undefined ? 'yyyy-mm-dd' : 'yyyy-mm-dd hh:mm', uses1904);
  if (Number.isSafeInteger(cell.v) && cell.w?.includes('E+') === true && /^general$/iu.test(String(cell.z ?? 'General')))
    return String(cell.v);
  if (cell.w !== undefined || cell.t !== 'n' || typeof cell.z !== 'string') return cell.w ?? String(cell.v ?? '');
  // The library takes a dot after a day or month (`dd.mm.yyyy`, as German and others have it) for a decimal point, and gives up.
  return formatted(cell, cell.z.replace(/\.(?!0)/gu, '\\.'), uses1904);
}

function formatted(cell: XLSX.CellObject, format: string, uses1904: boolean): string {
  try {
    return String(XLSX.SSF.format(format, cell.v, { date1904: uses1904 }));
  } catch {
    return String(cell.v ?? '');
  }
}

function tooManyCells(limit: number): IngestionError {
  return new IngestionError('too_large', `The workbook has more than ${limit} cells. Split it into several files.`);
}

/** What may stand between a formula's end and its cell's before it has been calculated. */
const NO_VALUE = /^\s*(?:<(?:\w+:)?v\s*\/>|<(?:\w+:)?v>\s*<\/(?:\w+:)?v>)?\s*<\/(?:\w+:)?c>/u;

/** Formulas of a workbook whose value the program that wrote it did not store; only a spreadsheet program could compute it. */
function formulasWithoutValue(parts: ReadonlyMap<string, Buffer>): number {
  let count = 0;
  for (const [name, part] of parts) {
    if (!/^xl\/worksheets\/[^/]+\.xml$/iu.test(name)) continue;
    for (let at = part.indexOf('f>'); at >= 0; at = part.indexOf('f>', at + 2)) {
      const isEnd = part[at - 1] === 0x2f || part[at - 1] === 0x3a;
      if (isEnd && NO_VALUE.test(part.toString('latin1', at + 2, at + 42))) count += 1;
    }
  }
  return count;
}
