/** Why a document could not be ingested: the code is API, the message is for a person. */

/** In the order of the pipeline. Shown to clients as `error.code`, and never renamed. */
export const INGESTION_FAILURE_CODES = [
  'unsupported_content',
  'too_large',
  'password_protected',
  'corrupt_file',
  'empty_document',
  'no_text_layer',
  'parse_timeout',
  'parse_memory',
  'all_pages_failed',
  'embedding_failed',
  'stalled',
] as const;

export type IngestionFailureCode = (typeof INGESTION_FAILURE_CODES)[number];

/** The document itself is at fault: another attempt would end the same. Whatever else is thrown may be tried again. */
export class IngestionError extends Error {
  override readonly name = 'IngestionError';
  readonly code: IngestionFailureCode;

  /** @param message what is wrong with the document and what to do about it, without any of its text */
  constructor(code: IngestionFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
