import { expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import type { CallRecord } from '../../store/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { LostJobs } from './lost-jobs.ts';

const room = 'call-1';

/** Sets up a call in Postgres and the media server, and records the actions on it. */
function stage(change: Partial<CallRecord> | undefined, { agent = false }: { readonly agent?: boolean } = {}) {
  const clock = new FakeClock();
  const state = {
    call: change && ({ org: 'o', id: 'call_1', room, status: 'ongoing', jobSeenAt: new Date(clock.now()), ...change } as CallRecord),
    agent,
    broken: false,
    ended: [] as string[],
    closed: [] as string[],
  };
  const lost = new LostJobs({
    calls: {
      ofRoom: async () => {
        if (state.broken) throw new Error('Postgres is unavailable');
        return state.call && { org: 'o', id: 'call_1' };
      },
      get: async () => state.call,
    },
    lifecycle: {
      end: async ({ reason, only }) => {
        const same = only?.status === state.call?.status && only?.jobSeenAt === state.call?.jobSeenAt;
        if (same) state.ended.push(reason);
        return { changed: same, call: state.call! };
      },
    },
    rooms: { hasAgent: async () => state.agent, close: async (name) => void state.closed.push(name) },
    clock,
    logger: createLogger({ role: 'api', level: 'silent' }),
    onEnded: () => undefined,
  });
  const settle = async (ms: number): Promise<void> => {
    // Promises have to settle between timers.
    for (let left = ms; left >= 0; left -= 1_000) {
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(Math.min(1_000, left));
    }
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, state, lost, settle };
}

it('ends a call once its job has been silent for long enough, and not before', async () => {
  const { state, lost, settle } = stage({});
  lost.suspect({ room, hadAgent: true });
  await settle(11_000);
  expect(state.ended).toEqual([]);
  await settle(3_000);
  expect([state.ended, state.closed]).toEqual([['native_platform_internal_error'], [room]]);
});

it('ends a call at once whose job has been silent all the time', async () => {
  const { clock, state, lost, settle } = stage({ status: 'registered' });
  await clock.advance(60_000);
  lost.suspect({ room, hadAgent: true });
  await settle(0);
  expect(state.ended).toEqual(['native_platform_internal_error']);
});

it('leaves alone calls that are over, unknown, without a job so far, or with their agent', async () => {
  const cases = [
    stage(undefined),
    stage({ status: 'ended' }),
    stage({ status: 'registered', jobSeenAt: null }),
    stage({}, { agent: true }),
  ];
  for (const { lost, state, settle } of cases) {
    lost.suspect({ room, hadAgent: false });
    await settle(80_000);
    expect(state.ended).toEqual([]);
  }
});

it('leaves alone a call whose job sends heartbeats again', async () => {
  const { clock, state, lost, settle } = stage({});
  lost.suspect({ room, hadAgent: true });
  for (let beat = 0; beat < 10; beat += 1) {
    state.call = { ...state.call!, jobSeenAt: new Date(clock.now()) };
    await settle(8_000);
  }
  expect(state.ended).toEqual([]);
});

it('retries after a failed check, and stops when stopped', async () => {
  const away = stage({});
  away.state.broken = true;
  away.lost.suspect({ room, hadAgent: true });
  await away.settle(5_000);
  away.state.broken = false;
  await away.settle(20_000);
  expect(away.state.ended).toHaveLength(1);

  const stopped = stage({});
  stopped.lost.suspect({ room, hadAgent: true });
  await stopped.settle(1_000);
  await stopped.lost.stop();
  stopped.lost.suspect({ room, hadAgent: true });
  await stopped.settle(30_000);
  expect(stopped.state.ended).toEqual([]);
});
