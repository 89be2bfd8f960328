/**
 * What LiveKit's agent server does otherwise with its processes here.
 *
 * It hands the next call to a process that it has kept ready, without asking whether that process still lives:
 * a call that meets one that was killed meanwhile would have no job, and its caller nobody to talk to. And it starts one more for
 * a model that tells the ends of turns, which no agent uses: turns end by the voice alone.
 */
// No export of the package's leads there; its files do, in the bundle too.
import { InferenceProcExecutor } from '../node_modules/@livekit/agents/dist/ipc/inference_proc_executor.js';
import { ProcPool } from '../node_modules/@livekit/agents/dist/ipc/proc_pool.js';
import type { TakenJobs } from './taken-jobs.ts';

/** Of `@livekit/agents` 1.9.0: what a process is told of its job. */
export interface RunningJob {
  readonly job: { readonly id: string };
}

/** Of `@livekit/agents` 1.9.0, `ipc/proc_pool`. */
export interface Pool {
  readonly warmedProcQueue: {
    get(): Promise<{
      readonly proc: { readonly isAlive: boolean; launchJob(job: RunningJob): Promise<void> };
      /** Lets the pool start another one in its place. */
      readonly unlock: () => void;
    }>;
  };
}

/** Hands the job to the first process that lives. */
export async function launchInLiveProcess(pool: Pool, job: RunningJob, taken: TakenJobs): Promise<void> {
  const { id } = job.job;
  taken.assigned(id);
  try {
    for (;;) {
      const { proc, unlock } = await pool.warmedProcQueue.get();
      unlock();
      if (!proc.isAlive) continue;
      // From here on the agent server counts it itself.
      taken.placed(id);
      await proc.launchJob(job);
      return;
    }
  } finally {
    taken.placed(id);
  }
}

/** For every agent server of this process, from now on. */
export function changeAgentServerProcesses(taken: TakenJobs): void {
  ProcPool.prototype.launchJob = function launchJob(job): ReturnType<ProcPool['launchJob']> {
    // Its processes say whether they live; their type does not.
    return launchInLiveProcess(this as unknown as Pool, job, taken);
  };
  InferenceProcExecutor.createIfNeeded = () => undefined;
}
