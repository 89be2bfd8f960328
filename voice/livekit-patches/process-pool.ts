/**
 * Replaces LiveKit's pool, which has one process for each call, by Parley's processes, which calls can share. The model of the turn
 * detection is
 * {@link SharedTurnModel} in place of a process of its own.
 */
import type { RunningJobInfo } from '@livekit/agents';

// The package doesn't export these two; its files do, in the bundle too.
import { InferenceProcExecutor } from '../../node_modules/@livekit/agents/dist/ipc/inference_proc_executor.js';
import { ProcPool } from '../../node_modules/@livekit/agents/dist/ipc/proc_pool.js';
import type { JobProcesses } from '../job-processes/job-processes.ts';
import { expectFunctions } from './livekit-error.ts';
import type { SharedTurnModel } from '../sound/shared-turn-model.ts';

export function replaceProcessPool(
  processes: Pick<JobProcesses, 'open' | 'live' | 'launch' | 'close'>,
  turnDetector: SharedTurnModel,
): void {
  const pool = {
    start: () => processes.open(),
    launchJob: async (job: RunningJobInfo) => processes.launch(job),
    getByJobId: (id: string) => processes.live.find(({ runningJob }) => runningJob.job.id === id) ?? null,
    close: () => processes.close(),
  };
  expectFunctions('ProcPool', ProcPool.prototype, Object.keys(pool));
  expectFunctions('InferenceProcExecutor', InferenceProcExecutor, ['createIfNeeded']);
  Object.assign(ProcPool.prototype, pool);
  Object.defineProperty(ProcPool.prototype, 'processes', { configurable: true, get: () => processes.live });
  InferenceProcExecutor.createIfNeeded = () => turnDetector as unknown as InferenceProcExecutor;
}
