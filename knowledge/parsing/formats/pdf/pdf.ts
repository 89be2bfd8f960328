import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';

import { IngestionFailure } from '../../../ingestion-failure.ts';
import type { Sink } from '../../child/block-sink.ts';
import type { Parser } from '../../child/parser.ts';
import { oneLine } from '../../text/clean.ts';
import { legacyFontWarning, looksLikeLegacyBangla } from '../../text/legacy-bangla.ts';
import { Outline } from '../../text/outline.ts';
import { BoldFonts } from './bold-fonts.ts';
import { bookmarkKey, Headings } from './headings.ts';
import { openPdf } from './open.ts';
import { pageLines, type Line } from './page-lines.ts';
import { pageList } from './page-list.ts';
import { paragraphsOf } from './paragraphs.ts';
import { readingOrder } from './reading-order.ts';
import { runningLines, type PageOfLines } from './running-lines.ts';

interface Page extends PageOfLines {
  readonly turned: readonly Line[];
}

/** A file whose pages all fail is damaged; so many in a row are enough to say so. */
const mostFailures = 50;

/** PDFs by where their text stands: lines, columns, paragraphs, headings. The whole is read before the first block, to know its headers. */
export const parsePdf: Parser = async (input, sink) => {
  const pdf = await openPdf(input.content);
  if (pdf.numPages > input.limits.pages)
    throw new IngestionFailure(
      'too_large',
      `The PDF has ${pdf.numPages} pages; the limit is ${input.limits.pages}. Split it into several files.`,
    );
  const pages = await readPages(pdf, sink, input.limits.textBytes);
  const running = runningLines(pages);
  const paragraphs = pages.flatMap((page) => {
    const body = paragraphsOf(readingOrder(page.lines.filter((line) => !running.all.has(line))), page.number);
    // Never a heading, however large.
    const beside = [...page.turned, ...page.lines.filter((line) => running.first.has(line))];
    return body.concat(beside.map(({ text }) => ({ page: page.number, text, size: 0, isListItem: false, isBold: false })));
  });
  const headings = new Headings(paragraphs, await bookmarks(pdf));
  const outline = new Outline();
  for (const paragraph of paragraphs) {
    const { page, text } = paragraph;
    const level = headings.level(paragraph);
    if (level !== undefined) sink.add({ kind: 'heading', text, page, headingPath: outline.enter(level, oneLine(text)) });
    else sink.add({ kind: paragraph.isListItem ? 'listItem' : 'paragraph', text, page, headingPath: outline.path });
  }
  if (looksLikeLegacyBangla(paragraphs.map(({ text }) => text).join(' '))) sink.warn(legacyFontWarning);
  const title = await documentTitle(pdf);
  return { pages: pdf.numPages, ...(title === '' ? {} : { title }) };
};

/** @throws IngestionFailure `no_text_layer` when no page has any text; what pdf.js throws when no page can be read */
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
      if (broken.length === number && broken.length >= mostFailures) throw error;
    }
    if (characters > textBytes)
      throw new IngestionFailure('too_large', `The PDF holds more than ${textBytes / 1e6} MB of text. Split it into several files.`);
    sink.progress(number, pdf.numPages);
  }
  if (broken.length === pdf.numPages) throw firstError;
  if (pages.length === 0)
    throw new IngestionFailure(
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
