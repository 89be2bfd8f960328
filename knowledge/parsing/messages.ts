/**
 * The messages between the parent and a parser process. To the process, for each file: frames with the task as JSON, with the file, and an
 * empty one. From it: JSON lines, of which a document or a failure is a file's last.
 */
import type { IngestionFailureCode } from '../ingestion-failure.ts';
import type { ParsedBlock, ParsedDocument } from './block.ts';
import type { ParserLimits } from './limits.ts';

/** Descriptors of the process. Not standard input: to load a library may be enough to open that one, and it would no longer wait then. */
export const PARSER_OUTPUT = 3;
export const PARSER_INPUT = 4;

/** What the parsers understand: the extensions of uploaded files, and `html` for websites. Lower case, without the dot. */
export const PARSED_EXTENSIONS = ['pdf', 'docx', 'txt', 'md', 'xlsx', 'xls', 'html'] as const;

export type ParsedExtension = (typeof PARSED_EXTENSIONS)[number];

/** What a parser needs in addition to the bytes. */
export interface ParserTask {
  readonly extension: ParsedExtension;
  /** Of the response that a web page came in; names its charset. */
  readonly contentType?: string | undefined;
  /** Address of a web page, kept as the place of its blocks. */
  readonly url?: string | undefined;
  /** How many pages without readable text are wanted as pictures; none where absent. */
  readonly pictures?: number | undefined;
  readonly limits: ParserLimits;
}

/**
 * Plain formats are text that Parley decodes itself. Binary ones are read by large libraries, so they have processes of their own.
 */
export type ParserKind = 'plain' | 'binary';

const PLAIN: ReadonlySet<ParsedExtension> = new Set(['txt', 'md', 'html']);

export function kindOf(extension: ParsedExtension): ParserKind {
  return PLAIN.has(extension) ? 'plain' : 'binary';
}

export interface ParseProgress {
  /** Pages, sheets or bytes, as the kind of file goes. */
  readonly done: number;
  readonly total: number;
}

/** How a process is after a file. Its own word: what must hold is watched from outside. */
export interface ProcessReport {
  readonly residentBytes: number;
  /** Since its start. */
  readonly processorMs: number;
  /** What the file left behind: work that goes on, or changed objects of the language. */
  readonly remains?: string;
}

export type ChildMessage =
  | { readonly type: 'blocks'; readonly blocks: readonly ParsedBlock[] }
  | ({ readonly type: 'progress' } & ParseProgress)
  | { readonly type: 'document'; readonly document: ParsedDocument; readonly process: ProcessReport }
  | {
      readonly type: 'failure';
      readonly code: IngestionFailureCode;
      readonly message: string;
      readonly detail?: string;
      /** Came as an error of a library, not by a check of Parley's. */
      readonly isUnexpected: boolean;
      /** Absent when the process ends with the failure. */
      readonly process?: ProcessReport;
    };
