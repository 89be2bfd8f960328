import { expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { CallEnd, type EndedCall, type ServedCall } from './call-end.ts';

/** Builds a call that is over, and lists what is done with it in turn. */
function anEnd({ stop = new AbortController().signal, toolsDone }: { readonly stop?: AbortSignal; readonly toolsDone: Promise<void> }) {
  const done: string[] = [];
  const clock = new FakeClock();
  const call = { startedAt: null, endedAt: null, status: 'ended' };
  const lifecycle = {
    async end() {
      done.push('end');
      return { call };
    },
  };
  const end = new CallEnd({ services: { clock, lifecycle } as never, rooms: { close: async () => undefined }, stop });
  const writer = {
    async close() {
      done.push('transcript');
      return 0;
    },
  };
  const served = { call, writer, log: createLogger({ role: 'voice', level: 'silent' }) } as unknown as ServedCall;
  const ended = {
    finish: { reason: 'user_ended_call' },
    transfers: {},
    prepared: { conversation: { toolsDone: () => toolsDone, figures: () => ({}) } },
  };
  const recorded = end.record(served, {
    ...(ended as unknown as EndedCall),
    over: 0,
    starting: Promise.resolve(),
    closing: { roomClosed: Promise.resolve() },
  });
  return { done, recorded, clock };
}

it('stores what tools have done after the end with the call, before the end itself', async () => {
  const tools = Promise.withResolvers<void>();
  const { done, recorded, clock } = anEnd({ toolsDone: tools.promise.then(() => void done.push('tools')) });
  expect(clock.timers).toBe(1);
  tools.resolve();
  await recorded;
  expect(done).toEqual(['tools', 'transcript', 'end']);
});

it('waits for no tool in a process that has to stop', async () => {
  const { done, recorded } = anEnd({ stop: AbortSignal.abort(), toolsDone: new Promise(() => undefined) });
  await recorded;
  expect(done).toEqual(['transcript', 'end']);
});
