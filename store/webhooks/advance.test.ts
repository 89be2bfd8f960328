import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { advance, type DeliveryStep } from './advance.ts';
import { deliveryStates, type AttemptResult, type DeliveryState, type NextStep } from './types.ts';

const step = (fields: Partial<DeliveryStep> = {}): DeliveryStep => ({
  state: 'pending',
  attempts: 0,
  seriesStart: 0,
  known: new Map(),
  changed: undefined,
  counted: false,
  ...fields,
});

const result = (next: NextStep, fields: Partial<AttemptResult> = {}): AttemptResult => ({
  deliveryId: 'd',
  org: 'acme',
  subscriptionUid: 'u',
  seriesStart: 0,
  startedAt: 1,
  durationMs: 1,
  succeeded: next.state === 'succeeded',
  reason: next.state === 'succeeded' ? 'ok' : 'timeout',
  next,
  ...fields,
});

const steps: readonly NextStep[] = [
  { state: 'succeeded' },
  { state: 'failed' },
  { state: 'paused' },
  { state: 'pending', delayMs: 5 },
  { state: 'retry_pending', delayMs: 5 },
  { state: 'retrying', delayMs: 5 },
];

describe('an attempt', () => {
  it.each(steps)('leads to $state', (next) => {
    const delivery = step();
    advance(delivery, result(next));
    expect(delivery).toMatchObject({ state: next.state, attempts: 1, counted: true });
    expect(delivery.changed).toEqual({ reason: next.state === 'succeeded' ? null : 'timeout', delayMs: 'delayMs' in next ? 5 : null });
  });

  it.each(['failed', 'skipped'] as const)('that succeeds is the truth about one that was %s meanwhile', (state) => {
    const delivery = step({ state });
    advance(delivery, result({ state: 'succeeded' }));
    expect(delivery.state).toBe('succeeded');
  });

  it.each(['succeeded', 'failed', 'skipped', 'paused'] as const)('that fails brings nothing back that is %s', (state) => {
    const delivery = step({ state });
    advance(delivery, result({ state: 'pending', delayMs: 5 }));
    expect(delivery).toMatchObject({ state, attempts: 1, changed: undefined });
  });

  it('counts always, once, and changes a newer series in nothing', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<DeliveryState>(...deliveryStates),
        fc.constantFrom(...steps),
        fc.nat(20),
        fc.nat(20),
        fc.nat(20),
        (state, next, start, series, claimed) => {
          const before = step({ state, attempts: start + series, seriesStart: start });
          advance(before, result(next, { seriesStart: Math.min(claimed, start) }));
          expect(before).toMatchObject({ attempts: start + series + 1, counted: true });
          const stale = claimed < start;
          // A new series starts behind as many attempts as before.
          expect(before.seriesStart).toBe(start + (stale ? 1 : 0));
          if (stale) expect(before).toMatchObject({ state, changed: undefined });
        },
      ),
    );
  });
});
