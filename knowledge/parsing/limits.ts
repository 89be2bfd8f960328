import { kindOf, type ParsedExtension } from './extension.ts';

/** The resources that a file may cost. Each limit is far above the needs of honest files and far below harm to the machine. */
export interface ParserLimits {
  readonly fileBytes: number;
  /** Resident memory of the child, in bytes; polled, so that it may be passed for a tenth of a second. */
  readonly residentBytes: number;
  /** Milliseconds for any file, and further ones for each MB of it. Time in which the blocks are not read does not count. */
  readonly baseMs: number;
  readonly msPerMegabyte: number;
  /**
   * Milliseconds of processor time for text and markup, and further ones for each MB of it: an honest file takes a fifth, and there are
   * ways to write one that takes for ever.
   */
  readonly textProcessorMs: number;
  readonly textProcessorMsPerMegabyte: number;
  /** UTF-8 bytes of text that one file may yield. */
  readonly textBytes: number;
  readonly blocks: number;
  readonly pages: number;
  readonly cells: number;
}

export const DEFAULT_LIMITS: ParserLimits = {
  fileBytes: 200_000_000,
  residentBytes: 1_500_000_000,
  baseMs: 120_000,
  msPerMegabyte: 1000,
  textProcessorMs: 20_000,
  textProcessorMsPerMegabyte: 20_000,
  textBytes: 20_000_000,
  blocks: 500_000,
  pages: 5000,
  cells: 1_000_000,
};

/** Additional time for each page that is drawn; one takes less than half a second. */
export const MS_PER_PICTURE = 10_000;

/** Returns the processor time that a file of `bytes` may take, in milliseconds. */
export function processorTimeMs(extension: ParsedExtension, bytes: number, limits: ParserLimits): number {
  if (kindOf(extension) !== 'plain') return Number.POSITIVE_INFINITY;
  return limits.textProcessorMs + (bytes / 1e6) * limits.textProcessorMsPerMegabyte;
}

/** Resident memory of all parser processes, in bytes: a file that needs all of its own limit leaves room for ordinary ones. */
export const SHARED_PARSER_BYTES = 2_000_000_000;

/** Processor time that no file needs: a backstop for a process whose parent was killed and can't end it. */
export const PROCESSOR_SECONDS = 900;

/** Memory that a process is expected to take at first; another one is started only where the shared memory has room for it. */
export const NEW_PROCESS_BYTES = 80_000_000;

/** Larger files get a new process: only so much of a file is kept to read it once more. */
export const READ_AHEAD_BYTES = 1_000_000;

/** How long the first file in the queue waits before another process is started, in milliseconds. */
export const START_ANOTHER_MS = 500;

/** How long a process waits for files, in milliseconds. */
export const IDLE_MS = 60_000;

/** Size of the JavaScript heap in the child, in MB. Buffers come on top and count as resident memory only. */
export const HEAP_MEGABYTES = 768;

/** Limits on the contents of archives (docx, xlsx) before anything is read from them. */
export const ARCHIVE_LIMITS = {
  entries: 10_000,
  inflatedBytes: 300_000_000,
  /** Most inflated bytes for each packed one, counted once an archive has inflated to `ratioFloorBytes`. */
  ratio: 200,
  ratioFloorBytes: 20_000_000,
} as const;

/** Most elements inside one another, in any markup. Word and browsers stay below 60. */
export const NESTING_LIMIT = 256;

/** Most paragraphs and table cells in one docx. A thousand-page book has about 20,000. */
export const docxLimits = { paragraphs: 100_000, cells: 100_000, nestedTables: 20 } as const;

/** Most bytes of one web page. */
export const HTML_BYTES = 5_000_000;
