import { AgentServer, initializeLogger, ServerOptions } from '@livekit/agents';
import { expect, it } from 'vitest';

import { systemClock } from '../platform/clock.ts';
import { FakeClock } from '../test/support/fake-clock.ts';
import { drainCalls, type Drainable } from './drain.ts';

it('waits for the calls that the server was not asked to wait for, too, and no longer', async () => {
  const clock = new FakeClock();
  const activeJobs: unknown[] = ['a call', 'another'];
  const server: Drainable = { drain: async () => undefined };
  let over = false;
  const drained = drainCalls({ server, live: () => activeJobs.length, timeoutMs: 60_000, clock }).then(() => (over = true));
  await clock.advance(300);
  activeJobs.pop();
  await clock.advance(300);
  expect(over).toBe(false);
  activeJobs.pop();
  await clock.advance(100);
  await drained;
});

it('gives up when the time is up, and passes on what goes wrong', async () => {
  const drained: Drainable = { drain: async () => undefined };
  await expect(drainCalls({ server: drained, live: () => 1, timeoutMs: 1, clock: systemClock })).rejects.toThrow('1 calls were live');
  const failing: Drainable = { drain: () => Promise.reject(new Error('out of order')) };
  await expect(drainCalls({ server: failing, live: () => 1, timeoutMs: 1, clock: systemClock })).rejects.toThrow('out of order');
});

it('LiveKit’s server is one that can be drained', async () => {
  initializeLogger({ pretty: false, level: 'silent' });
  const server: Drainable = new AgentServer(
    new ServerOptions({ agent: import.meta.filename, wsURL: 'ws://127.0.0.1:1', apiKey: 'key', apiSecret: 'secret' }),
  );
  await expect(drainCalls({ server, live: () => 0, timeoutMs: 1000, clock: systemClock })).resolves.toBeUndefined();
});
