import { afterEach, expect, it, vi } from 'vitest';

import { withinTime } from './time-limit.ts';

afterEach(() => void vi.restoreAllMocks());

/** Endless the first time it is called. */
function slowAtFirst(): () => string {
  let calls = 0;
  return () => {
    calls += 1;
    while (calls === 1);
    return 'done';
  };
}

/** Of the thread, for each attempt. */
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
  // No limit that a pause of the machine could reach first.
  expect([withinTime(60_000, fails), calls]).toEqual([undefined, 1]);
});
