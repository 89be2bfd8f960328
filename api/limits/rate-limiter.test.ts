import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { limitHeaders, tightestOf } from './headers.ts';
import type { LimitClass } from './limit-class.ts';
import { RateLimiter, type RateLimiterOptions } from './rate-limiter.ts';

const logger = createLogger({ role: 'test', level: 'silent' });
const perKey: LimitClass = { name: 'key', of: 'key', limit: { perSecond: 10, burst: 20 } };
const perOrganization: LimitClass = { name: 'organization', of: 'organization', limit: { perSecond: 20, burst: 30 } };
const search: LimitClass = {
  name: 'search',
  of: 'organization',
  limit: { perSecond: 1, burst: 2 },
  applies: ({ method, path }) => method === 'POST' && path === '/search',
};
const alice = { keyId: 'alice', org: 'acme' };
const bob = { keyId: 'bob', org: 'acme' };
const get = { method: 'GET', path: '/things' } as const;

function limiter(classes: readonly LimitClass[], clock: FakeClock, exchange?: RateLimiterOptions['exchange']): RateLimiter {
  return new RateLimiter({ classes, clock, logger, exchangeMs: 250, ...(exchange && { exchange }) });
}

function allowedOf(from: RateLimiter, requests: number, caller = alice, request: Parameters<RateLimiter['take']>[1] = get): number {
  let allowed = 0;
  for (let n = 0; n < requests; n += 1) if (from.take(caller, request).allowed) allowed += 1;
  return allowed;
}

/** Adds up takes as Postgres does, without Postgres. */
function sharedBuckets(clock: FakeClock) {
  const fullAt = new Map<string, number>();
  const state = { down: false, exchanges: 0 };
  const exchange: NonNullable<RateLimiterOptions['exchange']> = {
    exchange: async (taken) => {
      state.exchanges += 1;
      if (state.down) throw new Error('there is no database');
      const now = clock.monotonic();
      return new Map(
        taken.map(({ subject, ms, agoMs }) => {
          fullAt.set(subject, Math.max(fullAt.get(subject) ?? 0, now - agoMs) + ms);
          return [subject, (fullAt.get(subject) ?? 0) - now] as const;
        }),
      );
    },
    forgetFull: async () => undefined,
  };
  return { state, exchange };
}

describe('one replica', () => {
  it('lets a burst through and then the rate, whatever the pattern of requests', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 3000 })), { maxLength: 40 }),
        async (steps) => {
          const clock = new FakeClock();
          const from = limiter([perKey], clock);
          let [allowed, asked, lastRefused, elapsed] = [0, 0, false, 0];
          for (const [requests, pauseMs] of steps) {
            allowed += allowedOf(from, requests);
            asked += requests;
            lastRefused = !from.take(alice, get).allowed || lastRefused;
            await clock.advance(pauseMs);
            elapsed += pauseMs;
          }
          expect(allowed).toBeLessThanOrEqual(20 + (elapsed * 10) / 1000 + 1);
          if (!lastRefused) expect(allowed).toBe(asked);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('reports what is left, when it is full, and when to retry', async () => {
    const clock = new FakeClock();
    const from = limiter([perKey], clock);
    expect(limitHeaders(from.take(alice, get))).toEqual({
      'ratelimit-limit': '20',
      'ratelimit-remaining': '19',
      'ratelimit-reset': '1',
      'ratelimit-policy': '20;w=2;comment="key"',
    });
    expect(allowedOf(from, 100)).toBe(19);
    expect(limitHeaders(from.take(alice, get))).toMatchObject({ 'ratelimit-remaining': '0', 'ratelimit-reset': '2', 'retry-after': '1' });
    // After Retry-After there is room again, as promised.
    await clock.advance(1_000);
    expect(allowedOf(from, 100)).toBe(10);
  });

  it('reports whole seconds whatever fraction of one the clock stands at', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0, max: 1e9, noNaN: true }), async (startedAt) => {
        const clock = new FakeClock();
        await clock.advance(startedAt);
        const from = limiter([{ ...perKey, limit: { perSecond: 0.5, burst: 10 } }], clock);
        expect(limitHeaders(from.take(alice, get))['ratelimit-reset']).toBe('2');
      }),
    );
  });

  it('counts for each limit that a request is under, and for none when one is reached', async () => {
    const clock = new FakeClock();
    const from = limiter([perKey, perOrganization, search], clock);
    const searching = { method: 'POST', path: '/search' } as const;
    expect(allowedOf(from, 10, alice, searching)).toBe(2);
    const refused = from.take(alice, searching);
    expect(tightestOf(refused.limits)?.class.name).toBe('search');
    expect(limitHeaders(refused)['ratelimit-policy']).toBe('20;w=2;comment="key", 30;w=2;comment="organization", 2;w=2;comment="search"');
    // The eight refused requests took nothing from the key.
    expect(allowedOf(from, 100)).toBe(18);
    expect(allowedOf(from, 100, bob)).toBe(10);
    expect(tightestOf(from.take(bob, get).limits)?.class.name).toBe('organization');
    expect(allowedOf(from, 100, { keyId: 'carol', org: 'other' })).toBe(20);
  });
});

