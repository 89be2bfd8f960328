/** Reranking: a model reads question and passages together and says how well they fit. Optional, and never what a search fails of. */
import type { ModelFailure } from '../model-outcome.ts';
import type { Config } from '../../platform/config/config.ts';

/** A model that reranks; see PARLEY_RERANK_PROFILES. */
export type RerankProfile = Config['PARLEY_RERANK_PROFILES'][number];

export interface Reranked {
  readonly index: number;
  /** Score from 0 to 1. */
  readonly score: number;
}

/** The message never holds a credential, a text or anything that the server said. */
export class RerankError extends Error {
  override readonly name = 'RerankError';
  readonly outcome: ModelFailure;

  constructor(outcome: ModelFailure, message: string) {
    super(message);
    this.outcome = outcome;
  }
}
