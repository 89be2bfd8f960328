import { describe, expect, it } from 'vitest';

import { FakeClock } from '../test/support/fake-clock.ts';
import { withTimeout } from './clock.ts';

describe('withTimeout', () => {
  it('gives the result of what is done in time, and leaves no timer', async () => {
    const clock = new FakeClock();
    expect(await withTimeout(clock, 1_000, Promise.resolve('done'))).toBe('done');
    expect(clock.timers).toBe(0);
  });

  it('gives undefined for what is not', async () => {
    const clock = new FakeClock();
    const result = withTimeout(clock, 1_000, new Promise(() => undefined));
    clock.tick(1_000);
    expect(await result).toBeUndefined();
  });

  it('rejects with what the work rejects with', async () => {
    const clock = new FakeClock();
    await expect(withTimeout(clock, 1_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(clock.timers).toBe(0);
  });
});