describe('several replicas', () => {
  it('let the rate through together in the long run', async () => {
    const clock = new FakeClock();
    const { exchange } = sharedBuckets(clock);
    const replicas = [1, 2, 3, 4].map(() => limiter([perKey], clock, exchange));
    let allowed = 0;
    for (let tick = 0; tick < 600; tick += 1) {
      for (const replica of replicas) allowed += allowedOf(replica, 3);
      await clock.advance(100);
    }
    // The expected number is that of a minute: one burst, 600, and the requests that three other replicas let through before they knew,
    // which are paid back.
    expect(allowed).toBeGreaterThanOrEqual(600);
    expect(allowed).toBeLessThanOrEqual(20 + 600 + 3 * 20);
    await Promise.all(replicas.map((replica) => replica.stop()));
  });

  it('go on by themselves without the database, and together again afterwards', async () => {
    const clock = new FakeClock();
    const { exchange, state } = sharedBuckets(clock);
    const replicas = [1, 2].map(() => limiter([perKey], clock, exchange));
    const minute = async (): Promise<number> => {
      let allowed = 0;
      for (let tick = 0; tick < 600; tick += 1) {
        for (const replica of replicas) allowed += allowedOf(replica, 3);
        await clock.advance(100);
      }
      return allowed;
    };
    state.down = true;
    const apart = await minute();
    expect(apart).toBeGreaterThanOrEqual(1200);
    expect(apart).toBeLessThanOrEqual(1200 + 2 * 20);
    state.down = false;
    await clock.advance(5_000);
    await minute();
    expect(await minute()).toBeLessThanOrEqual(600 + 20);
  });

  it('keep their promises: after Retry-After there is room, although they have synchronised meanwhile', async () => {
    const clock = new FakeClock();
    const { exchange } = sharedBuckets(clock);
    const replica = limiter([perKey], clock, exchange);
    allowedOf(replica, 100);
    await clock.advance(900);
    for (let n = 0; n < 50; n += 1) {
      const { allowed, limits } = replica.take(alice, get);
      if (!allowed) await clock.advance(Math.ceil(limits[0]?.standing.nextInMs ?? 0));
      expect(allowed || replica.take(alice, get).allowed).toBe(true);
    }
    await replica.stop();
  });

  it('send nothing while nothing happens', async () => {
    const clock = new FakeClock();
    const { exchange, state } = sharedBuckets(clock);
    const replica = limiter([perKey], clock, exchange);
    allowedOf(replica, 5);
    await clock.advance(1_000);
    expect(state.exchanges).toBe(1);
    await clock.advance(3_600_000);
    expect(state.exchanges).toBe(1);
  });
});
