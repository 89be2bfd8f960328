import { afterEach, expect, it, vi } from 'vitest';

import { withinTime } from './time-limit.ts';

afterEach(() => void vi.restoreAllMocks());

/** Returns work that is endless the first time it is called. */
function slowAtFirst(): () => string {
  let calls = 0;
  return () => {
    calls += 1;
    while (calls === 1);
    return 'done';
  };
}

/** Makes each attempt use this much of the thread's processor time. */
function used(ms: number): void {
  vi.spyOn(process, 'threadCpuUsage').mockImplementation((before) => ({ user: before === undefined ? 0 : ms * 1000, system: 0 }));
}

it('gives up on work that takes the processor for longer', () => {
  used(10);
  expect(withinTime(10, slowAtFirst())).toBeUndefined();
});

it('begins again where others had the processor', () => {
  used(1);
  expect(withinTime(10, slowAtFirst())).toBe('done');
  expect(
    withinTime(1, () => {
      for (;;);
    }),
  ).toBeUndefined();
});

it('gives up on work that fails', () => {
  used(0);
  let calls = 0;
  const fails = (): never => {
    calls += 1;
    throw new Error('no');
  };
  // The limit is so long that no pause of the machine reaches it first.
  expect([withinTime(60_000, fails), calls]).toEqual([undefined, 1]);
});
