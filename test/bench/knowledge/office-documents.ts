/** Small documents of shops, hotels and offices in twelve languages, written as the files that people have, and what callers ask of them. */
import { readFile } from 'node:fs/promises';

import * as XLSX from '@e965/xlsx';

import type { ParsedExtension } from '../../../knowledge/parsing/index.ts';
import { makeDocx, wordParagraph, wordStyles, wordTable } from '../../support/documents/make-office.ts';
import { makePdf, type PdfText } from '../../support/documents/make-pdf.ts';

export interface OfficeDocument {
  readonly name: string;
  readonly format: Extract<ParsedExtension, 'docx' | 'html' | 'md' | 'pdf' | 'xlsx'>;
  readonly title: string;
  /** Columns of its table, if it has one. */
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
  readonly sections: readonly { readonly heading: string; readonly text: string }[];
}

export interface OfficeDocuments {
  /** BCP 47 tag. */
  readonly language: string;
  readonly documents: readonly OfficeDocument[];
  /** Questions with the answer as it stands in one of the documents. */
  readonly questions: readonly { readonly question: string; readonly answer: string }[];
}

export async function readOfficeDocuments(): Promise<readonly OfficeDocuments[]> {
  return JSON.parse(await readFile(new URL('testdata/office-documents.json', import.meta.url), 'utf8')) as readonly OfficeDocuments[];
}

/** Writes the file as a person would have saved it. */
export function fileOf(document: OfficeDocument): Buffer {
  return writers[document.format](document);
}

const tableOf = ({ columns, rows = [] }: OfficeDocument): readonly (readonly string[])[] =>
  columns === undefined ? [] : [columns, ...rows];

const writers: Readonly<Record<OfficeDocument['format'], (document: OfficeDocument) => Buffer>> = {
  docx: (document) => {
    const table = tableOf(document).map((row) => row.map(escaped));
    const sections = document.sections.map(
      ({ heading, text }) => wordParagraph(escaped(heading), 'Heading2') + wordParagraph(escaped(text)),
    );
    const body = [wordParagraph(escaped(document.title), 'Heading1'), table.length > 0 ? wordTable(table) : '', ...sections];
    return makeDocx({ body: body.join(''), parts: [wordStyles] });
  },
  html: ({ title, sections }) => {
    const panels = sections.map(
      ({ heading, text }) =>
        `<div class="accordion-item"><h2 class="accordion-header"><button class="accordion-button collapsed">${escaped(heading)}</button></h2>
<div class="accordion-collapse collapse"><div class="accordion-body">${escaped(text)}</div></div></div>`,
    );
    return Buffer.from(
      `<!doctype html><html><head><meta charset="utf-8"><title>${escaped(title)}</title></head><body><nav><a href="/">Home</a></nav>
<main><h1>${escaped(title)}</h1><div class="accordion">${panels.join('\n')}</div></main><footer>© 2026</footer></body></html>`,
    );
  },
  md: ({ title, sections }) => Buffer.from(`# ${title}\n\n${sections.map(({ heading, text }) => `## ${heading}\n\n${text}\n`).join('\n')}`),
  pdf: (document) => {
    let y = 760;
    const texts: PdfText[] = [{ text: document.title, y: 800, size: 18 }];
    for (const row of tableOf(document)) texts.push(...row.map((text, at) => ({ text, x: 72 + 150 * at, y: (y -= at === 0 ? 18 : 0) })));
    for (const { heading, text } of document.sections) {
      texts.push({ text: heading, y: (y -= 30), isBold: true });
      for (const line of wrapped(text, 80)) texts.push({ text: line, y: (y -= 14) });
    }
    return makePdf([texts]);
  },
  xlsx: (document) => {
    const book = XLSX.utils.book_new();
    const rows = [[document.title], [], ...tableOf(document).map((row) => row.slice())];
    XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet(rows), 'Sheet1');
    return Buffer.from(XLSX.write(book, { type: 'buffer', bookType: 'xlsx' }) as Uint8Array);
  },
};

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
