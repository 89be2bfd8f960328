/**
 * Temporal workers of one process that run their workflows in one thread. By default each has a thread of its own, with Temporal's protocol
 * and the bundle in it: 65 MB for each task queue, and workflows compute for some milliseconds at a time. Their code is ours alone and
 * terminates, so no call into it is timed: for a timeout Node would start a thread each time, a dozen for each workflow.
 */
import { Worker, type Logger } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

type Activities = CompiledWorkerOptions['activities'];

/**
 * @param activities the activities of all the workers: a workflow may call only a local activity whose name its thread knows
 * @returns a class whose workers share a thread, which ends with the last of them; all have to have the same bundle
 */
export function workerOnOneThread(activities: Activities): Pick<typeof Worker, 'create'> {
  let thread: Promise<WorkflowCreator> | undefined;
  let users = 0;
  return class OneThreadWorker extends Worker {
    protected static override async createWorkflowCreator(
      bundle: WorkflowBundleWithSourceMapAndFilename,
      options: CompiledWorkerOptions,
      logger: Logger,
    ): Promise<WorkflowCreator> {
      thread ??= super.createWorkflowCreator(
        bundle,
        { ...options, activities, isolateExecutionTimeoutMs: undefined as unknown as number },
        logger,
      );
      users += 1;
      const shared = await thread;
      return {
        createWorkflow: (workflow) => shared.createWorkflow(workflow),
        async destroy() {
          users -= 1;
          if (users === 0) await shared.destroy();
        },
      };
    }
  };
}
