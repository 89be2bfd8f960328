import { beforeEach, expect, it } from 'vitest';

import type { BreakerChange, EndpointRecord } from '../../store/webhooks/types.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { EndpointHealthCache } from './endpoint-health-cache.ts';
import { parkFailingEndpoints, type JudgedAttempt } from './park-failing-endpoints.ts';

const clock = new FakeClock();
let health: EndpointHealthCache;

const store = {
  attemptWindows: async (uids: readonly string[]) =>
    uids.map((subscriptionUid) => ({ subscriptionUid, attempts: 20, failures: 20, events: 20 })),
  endpoints: async () => [],
  enable: async () => true,
  changeBreaker: async ({ probeInMs, version, ...change }: BreakerChange) =>
    record({ ...change, probeAt: probeInMs === undefined ? undefined : new Date(clock.now() + probeInMs), version: version + 1 }),
};

const record = (more: Partial<EndpointRecord>): EndpointRecord => ({
  subscriptionUid: 'a',
  org: 'acme',
  breaker: 'closed',
  probeAt: undefined,
  opened: 0,
  ramp: 0,
  rampLeft: 0,
  lastSuccessAt: undefined,
  lastFailureAt: undefined,
  consecutiveFailures: 20,
  failingSince: undefined,
  failureSlots: 0,
  disabledAt: undefined,
  disabledReason: undefined,
  disabledGeneration: undefined,
  version: 1,
  changedAt: new Date(clock.now()),
  statusWrittenAt: undefined,
  ...more,
});

/** Ends attempts that began when the breaker had opened `opened` times. */
async function end(opened: number, ...succeeded: readonly boolean[]): Promise<void> {
  const results = succeeded.map((taken): JudgedAttempt => ({
    deliveryId: 'd',
    org: 'acme',
    subscriptionUid: 'a',
    seriesStart: 0,
    startedAt: clock.now(),
    durationMs: 1,
    succeeded: taken,
    reason: taken ? 'ok' : 'http_status',
    opened,
    next: { state: 'succeeded' },
  }));
  const attempts = results.map(({ deliveryId, next }) => ({ deliveryId, outcome: 'new' as const, number: 1, state: next.state }));
  await parkFailingEndpoints({ store, health, clock }, results, { attempts, endpoints: [record({})], disabled: [] });
}

beforeEach(() => {
  health = new EndpointHealthCache({ store });
});

it('parks an endpoint that only fails, and is led by what began since: not by what was on its way before', async () => {
  await end(0, false, false);
  expect(health.get('a')).toMatchObject({ breaker: 'open', opened: 1 });
  const parked = health.get('a');
  await end(0, true, false);
  expect(health.get('a')).toBe(parked);

  await end(1, true);
  expect(health.get('a')).toMatchObject({ breaker: 'half_open', opened: 1, ramp: 2 });
  await end(0, false);
  expect(health.get('a')).toMatchObject({ breaker: 'half_open', opened: 1, ramp: 2 });
  await end(1, true, true);
  expect(health.get('a')).toMatchObject({ breaker: 'half_open', opened: 1, ramp: 4 });
  await end(1, false);
  expect(health.get('a')).toMatchObject({ breaker: 'open', opened: 2 });
});
