/** Starting the analysis of a call in Temporal. Every start is idempotent: what runs already is left running. */
import { Client, Connection, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';

import { tracedStarts } from '../../../platform/temporal/trace.ts';
import type { Temporal } from '../../../platform/temporal/access.ts';
import { analysisQueue, analysisWorkflowId, type AnalysisJob } from './names.ts';

export interface AnalysisJobs {
  /** @throws Error when Temporal doesn't take it on */
  analyse(job: AnalysisJob): Promise<void>;
  close(): Promise<void>;
}

export interface AnalysisJobsOptions extends Temporal {
  /** The installation's task queue, as the worker has it. */
  readonly taskQueue: string;
  /** Longest wait for Temporal, in milliseconds; 3,000 by default. */
  readonly timeoutMs?: number;
}

/** Connects when it is first used. */
export function createAnalysisJobs({ address, access, namespace, taskQueue, timeoutMs = 3_000 }: AnalysisJobsOptions): AnalysisJobs {
  const connection = Connection.lazy({ address, ...access, connectTimeout: timeoutMs });
  const client = new Client({ connection, namespace, interceptors: { workflow: [tracedStarts] } });
  return {
    async analyse(job) {
      await connection.withDeadline(Date.now() + timeoutMs, () =>
        client.workflow.start('analyseCall', {
          workflowId: analysisWorkflowId(job.callId),
          taskQueue: analysisQueue(taskQueue),
          args: [job],
          workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
          workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
          // Heeded by servers that know fairness: organisations take turns.
          priority: { fairnessKey: job.org },
        }),
      );
    },
    close: () => connection.close(),
  };
}
