import { IngestionError } from '../../ingestion-failure.ts';
import type { ParsedExtension } from '../extension.ts';
import type { ChildMessage } from '../messages.ts';
import { checkSignature } from '../signature.ts';
import { BlockSink } from './block-sink.ts';
import type { ParsedDocument, Parser, ParserInput } from '../block.ts';
import { oneLine } from '../text/clean.ts';

const TITLE_CHARACTERS = 1024;

const parsers: Readonly<Record<ParsedExtension, () => Promise<Parser>>> = {
  pdf: async () => (await import('../formats/pdf/pdf.ts')).parsePdf,
  docx: async () => (await import('../formats/docx/docx.ts')).parseDocx,
  txt: async () => (await import('../formats/plain-text.ts')).parsePlainText,
  md: async () => (await import('../formats/markdown/markdown.ts')).parseMarkdown,
  xlsx: async () => (await import('../formats/spreadsheet/spreadsheet.ts')).parseSpreadsheet,
  xls: async () => (await import('../formats/spreadsheet/spreadsheet.ts')).parseSpreadsheet,
  html: async () => (await import('../formats/html/html.ts')).parseHtml,
};

/** Loads a format's module with its first file. */
export type LoadParser = (extension: ParsedExtension) => Promise<Parser>;

export const loadParser: LoadParser = (extension) => parsers[extension]();

interface ParseOptions {
  readonly load: LoadParser;
  readonly send: (message: ChildMessage) => void;
}

/** Reads one file to the end; sends its blocks. @returns the facts of the whole. @throws IngestionError and nothing else */
export async function parse(input: ParserInput, { load, send }: ParseOptions): Promise<ParsedDocument> {
  const sink = new BlockSink({ limits: input.limits, send });
  try {
    checkSignature(input.content, input.extension);
    const parser = await load(input.extension);
    const result = await parser(input, sink);
    if (sink.isEmpty) throw new IngestionError('empty_document', 'There is no text in this file.');
    sink.flush();
    const { title = '', ...facts } = result;
    const line = oneLine(title).slice(0, TITLE_CHARACTERS).toWellFormed();
    return { ...facts, ...(line !== '' && { title: line }), warnings: sink.warnings };
  } catch (error) {
    throw asFailure(error, input.extension);
  }
}

/** The libraries throw in many ways; only memory and depth can be distinguished from a damaged file. */
export function asFailure(error: unknown, extension: string): IngestionError {
  if (error instanceof IngestionError) return error;
  if (error instanceof RangeError && /call stack/iu.test(error.message))
    return new IngestionError('too_large', 'The file is nested too deeply to be read. Simplify its structure, or save it again.', {
      cause: error,
    });
  if (error instanceof RangeError && /invalid (array|string|typed array) length|allocation failed|out of memory/iu.test(error.message))
    return new IngestionError('parse_memory', 'The file takes too much memory to be read. Split it into several files.', {
      cause: error,
    });
  return new IngestionError(
    'corrupt_file',
    `The file can't be read as .${extension}: it is damaged or cut off. Open it where it was made, save it again, and upload that.`,
    { cause: error },
  );
}
