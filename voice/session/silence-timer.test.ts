import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { SilenceTimer } from './silence-timer.ts';

let clock: FakeClock;
let reported: number;
let timer: SilenceTimer;

beforeEach(() => {
  clock = new FakeClock();
  reported = 0;
  timer = new SilenceTimer({ clock, afterMs: 10_000, onSilence: () => (reported += 1) });
});

describe('silence', () => {
  it('is reported once, after its time', () => {
    timer.start();
    clock.tick(9_999);
    expect(reported).toBe(0);
    clock.tick(1);
    clock.tick(60_000);
    expect(reported).toBe(1);
  });

  it('begins again when the user or the agent stops speaking', () => {
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
    expect(reported).toBe(0);
    clock.tick(1);
    expect(reported).toBe(1);
  });

  it('counts from when the user stopped, not from when that was noticed', () => {
    timer.start();
    timer.userSpeaks(true);
    clock.tick(5_000);
    timer.userSpeaks(false, 400);
    clock.tick(9_600);
    expect(reported).toBe(1);
  });

  it('waits for everything that holds it, each once', () => {
    timer.start();
    const first = timer.hold();
    const second = timer.hold();
    clock.tick(60_000);
    first();
    first();
    clock.tick(60_000);
    expect(reported).toBe(0);
    second();
    clock.tick(10_000);
    expect(reported).toBe(1);
  });

  it('is never reported before the start or after the stop', () => {
    clock.tick(60_000);
    timer.start();
    timer.stop();
    timer.userSpeaks(true);
    timer.userSpeaks(false);
    clock.tick(60_000);
    expect([reported, clock.timers]).toEqual([0, 0]);
  });

  describe('with a reminder', () => {
    let reminded: number;
    let said: () => void;
    /** Promises are kept after the microtasks that wait for them. */
    const settled = () => new Promise(setImmediate);

    beforeEach(() => {
      reminded = 0;
      timer = new SilenceTimer({
        clock,
        afterMs: 10_000,
        remind: () =>
          new Promise((resolve) => {
            reminded += 1;
            said = resolve;
          }),
        onSilence: () => (reported += 1),
      });
      timer.start();
    });

    it.each(['said first', 'silent first'])(
      'asks after half of it, and ends after the other half, which begins when that is said: %s',
      async (order) => {
        clock.tick(4_999);
        expect(reminded).toBe(0);
        clock.tick(1);
        expect(reminded).toBe(1);
        // However long it takes until it is spoken, and to speak it.
        clock.tick(20_000);
        timer.agentIsBusy(true);
        clock.tick(20_000);
        if (order === 'said first') said();
        else timer.agentIsBusy(false);
        await settled();
        clock.tick(20_000);
        if (order === 'said first') timer.agentIsBusy(false);
        else said();
        await settled();
        clock.tick(4_999);
        expect([reminded, reported]).toEqual([1, 0]);
        clock.tick(1);
        expect([reminded, reported]).toEqual([1, 1]);
      },
    );

    it('asks again in the next silence: behind whatever the user or the agent said, the reminder interrupted or not', async () => {
      const interruptions: (() => void)[] = [
        () => {
          timer.userSpeaks(true);
          timer.userSpeaks(false);
        },
        () => timer.heard(),
        () => timer.hold()(),
      ];
      for (const [i, speak] of [...interruptions, ...interruptions].entries()) {
        clock.tick(5_000);
        expect(reminded).toBe(i + 1);
        timer.agentIsBusy(true);
        if (i < interruptions.length) {
          said();
          timer.agentIsBusy(false);
          await settled();
          clock.tick(4_999);
          speak();
        } else {
          speak();
          timer.agentIsBusy(false);
          said();
          await settled();
        }
        clock.tick(4_999);
        expect([reminded, reported]).toEqual([i + 1, 0]);
        clock.tick(1);
        said();
        await settled();
        timer.heard();
        reminded = i + 1;
      }
      clock.tick(5_000);
      said();
      await settled();
      timer.agentIsBusy(true);
      timer.agentIsBusy(false);
      clock.tick(9_999);
      expect(reported).toBe(0);
    });

    it('that fails ends nothing, and delays nothing', async () => {
      const failing = new SilenceTimer({
        clock,
        afterMs: 10_000,
        remind: () => Promise.reject(new Error('no voice')),
        onSilence: () => (reported += 10),
      });
      timer.stop();
      failing.start();
      clock.tick(5_000);
      await settled();
      clock.tick(5_000);
      expect(reported).toBe(10);
    });

    it('that is under way at the stop is the last thing that happens', async () => {
      clock.tick(5_000);
      timer.stop();
      said();
      await settled();
      clock.tick(60_000);
      expect([reminded, reported, clock.timers]).toEqual([1, 0, 0]);
    });
  });

  it('is reported exactly when it was quiet for so long, whatever happened before', () => {
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
