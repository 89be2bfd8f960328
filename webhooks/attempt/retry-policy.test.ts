import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { AttemptOutcome, FailedAttempt, NoAttempt } from './outcome.ts';
import type { RetryPolicy } from '../subscriptions/endpoint.ts';
import { decideNext, type RetryDecision } from './retry-policy.ts';

const timing = { startedAt: 0, durationMs: 5 };
const taken: AttemptOutcome = { ...timing, succeeded: true, statusCode: 204 };
const failure = (more: Partial<FailedAttempt> = {}): FailedAttempt => ({
  ...timing,
  succeeded: false,
  ours: false,
  reason: 'http_status',
  statusCode: 500,
  message: 'answered 500',
  ...more,
});
const noAttempt: NoAttempt = { ...timing, succeeded: false, ours: true, reason: 'local', message: 'out of sockets' };

/** The delays of a series in which every attempt fails, in milliseconds. */
function series(policy: RetryPolicy, random: () => number, outcome = failure()): { attempts: number; delays: readonly number[] } {
  const delays: number[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const step: RetryDecision = decideNext({ policy, attemptInSeries: attempt, outcome, random });
    if (step.next === 'failed') return { attempts: attempt, delays };
    if (step.next !== 'retry') throw new Error(`unexpected: ${step.next}`);
    delays.push(step.delayMs);
  }
}

const strategies = ['FixedDelay', 'ExponentialBackoff'] as const;
const anyRandom = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const anyPolicy = fc.record({
  strategy: fc.constantFrom(...strategies),
  maxRetries: fc.integer({ min: 0, max: 10 }),
  delayMs: fc.integer({ min: 0, max: 3_600_000 }),
});

describe('a series of failures', () => {
  it('has one attempt more than retries', () => {
    fc.assert(
      fc.property(anyPolicy, anyRandom, (policy, random) => {
        expect(series(policy, () => random).attempts).toBe(1 + policy.maxRetries);
      }),
    );
  });

  it.each(strategies)('has one attempt where no retries are wanted: %s', (strategy) => {
    expect(series({ strategy, maxRetries: 0, delayMs: 10_000 }, () => 0)).toEqual({ attempts: 1, delays: [] });
  });

  it('waits as long as the fixed delay says, or at most a tenth less', () => {
    const policy = { strategy: 'FixedDelay', maxRetries: 3, delayMs: 10_000 } as const;
    expect(series(policy, () => 0).delays).toEqual([10_000, 10_000, 10_000]);
    expect(series(policy, () => 0.5).delays).toEqual([9_500, 9_500, 9_500]);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_600_000 }), anyRandom, (delayMs, random) => {
        for (const delay of series({ ...policy, delayMs }, () => random).delays) {
          expect(delay).toBeLessThanOrEqual(delayMs);
          expect(delay).toBeGreaterThanOrEqual(Math.floor(0.9 * delayMs));
        }
      }),
    );
  });

  it('waits twice as long each time up to the longest wait, or at most half less', () => {
    const policy = { strategy: 'ExponentialBackoff', maxRetries: 10, delayMs: 3_600_000 } as const;
    expect(series(policy, () => 0).delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((seconds) => seconds * 1000));
    expect(series({ ...policy, delayMs: 10_000 }, () => 0).delays).toEqual([1, 2, 4, 8, 10, 10, 10, 10, 10, 10].map((s) => s * 1000));
    expect(series({ ...policy, delayMs: 300 }, () => 0).delays).toEqual(Array.from({ length: 10 }, () => 300));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_600_000 }), anyRandom, (delayMs, random) => {
        series({ ...policy, delayMs }, () => random).delays.forEach((delay, index) => {
          const longest = Math.min(1000 * 2 ** index, delayMs);
          expect(delay).toBeLessThanOrEqual(longest);
          expect(delay).toBeGreaterThanOrEqual(Math.floor(longest / 2));
        });
      }),
    );
  });

  it.each(strategies)('does not wait with a delay of 0 (%s)', (strategy) => {
    expect(series({ strategy, maxRetries: 10, delayMs: 0 }, () => 0.7)).toEqual({
      attempts: 11,
      delays: Array.from({ length: 10 }, () => 0),
    });
  });

  it('draws a new random number for each wait', () => {
    let draw = 0;
    const { delays } = series({ strategy: 'FixedDelay', maxRetries: 4, delayMs: 1000 }, () => (draw += 0.2));
    expect(new Set(delays).size).toBe(4);
  });
});

describe('what the endpoint asks for', () => {
  it('only puts a retry off, and changes nothing about their number', () => {
    fc.assert(
      fc.property(anyPolicy, anyRandom, fc.integer({ min: 0, max: 3_600_000 }), (policy, random, retryAfterMs) => {
        const without = series(policy, () => random);
        const asked = series(policy, () => random, failure({ statusCode: 503, retryAfterMs }));
        expect(asked.attempts).toBe(without.attempts);
        expect(asked.delays).toEqual(without.delays.map((delay) => Math.max(delay, retryAfterMs)));
      }),
    );
  });
});

describe('the end', () => {
  it('comes with success, with 410, and never with what is our own fault', () => {
    fc.assert(
      fc.property(anyPolicy, fc.integer({ min: 1, max: 11 }), anyRandom, (policy, attemptInSeries, random) => {
        const next = (outcome: AttemptOutcome): RetryDecision => decideNext({ policy, attemptInSeries, outcome, random: () => random });
        expect(next(taken)).toEqual({ next: 'succeeded' });
        expect(next(failure({ reason: 'gone', statusCode: 410 }))).toEqual({ next: 'disable' });
        expect(next(noAttempt)).toEqual({ next: 'postpone', delayMs: 5000 });
      }),
    );
  });
});
