/**
 * Reranking: a model reads question and passages together and scores how well they fit. It is optional, and no search fails because of it.
 */
import type { Config } from '../../platform/config/config.ts';

/** A model that reranks; see PARLEY_RERANK_PROFILES. */
export type RerankProfile = Config['PARLEY_RERANK_PROFILES'][number];

export interface Reranked {
  /** Index of the passage in the request. */
  readonly index: number;
  /** Score from 0 to 1. */
  readonly score: number;
}

/** The outcome of one request: a label of `parley_rerank_request_seconds`. */
export type RerankOutcome =
  | 'answered'
  | 'timeout'
  | 'unavailable'
  | 'rate_limited'
  | 'unauthorized'
  | 'refused'
  | 'invalid_response'
  | 'misconfigured';

/** The message never holds a credential, a text or anything that the server said. */
export class RerankError extends Error {
  override readonly name = 'RerankError';
  readonly outcome: Exclude<RerankOutcome, 'answered'>;

  constructor(outcome: Exclude<RerankOutcome, 'answered'>, message: string) {
    super(message);
    this.outcome = outcome;
  }
}
