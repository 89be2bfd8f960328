/**
 * The messages between the parent and its child. To the child: one JSON line, then the file, then the end of the stream.
 * From the child: JSON lines.
 */
import type { IngestionFailureCode } from '../ingestion-failure.ts';
import type { Block, ParsedDocument } from './block.ts';
import type { ParserLimits } from './limits.ts';

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
  readonly limits: ParserLimits;
}

export interface ParseProgress {
  /** Pages, sheets or bytes, as the kind of file goes. */
  readonly done: number;
  readonly total: number;
}

export type ChildMessage =
  | { readonly type: 'blocks'; readonly blocks: readonly Block[] }
  | ({ readonly type: 'progress' } & ParseProgress)
  | { readonly type: 'document'; readonly document: ParsedDocument }
  | { readonly type: 'failure'; readonly code: IngestionFailureCode; readonly message: string; readonly detail?: string };
