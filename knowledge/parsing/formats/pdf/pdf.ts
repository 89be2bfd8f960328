import { IngestionError } from '../../../ingestion-failure.ts';
import { leftOut } from '../../left-out.ts';
import { oneLine } from '../../text/clean.ts';
import { LEGACY_FONT_WARNING, looksLikeLegacyBangla } from '../../text/legacy-bangla.ts';
import { numberRuns } from '../../text/number-runs.ts';
import { Outline } from '../../text/outline.ts';
import { isSparse, noTextFailure, type UnreadPage, unreadWarnings } from '../../unread-pages.ts';
import { labelledValues } from './form-labels.ts';
import { bookmarkKey, Headings } from './headings.ts';
import { collectWords } from './hyphenation.ts';
import { isLegible } from './legibility.ts';
import { type OpenDocument, readGlyphs } from './page-glyphs.ts';
import { type LinePiece, pageLines } from './page-lines.ts';
import { pagePicture } from './page-picture.ts';
import { pageParts, type Paragraph } from './paragraphs.ts';
import { readingOrder } from './reading-order.ts';
import { type PageOfLines, runningLines } from './running-lines.ts';
import type { Parser, Sink } from '../../block.ts';
import { type Address, Pdfium } from './pdfium.ts';
import { continueTable, type PageTable } from './tables.ts';

interface Page extends PageOfLines {
  readonly turned: readonly LinePiece[];
  readonly isLegible: boolean;
  /** Number of characters that the author hid. */
  readonly hidden: number;
  /** Share of the page that its largest picture covers. */
  readonly pictureShare: number;
}

/** A file whose pages all fail is damaged; so many in a row are enough to say so. */
const MOST_FAILURES = 50;

/**
 * Reads PDFs by the places of their text: lines, columns, paragraphs, headings. It reads the whole before the first block, to know its
 * headers.
 */
export const parsePdf: Parser = async (input, sink) => {
  const pdfium = await Pdfium.start();
  const document = pdfium.open(input.content);
  const count = pdfium.api.FPDF_GetPageCount(document);
  if (count > input.limits.pages)
    throw new IngestionError('too_large', `The PDF has ${count} pages; the limit is ${input.limits.pages}. Split it into several files.`);
  const { pages, unread } = readPages({ pdfium, document, form: pdfium.openForm(document), count }, sink, input.limits.textBytes);
  refuseDynamicForm(pdfium.api.FPDF_GetFormType(document), pages);
  const running = runningLines(pages);
  const scans = [...unread, ...sparsePages(pages, running.all)].toSorted((one, other) => one.page - other.page);
  const wanted = scans.slice(0, input.pictures ?? 0);
  for (const warning of unreadWarnings(scans.slice(wanted.length))) sink.warn(warning);
  if (pages.length + wanted.length === 0) throw noTextFailure(unread);
  const words = collectWords(pages.flatMap(({ lines }) => lines.map(({ text }) => text)));
  const parts = pages.flatMap((page) => {
    const body = pageParts(readingOrder(page.lines.filter((line) => !running.all.has(line))), page.number, words);
    // These are never headings, however large.
    const others = [...page.turned, ...page.lines.filter((line) => running.first.has(line))];
    return body.concat(others.map(({ text }) => ({ kind: 'text', page: page.number, text, size: 0, isListItem: false, isBold: false })));
  });
  const paragraphs = parts.filter((part) => part.kind === 'text');
  const headings = new Headings(paragraphs, bookmarkLevels(pdfium, document));
  const drawScan = (page: number): Buffer | undefined => pagePicture(pdfium, document, page - 1);
  const added = addParts([...parts, ...wanted], { headings, drawScan, scans: wanted.length, sink });
  if (pages.length === 0 && !added.hasPicture) throw noTextFailure(unread);
  if (looksLikeLegacyBangla(paragraphs.map(({ text }) => text).join(' '))) sink.warn(LEGACY_FONT_WARNING);
  const title = documentTitle(pdfium, document) || added.firstHeading;
  return { pages: count, ...(title === '' ? {} : { title }) };
};

interface Adding {
  readonly headings: Headings;
  /** @returns a PNG, or undefined for a blank page */
  readonly drawScan: (page: number) => Buffer | undefined;
  /** Number of the parts that are pages without text. */
  readonly scans: number;
  readonly sink: Sink;
}

/** Adds the parts in the order of the pages. @returns the first page's heading, and whether there was a picture */
function addParts(
  parts: readonly (Paragraph | PageTable | UnreadPage)[],
  { headings, drawScan, scans, sink }: Adding,
): { readonly firstHeading: string; readonly hasPicture: boolean } {
  const outline = new Outline();
  let firstHeading = '';
  let hasPicture = false;
  let table: PageTable | undefined;
  for (const part of parts.toSorted((one, other) => one.page - other.page)) {
    if ('reason' in part) {
      const png = drawnOrNamed(part, drawScan, sink);
      if (png !== undefined)
        sink.addPicture({ ...part, kind: 'picture', png: png.toString('base64'), total: scans, headingPath: outline.path });
      hasPicture ||= png !== undefined;
    } else if (part.kind === 'table') {
      table = table === undefined ? part : continueTable(table, part);
      sink.add({ ...table, firstRow: 1, headingPath: outline.path });
    } else {
      const { page, text } = part;
      const level = headings.level(part);
      if (level === 1 && page === 1) firstHeading ||= oneLine(text);
      if (level !== undefined) sink.add({ kind: 'heading', text, page, headingPath: outline.enter(level, oneLine(text)) });
      else sink.add({ kind: part.isListItem ? 'listItem' : 'paragraph', text, page, headingPath: outline.path });
    }
  }
  return { firstHeading, hasPicture };
}

