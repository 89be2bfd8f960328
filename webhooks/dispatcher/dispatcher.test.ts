import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { StoreError } from '../../store/index.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { AttemptResult, EndpointRecord, OutboxEvent } from '../../store/webhooks/types.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { outboxEvent } from '../../test/support/outbox-event.ts';
import { endpoint } from '../../test/support/webhook-endpoint.ts';
import type { AttemptOutcome } from '../attempt/outcome.ts';
import { createRecordAttempts } from '../attempt/record-attempts.ts';
import { EndpointHealthCache } from '../endpoint-health/endpoint-health-cache.ts';
import { createDeliveryMetrics } from '../metrics.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import type { Retry } from '../temporal-retries/retry-starter.ts';
import { Dispatcher } from './dispatcher.ts';

const target = endpoint({ uid: 'a', retry: { strategy: 'FixedDelay', maxRetries: 3, delayMs: 10_000 } });

const event = (id: string): OutboxEvent => outboxEvent(`01890000-0000-7000-8000-00000000000${id}`);

let clock: FakeClock;
let outbox: OutboxEvent[];
let recorded: AttemptResult[];
let released: string[];
let started: Retry[];
let marked: string[];
let fails: boolean;
/** The next transaction of the relay is rolled back. */
let rollsBack: boolean;
/** The endpoint answers 410. */
let gone: boolean;
let wake: () => void;
let dispatcher: Dispatcher;

beforeEach(() => {
  clock = new FakeClock();
  [outbox, recorded, released, started, marked, fails, rollsBack, gone] = [[], [], [], [], [], false, false, false];
  const store = {
    takeOutbox: async (limit, decide) => {
      const events = outbox.splice(0, limit);
      const { deliveries } = await decide(events, async () => []);
      if (rollsBack) {
        rollsBack = false;
        outbox.unshift(...events);
        throw new StoreError('unavailable', 'the connection was lost');
      }
      return { taken: events.length, postponed: 0, lost: 0, deliveries: deliveries.map((planned) => ({ id: planned.event.id, planned })) };
    },
    claim: async () => [],
    record: async (results) => {
      recorded.push(...results);
      const attempts = results.map(({ deliveryId, next }) => ({ deliveryId, outcome: 'new' as const, number: 1, state: next.state }));
      return { attempts, endpoints: [], disabled: gone ? [target.uid] : [] };
    },
    release: async (ids) => void released.push(...ids),
    markRetrying: async (ids) => void marked.push(...ids),
    retriesToStart: async () => [],
    dueSubscriptions: async () => [],
    subscriptionsIn: async () => [],
    endpoints: async ({ uids = [] } = {}) =>
      uids.map((subscriptionUid) => ({ subscriptionUid, breaker: 'closed', disabledAt: new Date(0) }) as EndpointRecord),
    nameSubscriptions: async () => [],
    listen(onOutbox) {
      wake = onOutbox;
    },
    claimOwners: async () => undefined,
  } satisfies Partial<DispatchStore> as Partial<DispatchStore> as DispatchStore;
  const directory = {
    matching: () => [target],
    behind: () => false,
    byUid: (uid) => (uid === target.uid ? target : undefined),
    credentials: async () => ({ keys: [], headers: {} }),
    list: () => [target],
    onChange: () => () => undefined,
    connected: true,
  } satisfies Partial<EndpointDirectory> as Partial<EndpointDirectory> as EndpointDirectory;
  const health = new EndpointHealthCache({ store });
  const logger = createLogger({ role: 'test', level: 'silent' });
  dispatcher = new Dispatcher({
    store,
    directory,
    health,
    attempt: async (): Promise<AttemptOutcome> =>
      fails
        ? {
            succeeded: false,
            ours: false,
            reason: gone ? 'gone' : 'http_status',
            statusCode: gone ? 410 : 500,
            message: 'it failed',
            startedAt: clock.now(),
            durationMs: 1,
          }
        : { succeeded: true, statusCode: 200, startedAt: clock.now(), durationMs: 1 },
    recordAttempts: createRecordAttempts({ store, directory, health, clock, logger }),
    starter: { start: async (retry) => void started.push(retry), close: async () => undefined },
    onRetriesAvailable: () => undefined,
    metrics: createDeliveryMetrics(new Registry()),
    clock,
    random: () => 0,
    logger,
  });
});

afterEach(() => dispatcher.stop());

it('relays an event, attempts its delivery and records it', async () => {
  outbox.push(event('1'), event('2'));
  dispatcher.start();
  await clock.advance(10);
  expect(recorded.map(({ deliveryId, next }) => [deliveryId, next.state])).toEqual([
    [event('1').id, 'succeeded'],
    [event('2').id, 'succeeded'],
  ]);
  expect([dispatcher.held, dispatcher.inFlight, dispatcher.unrecorded]).toEqual([0, 0, 0]);
  expect(started).toEqual([]);
});

it('attempts at once what a lost connection has kept from being relayed', async () => {
  // As many as this may be on their way to one endpoint.
  outbox.push(...Array.from({ length: 8 }, (_, index) => event(String(index))));
  rollsBack = true;
  dispatcher.start();
  await clock.advance(10);
  expect([outbox.length, dispatcher.held, recorded.length]).toEqual([8, 0, 0]);
  await clock.advance(100);
  expect([outbox.length, dispatcher.held, recorded.length]).toEqual([0, 0, 8]);
});

it('hands a failed delivery over to a workflow', async () => {
  fails = true;
  outbox.push(event('1'));
  dispatcher.start();
  await clock.advance(10);
  expect(recorded.map(({ next }) => next)).toEqual([{ state: 'retry_pending', delayMs: 10_000 }]);
  expect(started.map(({ deliveryId, lost }) => [deliveryId, lost])).toEqual([[event('1').id, false]]);
  expect(marked).toEqual([event('1').id]);
});

it('attempts nothing more once the endpoint is gone', async () => {
  [fails, gone] = [true, true];
  outbox.push(event('1'));
  dispatcher.start();
  await clock.advance(10);
  outbox.push(event('2'));
  wake();
  await clock.advance(10);
  expect([outbox.length, recorded.map(({ deliveryId }) => deliveryId)]).toEqual([0, [event('1').id]]);
});

it('relays what comes later, and stops with nothing in hand', async () => {
  dispatcher.start();
  await clock.advance(10);
  outbox.push(event('3'));
  await clock.advance(1_500);
  expect(recorded).toHaveLength(1);
  await dispatcher.stop();
  expect([dispatcher.held, released]).toEqual([0, []]);
});
