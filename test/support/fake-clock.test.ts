import { describe, expect, it } from 'vitest';

import { sleep } from '../../platform/clock.ts';
import { FakeClock } from './fake-clock.ts';

describe('FakeClock', () => {
  it('fires timers in the order of their times, each at its own time', () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    const note = (name: string) => (): void => void fired.push(`${name} ${clock.monotonic()}`);
    clock.after(20, note('second'));
    clock.after(10, () => {
      note('first')();
      clock.after(5, note('from within'));
    });
    clock.after(20, note('third'));
    clock.after(31, note('late'));
    clock.after(15, note('cancelled')).cancel();
    clock.tick(30);
    expect(fired).toEqual(['first 10', 'from within 15', 'second 20', 'third 20']);
    expect([clock.monotonic(), clock.timers, clock.nextIn]).toEqual([30, 1, 1]);
  });

  it('lets promises settle between timers when it advances', async () => {
    const clock = new FakeClock();
    const steps: number[] = [];
    const work = async (): Promise<void> => {
      for (let n = 0; n < 3; n++) {
        await sleep(clock, 10);
        steps.push(clock.monotonic());
      }
    };
    const working = work();
    await clock.advance(30);
    await working;
    expect(steps).toEqual([10, 20, 30]);
  });

  it('can move the wall clock alone', async () => {
    const clock = new FakeClock({ now: 1000 });
    clock.jump(500);
    await clock.advance(10);
    expect([clock.now(), clock.monotonic()]).toEqual([1510, 10]);
  });

  it('fires late what falls due while it stalls', async () => {
    const clock = new FakeClock();
    const fired: number[] = [];
    for (const ms of [10, 20]) clock.after(ms, () => fired.push(clock.monotonic()));
    clock.stall(15);
    expect(fired).toEqual([]);
    await clock.advance(10);
    expect(fired).toEqual([15, 20]);
  });

  it('gives up on a condition that never holds', async () => {
    await expect(new FakeClock().advanceUntil(() => false, { limitMs: 1000 })).rejects.toThrow('did not hold within 1000 ms');
  });
});
