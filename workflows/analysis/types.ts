import type { AnalysisJob } from '../../calls/analysis/names.ts';

/** How the analysis of a call ended. `gone`: there is nothing to be done for it any more. */
export type AnalysisEnd = 'completed' | 'failed' | 'gone';

/** What travels is codes and messages for people, never a word of the call, a result or a key. */
export interface AnalysisActivities {
  /** Asks the model and stores its results, with their event. */
  analyse(job: AnalysisJob): Promise<AnalysisEnd>;
  /** Ends a failed analysis. */
  giveUp(job: AnalysisJob, error: { readonly code: string; readonly message: string }): Promise<AnalysisEnd>;
}

/** Failures that the model's provider, or its settings, are the reason of; their detail is the code. */
export const MODEL_FAILURE = 'ModelFailure';
