/**
 * LiveKit's agent server hands the next call to a process that it has kept ready, without asking whether that process still lives:
 * a call that meets one that was killed meanwhile would have no job, and its caller nobody to talk to.
 */

/** Of `@livekit/agents` 1.9.0, `ipc/proc_pool`. */
export interface Pool {
  readonly warmedProcQueue: {
    get(): Promise<{
      readonly proc: { readonly isAlive: boolean; launchJob(job: unknown): Promise<void> };
      /** Lets the pool start another one in its place. */
      readonly unlock: () => void;
    }>;
  };
}

/** Hands the job to the first process that lives. */
export async function launchInLiveProcess(pool: Pool, job: unknown): Promise<void> {
  for (;;) {
    const { proc, unlock } = await pool.warmedProcQueue.get();
    unlock();
    if (!proc.isAlive) continue;
    await proc.launchJob(job);
    return;
  }
}

/** For every agent server of this process, from now on. @throws Error where the library is another than it is known to be */
export async function launchOnlyInLiveProcesses(): Promise<void> {
  // No export of the package's leads there; its files do.
  const pool = new URL('ipc/proc_pool.js', import.meta.resolve('@livekit/agents'));
  const { ProcPool } = (await import(pool.href)) as { readonly ProcPool?: { readonly prototype: { launchJob?: unknown } } };
  if (typeof ProcPool?.prototype.launchJob !== 'function')
    throw new Error(`${pool.href} has no pool of processes whose launchJob could be replaced`);
  ProcPool.prototype.launchJob = function launchJob(this: Pool, job: unknown): Promise<void> {
    return launchInLiveProcess(this, job);
  };
}
