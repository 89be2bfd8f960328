import * as XLSX from '@e965/xlsx';
import * as codepages from '@e965/xlsx/dist/cpexcel.full.mjs';

import { IngestionError } from '../../../ingestion-failure.ts';
import { checkNesting, openArchive } from '../../archive/archive.ts';
import { scanXml } from '../../archive/scan-xml.ts';
import { leftOut } from '../../left-out.ts';
import { exportKind } from '../../signature.ts';
import { oneLine } from '../../text/clean.ts';
import { decodeText } from '../../text/decode.ts';
import { decodeHtml } from '../html/html.ts';
import { addHtmlBlocks } from '../html/html-blocks.ts';
import { addSheet } from './sheet-tables.ts';
import { visibleRows } from './visible-rows.ts';
import type { Parser, ParserInput, Sink } from '../../block.ts';

// Workbooks from before 1997 name a code page.
XLSX.set_cptable(codepages);

const READ_OPTIONS = {
  type: 'buffer',
  /** Rows are arrays, which take a tenth of the memory of one key a cell. */
  dense: true,
  /** Cells are read as they are shown: dates, percents and currencies as formatted. */
  cellText: true,
  /** Formats that the library can't apply, or applies as the US do, are kept: see `shownBy`. */
  cellNF: true,
  cellFormula: false,
  cellHTML: false,
  /** This option also tells which rows and columns are hidden. */
  cellStyles: true,
  bookVBA: false,
  /** The short date format follows the reader's country; this one is read alike everywhere. */
  dateNF: 'yyyy-mm-dd',
} as const satisfies XLSX.ParsingOptions;

/**
 * Reads Excel workbooks, old and new: the rows of each visible sheet, with the row numbers that Excel shows. The .xls exports of other
 * programs often are a page with a table, or lines of text: they are read as such.
 */
export const parseSpreadsheet: Parser = async (input, sink) => {
  const kind = input.extension === 'xls' ? exportKind(input.content) : undefined;
  if (kind === 'html') {
    addHtmlBlocks({ html: decodeHtml(input.content), sink });
    return {};
  }
  const isPackage = input.extension === 'xlsx' || kind === 'package';
  const book =
    kind === 'text' ? readLines(input) : kind === 'xml' ? readXml(input) : isPackage ? await readPackage(input, sink) : readBinary(input);
  const hidden = book.SheetNames.filter((_, at) => (book.Workbook?.Sheets?.[at]?.Hidden ?? 0) !== 0);
  for (const name of hidden) sink.warn(leftOut(`hidden sheet "${name.slice(0, 60)}"`, 'show it to have it read'));
  const visible = book.SheetNames.filter((name) => !hidden.includes(name));
  const budget = { cells: input.limits.cells };
  const uses1904 = book.Workbook?.WBProps?.date1904 === true;
  visible.forEach((title, at) => {
    const sheet = book.Sheets[title];
    const name = oneLine(title);
    if (sheet !== undefined) {
      const rows = visibleRows({ name, sheet, budget, uses1904, sink, tooManyCells: () => tooManyCells(input.limits.cells) });
      addSheet({ name, rows, sink });
    }
    // A sheet that has been read may go.
    delete book.Sheets[title];
    sink.progress(at + 1, visible.length);
  });
  const title = book.Props?.Title;
  return title === undefined ? {} : { title };
};

/** Reads comma-separated values and the like. All values stay text: a phone number stays one. */
function readLines({ content, limits }: ParserInput): XLSX.WorkBook {
  const text = decodeText(content);
  const separators = text.match(/[,;\t]/gu)?.length ?? 0;
  if (separators > limits.cells * 2) throw tooManyCells(limits.cells);
  return XLSX.read(text, { type: 'string', dense: true, raw: true });
}

/** Reads a workbook in one XML file. @see https://learn.microsoft.com/previous-versions/office/developer/office-xp/aa140066(v=office.10) */
function readXml({ content, limits }: ParserInput): XLSX.WorkBook {
  scanXml(content);
  const text = decodeText(content);
  if ((text.match(/<(?:\w+:)?Cell\b/gu)?.length ?? 0) > limits.cells) throw tooManyCells(limits.cells);
  return XLSX.read(text, { ...READ_OPTIONS, type: 'string' });
}

async function readPackage({ content, extension, limits }: ParserInput, sink: Sink): Promise<XLSX.WorkBook> {
  const archive = await openArchive(content);
  if (![...archive.parts.keys()].some((name) => /^xl\/workbook\d*\.xml$/iu.test(name))) {
    const really = archive.parts.has('word/document.xml') ? 'a Word document' : 'another kind of archive';
    throw new IngestionError(
      'unsupported_content',
      `The file is named .${extension} but is ${really}. Save it as .${extension}, or give it the extension that fits what it is.`,
    );
  }
  checkNesting(archive);
  const cells = [...archive.counts.values()].reduce((sum, counts) => sum + counts.c, 0);
  if (cells > limits.cells) throw tooManyCells(limits.cells);
  const missing = formulasWithoutValue(archive.parts);
  if (missing > 0)
    sink.warn(
      leftOut(`${missing} formulas without a stored value`, 'open the workbook in a spreadsheet program and save it to have them read'),
    );
  return XLSX.read(archive.repacked(), READ_OPTIONS);
}

function readBinary({ content }: ParserInput): XLSX.WorkBook {
  const isWorkbook = ['Workbook', 'Book', 'WORKBOOK', 'BOOK'].some((stream) => content.includes(Buffer.from(`${stream}\0`, 'utf16le')));
  // The header says where the file's directory is, often at the end.
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

/** Tells whether the sector is missing in which the directory begins by the header. @see MS-CFB 2.2 */
function isCutOff(content: Buffer): boolean {
  if (content.length < 512) return true;
  const sectorBits = content.readUInt16LE(30);
  const directory = content.readUInt32LE(48);
  return sectorBits < 7 || sectorBits > 12 || content.length < (directory + 2) * 2 ** sectorBits;
}

function tooManyCells(limit: number): IngestionError {
  return new IngestionError('too_large', `The workbook has more than ${limit} cells. Split it into several files.`);
}

/** Text between a formula's end and its cell's before it has been calculated. */
const NO_VALUE = /^\s*(?:<(?:\w+:)?v\s*\/>|<(?:\w+:)?v>\s*<\/(?:\w+:)?v>)?\s*<\/(?:\w+:)?c>/u;

/** Counts formulas of a workbook whose value the program that wrote it did not store; only a spreadsheet program could compute it. */
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
