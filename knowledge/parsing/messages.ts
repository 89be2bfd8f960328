/**
 * The messages between the parent and a parser process. For each file, the process gets frames with the task as JSON, with the file, and an
 * empty one. It answers JSON lines; a file's last line is a document or a failure.
 */
import type { IngestionFailureCode } from '../ingestion-failure.ts';
import type { ParsedBlock, ParsedDocument } from './block.ts';

/** Descriptors of the process. They avoid standard input: loading a library may already open it, and it would no longer wait then. */
export const PARSER_OUTPUT = 3;
export const PARSER_INPUT = 4;

export interface ParseProgress {
  /** Progress in pages, sheets or bytes, by the kind of file. */
  readonly done: number;
  readonly total: number;
}

/** A process's own report after a file. The parent watches all hard limits. */
export interface ProcessReport {
  readonly residentBytes: number;
  /** Processor time since its start. */
  readonly processorMs: number;
  /** Remains of the file: work that goes on, or changed objects of the language. */
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
      /** True if a library threw it, and no check of Parley's. */
      readonly isUnexpected: boolean;
      /** Absent when the process ends with the failure. */
      readonly process?: ProcessReport;
    };
