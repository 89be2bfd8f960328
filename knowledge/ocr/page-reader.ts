/** Optical character recognition: the text of pages that only have pictures. Optional, and never what an ingestion fails of. */
import type { ModelFailure } from '../model-outcome.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Block } from '../parsing/index.ts';

/** The settings of a page reader; see PARLEY_OCR. */
export type OcrProfile = NonNullable<Config['PARLEY_OCR']>;

/** The text of one page: Markdown, or blocks without a place. */
export type RecognisedPage = { readonly markdown: string } | { readonly blocks: readonly Block[] };

export interface PageReader {
  readonly maxPages: number;
  readonly concurrency: number;
  /** Time limit for all pages of one document, in milliseconds: none is begun after. */
  readonly documentTimeoutMs: number;
  /** @param png the picture of one page @throws OcrError; the signal's reason */
  read(png: Buffer, signal?: AbortSignal): Promise<RecognisedPage>;
}

/** It would end the same for every page. */
const LASTING: ReadonlySet<ModelFailure> = new Set(['unauthorized', 'misconfigured']);
/** The next attempt may end otherwise. */
const PASSING: ReadonlySet<ModelFailure> = new Set(['unavailable', 'rate_limited']);

/** The owner of the document sees the message: it names no address, credential or text. */
export class OcrError extends Error {
  override readonly name = 'OcrError';
  readonly outcome: ModelFailure;
  /** What the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(outcome: ModelFailure, message: string, retryAfterMs?: number) {
    super(message);
    this.outcome = outcome;
    this.retryAfterMs = retryAfterMs;
  }

  get isLasting(): boolean {
    return LASTING.has(this.outcome);
  }

  get retryable(): boolean {
    return PASSING.has(this.outcome);
  }
}

/** A document has pages to recognise, and this attempt at it has no time for that. */
export class NoTimeForPagesError extends Error {
  override readonly name = 'NoTimeForPagesError';
}

/** Replaces a reader where a document may take no longer than a small one does: reading a page fails. */
export function withoutTime(reader: PageReader | undefined): PageReader | undefined {
  return (
    reader && { ...reader, read: () => Promise.reject(new NoTimeForPagesError('the document has pages whose text is to be recognised')) }
  );
}
