import { expect, it } from 'vitest';

import { ProcPool } from '../../node_modules/@livekit/agents/dist/ipc/proc_pool.js';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { launchInLiveProcess, launchInLiveProcesses, type IdleProcessPool } from './process-pool.ts';
import { createLogger } from '../../platform/logging.ts';
import { AcceptedJobs } from '../accepted-jobs.ts';
import { SharedTurnDetector } from './shared-turn-detector.ts';

const running = { job: { id: 'job' } };

it('a job goes to the first process that lives, and each dead one is replaced', async () => {
  const launched: unknown[] = [];
  let replaced = 0;
  const ready = [false, false, true, true].map((isAlive, index) => ({
    proc: { isAlive, launchJob: async (job: unknown) => void launched.push([index, job]) },
    unlock: () => void (replaced += 1),
  }));
  const pool: IdleProcessPool = { warmedProcQueue: { get: async () => ready.shift()! } };
  const accepted = new AcceptedJobs(new FakeClock());
  accepted.accepted('job');
  const launching = launchInLiveProcess(pool, running, accepted);
  expect(accepted.size).toBe(1);
  await launching;
  expect(accepted.size).toBe(0);
  expect(launched).toEqual([[2, running]]);
  expect(replaced).toBe(3);
  expect(ready).toHaveLength(1);
});

it('the library launches its jobs that way', async () => {
  launchInLiveProcesses(new AcceptedJobs(new FakeClock()), new SharedTurnDetector(createLogger({ role: 'voice', level: 'silent' })));
  const launched: unknown[] = [];
  const pool = new ProcPool({
    agent: '',
    numIdleProcesses: 0,
    initializeTimeout: 0,
    closeTimeout: 0,
    sessionEndTimeout: 0,
    memoryWarnMB: 0,
    memoryLimitMB: 0,
  });
  for (const isAlive of [false, true])
    void pool.warmedProcQueue.put({
      proc: { isAlive, launchJob: async (job: unknown) => void launched.push(job) } as never,
      unlock: () => undefined,
    });
  await pool.launchJob(running as never);
  expect(launched).toEqual([running]);
});
