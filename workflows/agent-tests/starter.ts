/**
 * Starts the test runs that are due. Whoever wants a run writes its row (store/agent-tests), and the row is due until the run is over: whatever dies
 * in between, a worker finds it here and starts it again.
 */
import type { Clock } from '../../platform/clock.ts';
import { every } from '../../platform/every.ts';
import type { Logger } from '../../platform/logging.ts';
import type { WorkflowStarter } from '../../platform/temporal/workflow-starter.ts';
import type { Store } from '../../store/index.ts';
import { agentTestQueues, testRunWorkflowId, type TestRunJob } from './types.ts';

const INTERVAL_MS = 500;
const LONGEST_INTERVAL_MS = 15_000;
/** A run that was started and is not over after this is started again: Temporal knows whether it still runs. In milliseconds. */
const RESTART_AFTER_MS = 60_000;
const BATCH_SIZE = 100;

export interface TestRunStarterOptions {
  readonly testRuns: Pick<Store['testRuns'], 'due' | 'begun'>;
  readonly workflows: Pick<WorkflowStarter, 'start'>;
  /** The installation's task queue, as the worker has it. */
  readonly taskQueue: string;
  readonly clock: Clock;
  /** 0 ≤ x < 1 */
  readonly random: () => number;
  readonly logger: Logger;
}

/** Runs until the signal aborts. Safe to run on several replicas. */
export function keepStartingTestRuns(
  { testRuns, workflows, taskQueue, ...loop }: TestRunStarterOptions,
  signal: AbortSignal,
): Promise<void> {
  const failure = 'failed to start runs of agent tests; retrying';
  return every({ ...loop, intervalMs: INTERVAL_MS, longestIntervalMs: LONGEST_INTERVAL_MS, failure, signal }, async () => {
    const due = await testRuns.due({ limit: BATCH_SIZE });
    for (const { org, id, agentUid, revision } of due) {
      if (signal.aborted) return undefined;
      const job: TestRunJob = { org, runId: id };
      await workflows.start('runAgentTests', {
        workflowId: testRunWorkflowId({ agentUid, revision, id }),
        taskQueue: agentTestQueues(taskQueue).text,
        args: [job],
        fairnessKey: org,
      });
      await testRuns.begun({ org, id, lookAgainInMs: RESTART_AFTER_MS });
    }
    return due.length === BATCH_SIZE ? 'again' : undefined;
  });
}
