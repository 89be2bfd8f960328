/**
 * LiveKit's agent server hands the next call to an idle process without checking that it still lives: a call that gets a killed one has no agent.
 * The model of its turn detection is {@link SharedTurnDetector} in place of a process of its own.
 */
// The package exports neither; its files do, in the bundle too.
import { InferenceProcExecutor } from '../../node_modules/@livekit/agents/dist/ipc/inference_proc_executor.js';
import { ProcPool } from '../../node_modules/@livekit/agents/dist/ipc/proc_pool.js';
import type { AcceptedJobs } from '../accepted-jobs.ts';
import type { SharedTurnDetector } from './shared-turn-detector.ts';

interface RunningJob {
  readonly job: { readonly id: string };
}

/** The part of `ProcPool` in use; its type hides that its processes know whether they live. */
export interface IdleProcessPool {
  readonly warmedProcQueue: {
    get(): Promise<{
      readonly proc: { readonly isAlive: boolean; launchJob(job: RunningJob): Promise<void> };
      /** Lets the pool start another process in its place. */
      readonly unlock: () => void;
    }>;
  };
}

/** Launches the job in the first idle process that lives. */
export async function launchInLiveProcess(pool: IdleProcessPool, job: RunningJob, accepted: AcceptedJobs): Promise<void> {
  const { id } = job.job;
  accepted.assigned(id);
  try {
    for (;;) {
      const { proc, unlock } = await pool.warmedProcQueue.get();
      unlock();
      if (!proc.isAlive) continue;
      // From here on the agent server counts it itself.
      accepted.launched(id);
      await proc.launchJob(job);
      return;
    }
  } finally {
    accepted.launched(id);
  }
}

export function launchInLiveProcesses(accepted: AcceptedJobs, turnDetector: SharedTurnDetector): void {
  ProcPool.prototype.launchJob = function launchJob(job): ReturnType<ProcPool['launchJob']> {
    return launchInLiveProcess(this as unknown as IdleProcessPool, job, accepted);
  };
  InferenceProcExecutor.createIfNeeded = () => turnDetector as unknown as InferenceProcExecutor;
}