/** Returns the picture of a page; one that can't be drawn is reported as unread. */
function drawnOrNamed(scan: UnreadPage, drawScan: Adding['drawScan'], sink: Sink): Buffer | undefined {
  try {
    return drawScan(scan.page);
  } catch {
    for (const warning of unreadWarnings([scan])) sink.warn(warning);
    return undefined;
  }
}

function sparsePages(pages: readonly Page[], running: ReadonlySet<LinePiece>): readonly UnreadPage[] {
  return pages
    .filter(({ lines, turned, pictureShare }) =>
      isSparse(
        [...lines.filter((line) => !running.has(line)), ...turned].map(({ text }) => text),
        pictureShare,
      ),
    )
    .map(({ number }) => ({ page: number, reason: 'sparse' }));
}

interface OpenPdf extends OpenDocument {
  readonly pdfium: Pdfium;
  readonly count: number;
}

interface ReadPages {
  readonly pages: readonly Page[];
  readonly unread: readonly UnreadPage[];
}

/** @throws the error of reading when no page can be read */
function readPages(open: OpenPdf, sink: Sink, textBytes: number): ReadPages {
  const pages: Page[] = [];
  const unread: UnreadPage[] = [];
  const hidden: number[] = [];
  const { count } = open;
  const broken: number[] = [];
  let firstError: unknown;
  let characters = 0;
  for (let number = 1; number <= count; number += 1) {
    try {
      const page = readPage(open, number);
      if (page.hidden > 0) hidden.push(number);
      if (!page.isLegible) unread.push({ page: number, reason: 'illegible' });
      else if (page.lines.length + page.turned.length === 0) unread.push({ page: number, reason: 'empty' });
      else pages.push(page);
      characters += page.lines.reduce((sum, line) => sum + line.text.length, 0);
    } catch (error) {
      firstError ??= error;
      broken.push(number);
      if (broken.length === number && broken.length >= MOST_FAILURES) throw error;
    }
    if (characters > textBytes)
      throw new IngestionError('too_large', `The PDF holds more than ${textBytes / 1e6} MB of text. Split it into several files.`);
    sink.progress(number, count);
  }
  if (broken.length === count) throw firstError;
  if (broken.length > 0) sink.warn(`pages that could not be read, and are missing: ${numberRuns(broken)}`);
  if (hidden.length > 0)
    sink.warn(leftOut(`text that no reader sees (white on white, off the page, without ink) on pages ${numberRuns(hidden)}`));
  return { pages, unread };
}

function readPage({ pdfium, ...open }: OpenPdf, number: number): Page {
  const { height, upright, turned, values, count, hidden, pictureShare } = readGlyphs(pdfium, open, number - 1);
  const printed = pageLines(upright);
  const lines = [...printed, ...labelledValues(values, printed)];
  const page = { number, height, lines, turned: pageLines(turned), hidden, pictureShare };
  return { ...page, isLegible: isLegible([...lines, ...page.turned].map(({ text }) => text).join('\n'), count) };
}

/** @see fpdf_formfill.h */
const DYNAMIC_FORM = 2;

/** Refuses a dynamic form: Adobe Reader makes its pages when it is opened; the file itself only asks to wait. */
function refuseDynamicForm(formType: number, pages: readonly Page[]): void {
  const text = pages.flatMap(({ lines }) => lines.map((line) => line.text)).join(' ');
  if (formType !== DYNAMIC_FORM || !(text.length < 2000 && /adobe/iu.test(text))) return;
  throw new IngestionError(
    'no_text_layer',
    'The PDF is a dynamic form (XFA), whose pages exist only in Adobe Reader. Print it to a PDF there, and upload that.',
  );
}

/** Maps the titles of bookmarks to their depth, from 1. */
function bookmarkLevels(pdfium: Pdfium, document: Address): ReadonlyMap<string, number> {
  const levels = new Map<string, number>();
  for (const { title, depth } of pdfium.bookmarks(document)) {
    const key = bookmarkKey(title);
    levels.set(key, Math.min(depth, levels.get(key) ?? depth));
  }
  levels.delete('');
  return levels;
}

function documentTitle(pdfium: Pdfium, document: Address): string {
  const title = oneLine(pdfium.text((buffer, bytes) => pdfium.api.FPDF_GetMetaText(document, 'Title', buffer, bytes)));
  // Titles that programs write by themselves don't count.
  return /^(?:untitled|microsoft word - .*|.*\.(?:docx?|html?|odt|rtf|wpd|pptx?|xlsx?|indd|tex|dvi|qxd|pmd)\b.*|[a-z]:\\.*|\(?(?:anonymous|unspecified)\)?)$/iu.test(
    title,
  )
    ? ''
    : title;
}
