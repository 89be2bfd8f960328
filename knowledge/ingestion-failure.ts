/** Failures of ingestion: the code is API, the message is for a person. */

/** The codes in the order of the pipeline. Clients see them as `error.code`; they are never renamed. */
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

/** The document itself is at fault: another attempt would end the same. All other errors may be retried. */
export class IngestionError extends Error {
  override readonly name = 'IngestionError';
  readonly code: IngestionFailureCode;

  /** @param message the document's fault and its cure, without any of its text */
  constructor(code: IngestionFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
