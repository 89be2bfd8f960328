import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { SilenceTimer } from './silence-timer.ts';

let clock: FakeClock;
let told: number;
let timer: SilenceTimer;

beforeEach(() => {
  clock = new FakeClock();
  told = 0;
  timer = new SilenceTimer({ clock, afterMs: 10_000, onSilence: () => (told += 1) });
});

describe('silence', () => {
  it('is told once, after its time', () => {
    timer.start();
    clock.tick(9_999);
    expect(told).toBe(0);
    clock.tick(1);
    clock.tick(60_000);
    expect(told).toBe(1);
  });

  it('begins anew when the user or the agent stops speaking', () => {
    timer.start();
    clock.tick(9_000);
    timer.userSpeaks(true);
    clock.tick(30_000);
    timer.userSpeaks(false);
    clock.tick(9_000);
    timer.agentIsBusy(true);
    clock.tick(30_000);
    timer.agentIsBusy(false);
    clock.tick(9_999);
    expect(told).toBe(0);
    clock.tick(1);
    expect(told).toBe(1);
  });

  it('counts from when the user stopped, not from when that was noticed', () => {
    timer.start();
    timer.userSpeaks(true);
    clock.tick(5_000);
    timer.userSpeaks(false, 400);
    clock.tick(9_600);
    expect(told).toBe(1);
  });

  it('waits for everything that holds it, each once', () => {
    timer.start();
    const first = timer.hold();
    const second = timer.hold();
    clock.tick(60_000);
    first();
    first();
    clock.tick(60_000);
    expect(told).toBe(0);
    second();
    clock.tick(10_000);
    expect(told).toBe(1);
  });

  it('is never told before the start, and never after the stop', () => {
    clock.tick(60_000);
    timer.start();
    timer.stop();
    timer.userSpeaks(true);
    timer.userSpeaks(false);
    clock.tick(60_000);
    expect([told, clock.timers]).toEqual([0, 0]);
  });

  it('is told exactly when it was quiet for so long, whatever happened before', () => {
    const event = fc.record({
      after: fc.integer({ min: 1, max: 12_000 }),
      who: fc.constantFrom('user' as const, 'agent' as const, 'hold' as const),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), (happenings) => {
        const time = new FakeClock();
        let toldAt: number | undefined;
        const subject = new SilenceTimer({ clock: time, afterMs: 10_000, onSilence: () => (toldAt = time.monotonic()) });
        subject.start();
        const busy = { user: false, agent: false, hold: false };
        let release: () => void = () => undefined;
        let quietSince: number | undefined = 0;
        for (const { after, who } of happenings) {
          time.tick(after);
          const expected: number | undefined =
            quietSince !== undefined && time.monotonic() - quietSince >= 10_000 ? quietSince + 10_000 : undefined;
          expect(toldAt).toBe(expected);
          if (toldAt !== undefined) return;
          busy[who] = !busy[who];
          if (who === 'user') subject.userSpeaks(busy.user);
          else if (who === 'agent') subject.agentIsBusy(busy.agent);
          else if (busy.hold) release = subject.hold();
          else release();
          quietSince = busy.user || busy.agent || busy.hold ? undefined : time.monotonic();
        }
      }),
    );
  });
});
