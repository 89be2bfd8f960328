import { expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { TemporalUnavailableError } from '../../platform/temporal/unavailable-error.ts';
import type { RetryToStart } from '../../store/webhooks/types.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { HandOver } from './hand-over.ts';
import type { Retry } from '../temporal-retries/retry-starter.ts';

const retry = (deliveryId: string, delayMs = 10_000): Retry => ({
  deliveryId,
  org: 'acme',
  eventId: deliveryId,
  subscriptionUid: 'a',
  lost: false,
  delayMs,
});

const row = (id: string, state: RetryToStart['state']): RetryToStart => ({
  ...retry(id),
  id,
  state,
  seriesStart: 0,
  dueAt: new Date(0),
  dueInMs: 0,
});

function create() {
  const clock = new FakeClock();
  const state = {
    away: false,
    started: [] as Retry[],
    marked: [] as string[],
    waiting: [] as RetryToStart[],
    reasons: [] as (string | undefined)[],
    asked: 0,
  };
  const handOver = new HandOver({
    store: {
      retriesToStart: async ({ limit }) => {
        state.asked += 1;
        if (state.asked > 10) throw new Error('asked without end');
        return state.waiting.slice(0, limit);
      },
      markRetrying: async (ids) => {
        state.marked.push(...ids);
        // Lost retries stay so, until a worker takes them.
        state.waiting = state.waiting.filter((one) => one.state === 'retrying' || !ids.includes(one.id));
      },
    },
    starter: {
      start: async (one) => {
        if (state.away) throw new TemporalUnavailableError('Temporal is unavailable');
        state.started.push(one);
      },
      close: async () => undefined,
    },
    waiting: () => [],
    onAvailability: (reason) => state.reasons.push(reason),
    clock,
    logger: createLogger({ role: 'test', level: 'silent' }),
  });
  return { clock, handOver, state };
}

it('begins a retry and writes that down', async () => {
  const { handOver, state, clock } = create();
  handOver.add([retry('1'), retry('2')]);
  await clock.advance(0);
  expect(state.started.map(({ deliveryId, delayMs }) => [deliveryId, delayMs])).toEqual([
    ['1', 10_000],
    ['2', 10_000],
  ]);
  expect(state.marked).toEqual(['1', '2']);
});

it('leaves retries where they are while Temporal is unavailable, asks rarely, and begins all of them afterwards', async () => {
  const { handOver, state, clock } = create();
  state.away = true;
  state.waiting = Array.from({ length: 1_200 }, (_, index) => row(String(index), 'retry_pending'));
  handOver.add([retry('0')]);
  await clock.advance(0);
  for (let round = 0; round < 10; round += 1) handOver.add([retry(String(round))]);
  await handOver.sweep();
  expect([state.asked, state.started.length, state.marked.length]).toEqual([0, 0, 0]);
  expect(state.reasons).toEqual(['Temporal is unavailable']);
  state.away = false;
  await clock.advance(3_000);
  await handOver.sweep();
  expect(new Set(state.started.map(({ deliveryId }) => deliveryId)).size).toBe(1_200);
  expect(state.waiting).toEqual([]);
  expect(state.reasons.at(-1)).toBe(undefined);
});

it('begins all that have no workflow, and one batch of those whose workflow is lost, in each sweep', async () => {
  const { handOver, state } = create();
  state.waiting = [
    ...Array.from({ length: 700 }, (_, index) => row(`pending-${index}`, 'retry_pending')),
    ...Array.from({ length: 600 }, (_, index) => row(`lost-${index}`, 'retrying')),
  ];
  await handOver.sweep();
  expect(state.started.map(({ lost }) => lost)).toEqual(Array.from({ length: 1_000 }, (_, index) => index >= 700));
  await handOver.sweep();
  expect(state.started).toHaveLength(1_500);
  expect(state.asked).toBe(3);
});

it('goes on with the trace of the event in a later start, too', async () => {
  const { handOver, state } = create();
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  state.waiting = [{ ...row('1', 'retry_pending'), traceparent }];
  await handOver.sweep();
  expect(state.started).toMatchObject([{ deliveryId: '1', traceparent }]);
});

it('begins nothing more once it is stopped', async () => {
  const { handOver, state, clock } = create();
  await handOver.stop();
  handOver.add([retry('1')]);
  await handOver.sweep();
  await clock.advance(0);
  expect(state.started).toEqual([]);
});
