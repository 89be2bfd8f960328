/** Queue and workflow ids of the analysis of calls, for those who start it and those who run it. */

/** Temporal stores it in its histories: it names the call, and holds nothing that was said. */
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
