import { describe, expect, it } from 'vitest';

import { planRetry, type Outcome } from './retry-plan.ts';

const limits = { retries: 3, maxWaitMs: 10_000 };
const plan = (repeatable: boolean, outcome: Outcome, attempt = 1, random = 1): number | undefined =>
  planRetry({ repeatable }, outcome, { attempt, random, limits });

describe('a request that can be repeated', () => {
  it.each([undefined, 429, 502, 503, 504])('is sent again after %s', (status) => {
    expect(plan(true, status === undefined ? {} : { status })).toBe(500);
  });

  it.each([200, 201, 304, 400, 401, 403, 404, 409, 412, 422, 500])('is not sent again after %s', (status) => {
    expect(plan(true, { status })).toBeUndefined();
  });

  it('is sent again after a 409 that says when: the first one is still being carried out', () => {
    expect(plan(true, { status: 409, retryAfterMs: 1_000 })).toBe(1_000);
  });
});

describe('a request that would make something twice', () => {
  it('is sent again only after an answer that says that nothing was carried out', () => {
    expect([plan(false, { status: 429 }), plan(false, { status: 503, retryAfterMs: 1 }), plan(false, {})]).toEqual([
      500,
      undefined,
      undefined,
    ]);
  });
});

describe('the wait', () => {
  it('doubles, with half of it left to chance, up to the longest', () => {
    const waits = (random: number) => [1, 2, 3].map((attempt) => plan(true, {}, attempt, random));
    expect([waits(0), waits(1)]).toEqual([
      [250, 500, 1_000],
      [500, 1_000, 2_000],
    ]);
    expect(planRetry({ repeatable: true }, {}, { attempt: 9, random: 1, limits: { ...limits, retries: 9 } })).toBe(10_000);
  });

  it('is what the server asks for, and no attempt is made where that is too long', () => {
    expect(plan(true, { status: 503, retryAfterMs: 10_000 })).toBe(10_000);
    expect(plan(true, { status: 503, retryAfterMs: 10_001 })).toBeUndefined();
  });

  it('ends after as many retries as were asked for', () => {
    expect([plan(true, {}, 3), plan(true, {}, 4)]).toEqual([2_000, undefined]);
  });
});
