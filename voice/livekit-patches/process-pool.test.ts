import { expect, it } from 'vitest';

import { ProcPool } from '../../node_modules/@livekit/agents/dist/ipc/proc_pool.js';
import { createLogger } from '../../platform/logging.ts';
import { replaceProcessPool } from './process-pool.ts';
import { SharedTurnModel } from '../sound/shared-turn-model.ts';

it("the library's agent server uses our processes", async () => {
  const asked: unknown[] = [];
  const job = { runningJob: { job: { id: 'one' } } as never, close: async () => undefined, join: async () => undefined };
  const processes = {
    open: () => void asked.push('open'),
    live: [job],
    launch: (info: unknown) => void asked.push(info),
    close: async () => void asked.push('close'),
  };
  replaceProcessPool(processes, new SharedTurnModel(createLogger({ role: 'voice', level: 'silent' })));
  const pool = new ProcPool({
    agent: '',
    numIdleProcesses: 3,
    initializeTimeout: 0,
    closeTimeout: 0,
    sessionEndTimeout: 0,
    memoryWarnMB: 0,
    memoryLimitMB: 0,
  });
  pool.start();
  await pool.launchJob('info' as never);
  await pool.close();
  expect(asked).toEqual(['open', 'info', 'close']);
  expect(pool.processes).toEqual([job]);
  expect(pool.getByJobId('one')).toBe(job);
  expect(pool.getByJobId('two')).toBeNull();
});
