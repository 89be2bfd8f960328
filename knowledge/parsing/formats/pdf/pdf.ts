import { getDocument, type PDFDocumentProxy, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';
import * as worker from 'pdfjs-dist/legacy/build/pdf.worker.mjs';

import { IngestionError } from '../../../ingestion-failure.ts';
import { oneLine } from '../../text/clean.ts';
import { LEGACY_FONT_WARNING, looksLikeLegacyBangla } from '../../text/legacy-bangla.ts';
import { Outline } from '../../text/outline.ts';
import { bookmarkKey, Headings } from './headings.ts';
import { BoldFonts, type Line, pageLines } from './page-lines.ts';
import { paragraphsOf } from './paragraphs.ts';
import { readingOrder } from './reading-order.ts';
import { type PageOfLines, runningLines } from './running-lines.ts';
import type { Parser, Sink } from '../../block.ts';
import { pdfAsset } from '../../assets.ts';

interface Page extends PageOfLines {
  readonly turned: readonly Line[];
}

// pdf.js takes its worker's code from here instead of loading a script.
Object.assign(globalThis, { pdfjsWorker: worker });

/** A file whose pages all fail is damaged; so many in a row are enough to say so. */
const MOST_FAILURES = 50;

/** PDFs by where their text stands: lines, columns, paragraphs, headings. The whole is read before the first block, to know its headers. */
export const parsePdf: Parser = async (input, sink) => {
  const pdf = await openPdf(input.content);
  if (pdf.numPages > input.limits.pages)
    throw new IngestionError(
      'too_large',
      `The PDF has ${pdf.numPages} pages; the limit is ${input.limits.pages}. Split it into several files.`,
    );
  const pages = await readPages(pdf, sink, input.limits.textBytes);
  const running = runningLines(pages);
  const paragraphs = pages.flatMap((page) => {
    const body = paragraphsOf(readingOrder(page.lines.filter((line) => !running.all.has(line))), page.number);
    // Never a heading, however large.
    const others = [...page.turned, ...page.lines.filter((line) => running.first.has(line))];
    return body.concat(others.map(({ text }) => ({ page: page.number, text, size: 0, isListItem: false, isBold: false })));
  });
  const headings = new Headings(paragraphs, await bookmarks(pdf));
  const outline = new Outline();
  for (const paragraph of paragraphs) {
    const { page, text } = paragraph;
    const level = headings.level(paragraph);
    if (level !== undefined) sink.add({ kind: 'heading', text, page, headingPath: outline.enter(level, oneLine(text)) });
    else sink.add({ kind: paragraph.isListItem ? 'listItem' : 'paragraph', text, page, headingPath: outline.path });
  }
  if (looksLikeLegacyBangla(paragraphs.map(({ text }) => text).join(' '))) sink.warn(LEGACY_FONT_WARNING);
  const title = await documentTitle(pdf);
  return { pages: pdf.numPages, ...(title === '' ? {} : { title }) };
};

/** @throws IngestionError `no_text_layer` when no page has any text; what pdf.js throws when no page can be read */
async function readPages(pdf: PDFDocumentProxy, sink: Sink, textBytes: number): Promise<readonly Page[]> {
  const pages: Page[] = [];
  const empty: number[] = [];
  const broken: number[] = [];
  let firstError: unknown;
  let characters = 0;
  const fonts = new BoldFonts();
  for (let number = 1; number <= pdf.numPages; number += 1) {
    try {
      const page = await readPage(pdf, number, fonts);
      if (page.lines.length + page.turned.length === 0) empty.push(number);
      else pages.push(page);
      characters += page.lines.reduce((sum, line) => sum + line.text.length, 0);
    } catch (error) {
      firstError ??= error;
      broken.push(number);
      if (broken.length === number && broken.length >= MOST_FAILURES) throw error;
    }
    if (characters > textBytes)
      throw new IngestionError('too_large', `The PDF holds more than ${textBytes / 1e6} MB of text. Split it into several files.`);
    sink.progress(number, pdf.numPages);
  }
  if (broken.length === pdf.numPages) throw firstError;
  if (pages.length === 0)
    throw new IngestionError(
      'no_text_layer',
      'The PDF has pictures of pages but no text. Have its text recognised (OCR), and upload the result.',
    );
  if (broken.length > 0) sink.warn(`pages that could not be read, and are missing: ${pageList(broken)}`);
  if (empty.length > 0) sink.warn(`pages without text, perhaps scanned pictures: ${pageList(empty)}`);
  return pages;
}

async function readPage(pdf: PDFDocumentProxy, number: number, fonts: BoldFonts): Promise<Page> {
  const page = await pdf.getPage(number);
  try {
    const viewport = page.getViewport({ scale: 1 });
    const { items } = await page.getTextContent();
    await fonts.learn(page, items);
    return { number, height: viewport.height, ...pageLines(items, viewport.transform, (font) => fonts.isBold(font)) };
  } finally {
    page.cleanup();
  }
}

/** Titles of the bookmarks with their depth, from 1. */
async function bookmarks(pdf: PDFDocumentProxy): Promise<ReadonlyMap<string, number>> {
  const levels = new Map<string, number>();
  let open = ((await pdf.getOutline().catch(() => null)) ?? []) as readonly Bookmark[];
  for (let depth = 1; depth <= 6 && open.length > 0 && levels.size < 10_000; depth += 1) {
    for (const { title } of open) if (!levels.has(bookmarkKey(title))) levels.set(bookmarkKey(title), depth);
    open = open.flatMap(({ items }) => items);
  }
  levels.delete('');
  return levels;
}

interface Bookmark {
  readonly title: string;
  readonly items: readonly Bookmark[];
}

async function documentTitle(pdf: PDFDocumentProxy): Promise<string> {
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const title = 'Title' in info && typeof info.Title === 'string' ? oneLine(info.Title) : '';
  // What programs put there of their own accord is no title.
  return /^(?:untitled|microsoft word - .*|.*\.(?:docx?|odt|rtf|wpd|pptx?|xlsx?|indd|tex|dvi|qxd|pmd)\b.*|[a-z]:\\.*|\(?(?:anonymous|unspecified)\)?)$/iu.test(
    title,
  )
    ? ''
    : title;
}

/** Opens without a worker thread (this process is the worker), without fonts of the system, canvas, scripts or forms. */
async function openPdf(content: Buffer): Promise<PDFDocumentProxy> {
  const task = getDocument({
    data: new Uint8Array(content.buffer, content.byteOffset, content.byteLength),
    cMapUrl: pdfAsset('cmaps'),
    cMapPacked: true,
    standardFontDataUrl: pdfAsset('standard_fonts'),
    useSystemFonts: false,
    useWorkerFetch: false,
    useWasm: false,
    disableFontFace: true,
    // With their names, which say whether they are bold.
    fontExtraProperties: true,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    // A picture is never decoded for its text.
    maxImageSize: 0,
    verbosity: VerbosityLevel.ERRORS,
  });
  try {
    return await task.promise;
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException')
      throw new IngestionError('password_protected', 'The PDF opens only with a password. Save it without one, and upload it again.', {
        cause: error,
      });
    throw error;
  }
}

/** `1, 3-7, 12`, as a person writes it; the first twenty runs. */
function pageList(pages: readonly number[]): string {
  const runs: { first: number; last: number }[] = [];
  for (const page of pages) {
    const run = runs.at(-1);
    if (run?.last === page - 1) run.last = page;
    else runs.push({ first: page, last: page });
  }
  const shown = runs.slice(0, 20).map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`));
  return shown.join(', ') + (runs.length > 20 ? ` and ${runs.length - 20} more places` : '');
}
