/**
 * Starts the analyses that are due. The SQL trigger `calls_are_analysed` (store/migrations/0012_call_analysis.sql) adds a call's row in the transaction
 * that ends the call, and the row stays until there is an outcome: whatever dies in between, a worker finds the row here and starts it again.
 */
import type { Clock } from '../../../platform/clock.ts';
import { every } from '../../../platform/every.ts';
import type { Logger } from '../../../platform/logging.ts';
import { traceContextOf } from '../../../platform/telemetry/trace-context.ts';
import { continueTrace } from '../../../platform/telemetry/tracing.ts';
import type { WorkflowStarter } from '../../../platform/temporal/workflow-starter.ts';
import type { CallStore } from '../../../store/index.ts';
import { analysisQueue, analysisWorkflowId, type AnalysisJob } from './names.ts';

const INTERVAL_MS = 1_000;
const LONGEST_INTERVAL_MS = 15_000;
/** An analysis that was started and has no outcome after this is started again: Temporal knows whether it still runs. In milliseconds. */
const RESTART_AFTER_MS = 120_000;
const BATCH_SIZE = 100;

export interface AnalysisStarterOptions {
  readonly analyses: Pick<CallStore['analyses'], 'due' | 'begun'>;
  readonly workflows: Pick<WorkflowStarter, 'start'>;
  /** The installation's task queue, as the worker has it. */
  readonly taskQueue: string;
  readonly clock: Clock;
  /** 0 ≤ x < 1 */
  readonly random: () => number;
  readonly logger: Logger;
}

/** Runs until the signal aborts. Safe to run on several replicas. */
export function keepStartingAnalyses(
  { analyses, workflows, taskQueue, ...loop }: AnalysisStarterOptions,
  signal: AbortSignal,
): Promise<void> {
  const start = (job: AnalysisJob): Promise<void> =>
    workflows.start('analyseCall', {
      workflowId: analysisWorkflowId(job.callId),
      taskQueue: analysisQueue(taskQueue),
      args: [job],
      fairnessKey: job.org,
    });
  const failure = 'failed to start analyses of calls; retrying';
  return every({ ...loop, intervalMs: INTERVAL_MS, longestIntervalMs: LONGEST_INTERVAL_MS, failure, signal }, async () => {
    const due = await analyses.due({ limit: BATCH_SIZE });
    for (const { org, id, traceparent } of due) {
      if (signal.aborted) return undefined;
      await continueTrace(traceContextOf(traceparent), () => start({ org, callId: id }));
      await analyses.begun({ org, id, lookAgainInMs: RESTART_AFTER_MS });
    }
    return due.length === BATCH_SIZE ? 'again' : undefined;
  });
}
