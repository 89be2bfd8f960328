import { expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import type { AttemptResult, ClaimedDelivery, DeliveryState, EndpointRecord } from '../../store/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { endpoint as endpointOf } from '../../test/support/webhook-endpoint.ts';
import type { AttemptOutcome } from '../attempt/outcome.ts';
import { EndpointHealthCache } from '../endpoint-health/endpoint-health-cache.ts';
import { DeliverySecretError } from '../subscriptions/credentials.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import { retryDelivery } from './retry-delivery.ts';
import { EndpointLimits } from './endpoint-limits.ts';

const job = { deliveryId: '019a2b3c-0000-8000-8000-000000000000', subscriptionUid: 'uid-1' };
const claimed: ClaimedDelivery = {
  id: job.deliveryId,
  org: 'acme',
  eventId: '019a2b3c-0000-7000-8000-000000000000',
  eventName: 'Webhook.Test',
  subscriptionUid: 'uid-1',
  attempts: 1,
  seriesStart: 0,
  createdAt: new Date(0),
  body: Buffer.from('{}'),
};
const failed: AttemptOutcome = {
  succeeded: false,
  ours: false,
  reason: 'http_status',
  statusCode: 500,
  message: 'answered 500',
  startedAt: 0,
  durationMs: 1,
};
const succeeded: AttemptOutcome = { succeeded: true, statusCode: 200, startedAt: 0, durationMs: 1 };
const local: AttemptOutcome = { succeeded: false, ours: true, reason: 'dns_unavailable', message: 'no DNS', startedAt: 0, durationMs: 1 };

interface World {
  readonly found?: ClaimedDelivery | { readonly state: DeliveryState; readonly dueInMs: number } | undefined;
  readonly endpoint?: Endpoint | undefined;
  /** Uid that no subscription has any more. */
  readonly gone?: string;
  readonly record?: Partial<EndpointRecord>;
  readonly outcome?: AttemptOutcome;
  readonly credentials?: DeliverySecretError;
  /** State of the delivery once the attempt is recorded; where absent, it follows from the attempt. */
  readonly lastWord?: DeliveryState;
}

async function retried(world: World) {
  const done: unknown[] = [];
  const clock = new FakeClock();
  const health = new EndpointHealthCache({ store: { endpoints: async () => [], enable: async () => true } });
  if (world.record !== undefined) {
    health.take([
      {
        subscriptionUid: 'uid-1',
        org: 'acme',
        breaker: 'closed',
        opened: 0,
        ramp: 0,
        rampLeft: 0,
        version: 1,
        changedAt: new Date(0),
        ...world.record,
      } as EndpointRecord,
    ]);
  }
  const outcome = await retryDelivery(
    job,
    {
      store: {
        claimOne: async () => ('found' in world ? world.found : claimed),
        async release(_ids, delayMs) {
          done.push(['release', delayMs]);
        },
        async settle(_ids, next, reason) {
          done.push(['settle', next.state, reason]);
        },
      },
      directory: {
        byUid(uid) {
          if (uid === world.gone) return undefined;
          return 'endpoint' in world ? world.endpoint : endpointOf({ retry: { strategy: 'FixedDelay', maxRetries: 2, delayMs: 60_000 } });
        },
        async credentials() {
          if (world.credentials !== undefined) throw world.credentials;
          return { keys: [], headers: {} };
        },
      },
      health,
      async attempt() {
        done.push('attempt');
        return world.outcome ?? failed;
      },
      async recordAttempts([result]: readonly AttemptResult[]) {
        const state = world.lastWord ?? result!.next.state;
        done.push(['record', result!.next]);
        return { attempts: [{ deliveryId: claimed.id, outcome: 'new', number: 2, state }], endpoints: [], disabled: [] };
      },
      limits: new EndpointLimits({ clock, atOnce: 100 }),
      metrics: { attempted: () => undefined, received: () => undefined, finished: () => undefined },
      clock,
      random: () => 0,
      logger: createLogger({ role: 'test', level: 'silent' }),
    },
    new AbortController().signal,
  );
  return { outcome, done };
}

const retrying = { state: 'retrying', delayMs: 60_000 };

it.each<readonly [string, World, unknown, readonly unknown[]]>([
  ['is tried again after its wait', {}, { againInMs: 60_000 }, ['attempt', ['record', retrying]]],
  ['is over once it succeeds', { outcome: succeeded }, { done: 'succeeded' }, ['attempt', ['record', { state: 'succeeded' }]]],
  [
    'is over with its last attempt',
    { found: { ...claimed, attempts: 2 } },
    { done: 'failed' },
    ['attempt', ['record', { state: 'failed' }]],
  ],
  [
    'restarts its attempt count when it was replayed',
    { found: { ...claimed, attempts: 5, seriesStart: 4 } },
    { againInMs: 60_000 },
    ['attempt', ['record', retrying]],
  ],
  ['is left to a replay meanwhile', { lastWord: 'pending' }, { done: 'pending' }, ['attempt', ['record', retrying]]],
  [
    'has gone over to the successor of its subscription',
    { found: { ...claimed, subscriptionUid: 'uid-2' }, gone: 'uid-1' },
    { againInMs: 60_000 },
    ['attempt', ['record', retrying]],
  ],
  ['is no longer kept', { found: undefined }, { done: 'gone' }, []],
  ['has succeeded already', { found: { state: 'succeeded', dueInMs: 0 } }, { done: 'succeeded' }, []],
  ['was paused', { found: { state: 'paused', dueInMs: 0 } }, { done: 'paused' }, []],
  ['is with the dispatcher', { found: { state: 'pending', dueInMs: 0 } }, { done: 'pending' }, []],
  ['is not due yet', { found: { state: 'retrying', dueInMs: 5_000 } }, { againInMs: 5_000 }, []],
  ['waits for an endpoint that is not known yet', { endpoint: undefined }, { againInMs: 5_000 }, [['release', 5_000]]],
  ['is paused with its subscription', { endpoint: endpointOf({ active: false }) }, { done: 'paused' }, [['settle', 'paused', undefined]]],
  ['ends with one that is disabled', { record: { disabledAt: new Date(0) } }, { done: 'skipped' }, [['settle', 'skipped', 'disabled']]],
  ['is parked while its endpoint only fails', { record: { breaker: 'open' } }, { done: 'pending' }, [['settle', 'pending', undefined]]],
  [
    'queues up while its endpoint comes back',
    { record: { breaker: 'half_open' } },
    { done: 'pending' },
    [['settle', 'pending', undefined]],
  ],
  [
    'waits for a Secret',
    { credentials: new DeliverySecretError({ reason: 'missing', message: 'no Secret' }) },
    { againInMs: 5_000 },
    [['release', 5_000]],
  ],
  ['was not attempted for want of DNS', { outcome: local }, { againInMs: 5_000 }, ['attempt', ['release', 5_000]]],
])('a delivery that %s', async (_name, world, outcome, done) => {
  expect(await retried(world)).toEqual({ outcome, done });
});
