/** What the analysis of calls is called in Temporal and where it runs: said once, for those who start it and those who run it. */

/** What travels through a history: which call, and nothing that was said in it. */
export interface AnalysisJob {
  readonly org: string;
  readonly callId: string;
}

/** @param prefix the installation's task queue, `parley` by default */
export function analysisQueue(prefix: string): string {
  return `${prefix}-call-analysis`;
}

export function analysisWorkflowId(callId: string): string {
  return `analyse-call/${callId}`;
}
