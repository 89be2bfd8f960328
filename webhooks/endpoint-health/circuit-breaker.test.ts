import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { admitted, afterAttempts, type AttemptWindow, type Breaker, closed, isFailing, probeDue, probeTaken } from './circuit-breaker.ts';

const failing: AttemptWindow = { attempts: 20, failures: 20, events: 5 };
const failed = (window: AttemptWindow = failing) => ({ succeeded: 0, failed: 1, window });

describe('when it opens', () => {
  it.each<[string, AttemptWindow, boolean]>([
    ['too few attempts', { attempts: 19, failures: 19, events: 19 }, false],
    ['enough of everything', { attempts: 20, failures: 18, events: 5 }, true],
    ['too many successes', { attempts: 20, failures: 17, events: 17 }, false],
    ['one event again and again', { attempts: 50, failures: 50, events: 4 }, false],
  ])('%s', (_name, window, opens) => {
    expect(afterAttempts(closed, failed(window), 0).state).toBe(opens ? 'open' : 'closed');
  });

  it('never for a batch without a failure', () => {
    fc.assert(
      fc.property(fc.nat(), (succeeded) => {
        expect(afterAttempts(closed, { succeeded, failed: 0, window: failing }, 0)).toEqual(closed);
      }),
    );
  });

  it('never below nine failures of ten, or for less than five events', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.nat(500), fc.nat(500), (attempts, failures, events) => {
        if (isFailing({ attempts, failures, events })) {
          expect(attempts).toBeGreaterThanOrEqual(20);
          expect(failures * 10).toBeGreaterThanOrEqual(attempts * 9);
          expect(events).toBeGreaterThanOrEqual(5);
        }
      }),
    );
  });
});

describe('an endpoint that stays down', () => {
  it('is tried after 5, 10, 20 … seconds, and every 5 minutes in the end', () => {
    const clock = new FakeClock();
    let breaker = afterAttempts(closed, failed(), clock.now());
    const waits: number[] = [];
    for (let round = 0; round < 9; round += 1) {
      if (breaker.state !== 'open') throw new Error(breaker.state);
      expect(probeDue(breaker, breaker.probeAt - 1)).toBe(false);
      waits.push(breaker.probeAt - clock.now());
      clock.tick(breaker.probeAt - clock.now());
      expect(probeDue(breaker, clock.now())).toBe(true);
      breaker = probeTaken(breaker, { now: clock.now(), leaseMs: 6_000 });
      expect(probeDue(breaker, clock.now())).toBe(false);
      breaker = afterAttempts(breaker, failed(), clock.now());
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000]);
  });

  it('is not tried again before the last try can have ended', () => {
    const breaker = afterAttempts(closed, failed(), 0);
    if (breaker.state !== 'open') throw new Error(breaker.state);
    expect(probeTaken(breaker, { now: 5_000, leaseMs: 35_000 })).toMatchObject({ probeAt: 40_000 });
  });
});

describe('an endpoint that comes back', () => {
  it('gets 1, 2, 4, 8 deliveries at once, then all that any gets', () => {
    let breaker = afterAttempts(afterAttempts(closed, failed(), 0), { succeeded: 1, failed: 0 }, 5_000);
    const widths = [];
    for (let successes = 0; breaker.state !== 'closed'; successes += 1) {
      widths.push(admitted(breaker, 8));
      breaker = afterAttempts(breaker, { succeeded: 1, failed: 0 }, 5_000 + successes);
    }
    expect(widths).toEqual([2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8]);
    expect(admitted(breaker, 8)).toBe(8);
  });

  it('is left alone again at the first failure, for longer than before', () => {
    const first = afterAttempts(closed, failed(), 0);
    const half = afterAttempts(first, { succeeded: 1, failed: 0 }, 5_000);
    expect(afterAttempts(half, { succeeded: 1, failed: 1, window: failing }, 6_000)).toEqual({ state: 'open', opened: 2, probeAt: 16_000 });
  });

  it('comes to the same whether successes are reported one by one or together', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 12 }), (batches) => {
        const start: Breaker = { state: 'half_open', opened: 1, ramp: 2, rampLeft: 2 };
        const total = batches.reduce((sum, size) => sum + size, 0);
        const inBatches = batches.reduce<Breaker>((breaker, succeeded) => afterAttempts(breaker, { succeeded, failed: 0 }, 0), start);
        const oneByOne = Array.from({ length: total }).reduce<Breaker>((b) => afterAttempts(b, { succeeded: 1, failed: 0 }, 0), start);
        expect(inBatches).toEqual(oneByOne);
      }),
    );
  });
});

it('whatever happens: open admits nothing, the others at least one and never more than the limit; no probe is later than 5 minutes', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('attempts' as const), succeeded: fc.nat(9), failed: fc.nat(9), wait: fc.nat(400_000) }),
    fc.record({ kind: fc.constant('probe' as const), wait: fc.nat(400_000) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = new FakeClock();
      let breaker = closed;
      for (const one of steps) {
        clock.tick(one.wait);
        if (one.kind === 'attempts') breaker = afterAttempts(breaker, { ...one, window: failing }, clock.now());
        else if (breaker.state === 'open' && probeDue(breaker, clock.now())) {
          breaker = probeTaken(breaker, { now: clock.now(), leaseMs: 6_000 });
        }
        const room = admitted(breaker, 8);
        if (breaker.state === 'open') {
          expect(room).toBe(0);
          expect(breaker.probeAt - clock.now()).toBeLessThanOrEqual(300_000);
        } else {
          expect(room).toBeGreaterThanOrEqual(1);
          expect(room).toBeLessThanOrEqual(8);
        }
        if (breaker.state === 'half_open') expect(breaker.rampLeft).toBeGreaterThan(0);
      }
    }),
  );
});
