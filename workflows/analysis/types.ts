import type { AnalysisJob } from '../../calls/analysis/names.ts';

/** The outcome of a call's analysis. `gone`: nothing is left to do. */
export type AnalysisEnd = 'completed' | 'failed' | 'gone';

/** Histories get codes and messages for people, never a word of the call, a result or a key. */
export interface AnalysisActivities {
  /** Asks the model and stores its results, with their event. */
  analyse(job: AnalysisJob): Promise<AnalysisEnd>;
  giveUp(job: AnalysisJob, error: { readonly code: string; readonly message: string }): Promise<AnalysisEnd>;
}

/** Failures caused by the model's provider or its settings; their detail is the code. */
export const MODEL_FAILURE = 'ModelFailure';
