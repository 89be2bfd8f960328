import { expect, it } from 'vitest';

import { launchInLiveProcess, launchOnlyInLiveProcesses, type Pool } from './live-processes.ts';

it('a job goes to the first process that lives, and each that was taken is replaced', async () => {
  const launched: unknown[] = [];
  let replaced = 0;
  const ready = [false, false, true, true].map((isAlive, index) => ({
    proc: { isAlive, launchJob: async (job: unknown) => void launched.push([index, job]) },
    unlock: () => void (replaced += 1),
  }));
  const pool: Pool = { warmedProcQueue: { get: async () => ready.shift()! } };
  await launchInLiveProcess(pool, 'job');
  expect(launched).toEqual([[2, 'job']]);
  expect(replaced).toBe(3);
  expect(ready).toHaveLength(1);
});

it('the library is as it is known to be', async () => {
  await expect(launchOnlyInLiveProcesses()).resolves.toBeUndefined();
});
