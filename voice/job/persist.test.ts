import { beforeEach, describe, expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { StoreError } from '../../store/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { persist } from './persist.ts';

const logger = createLogger({ role: 'voice', level: 'silent' });
const settled = () => new Promise((resolve) => setImmediate(resolve));
let clock: FakeClock;
beforeEach(() => {
  clock = new FakeClock();
});

describe('what has to be written down', () => {
  it('is tried again until it is', async () => {
    let attempts = 0;
    const written = persist(
      async () => {
        attempts += 1;
        if (attempts < 4) throw new StoreError('unavailable', 'away');
        return 'done';
      },
      { clock, logger, withinMs: 10_000, what: 'it' },
    );
    for (const pause of [200, 400, 800]) {
      await settled();
      expect(clock.nextIn).toBe(pause);
      clock.tick(pause);
    }
    expect(await written).toBe('done');
  });

  it('is given up when the time is over', async () => {
    const written = persist(() => Promise.reject(new StoreError('unavailable', 'away')), { clock, logger, withinMs: 1_000, what: 'it' });
    const failed = expect(written).rejects.toMatchObject({ kind: 'unavailable' });
    for (let i = 0; i < 5; i += 1) {
      await settled();
      clock.tick(clock.nextIn ?? 0);
    }
    await failed;
    expect(clock.monotonic()).toBeLessThanOrEqual(1_000);
  });

  it('is not tried again where that changes nothing', async () => {
    const written = persist(() => Promise.reject(new StoreError('not_found', 'no such call')), {
      clock,
      logger,
      withinMs: 10_000,
      what: 'it',
    });
    await expect(written).rejects.toMatchObject({ kind: 'not_found' });
    expect(clock.timers).toBe(0);
  });
});
