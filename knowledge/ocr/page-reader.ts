/** Optical character recognition: reads the text of pages that only have pictures. It is optional, and no ingestion fails because of it. */
import type { Config } from '../../platform/config/config.ts';
import type { Block } from '../parsing/index.ts';

/** The settings of a page reader; see PARLEY_OCR. */
export type OcrProfile = NonNullable<Config['PARLEY_OCR']>;

/** The text of one page: Markdown, or blocks without a place. */
export type RecognisedPage = { readonly markdown: string } | { readonly blocks: readonly Block[] };

export interface PageReader {
  /** Most pages of one document that are read. */
  readonly maxPages: number;
  /** Pages that are read at the same time. */
  readonly concurrency: number;
  /** Time limit for all pages of one document, in milliseconds: none is begun after. */
  readonly documentTimeoutMs: number;
  /** @param png the picture of one page @throws OcrError; the signal's reason */
  read(png: Buffer, signal?: AbortSignal): Promise<RecognisedPage>;
}

/** The outcome of reading one page: a label of `parley_ocr_page_seconds`. */
export type OcrOutcome =
  | 'answered'
  | 'timeout'
  | 'unavailable'
  | 'rate_limited'
  | 'unauthorized'
  | 'refused'
  | 'invalid_response'
  | 'misconfigured';

/** Outcomes that would be the same for every page. */
const LASTING: ReadonlySet<OcrOutcome> = new Set(['unauthorized', 'misconfigured']);
/** Outcomes that another attempt may change. */
const PASSING: ReadonlySet<OcrOutcome> = new Set(['unavailable', 'rate_limited']);

/** The owner of the document sees the message: it names no address, credential or text. */
export class OcrError extends Error {
  override readonly name = 'OcrError';
  readonly outcome: Exclude<OcrOutcome, 'answered'>;
  /** The server's Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(outcome: Exclude<OcrOutcome, 'answered'>, message: string, retryAfterMs?: number) {
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
