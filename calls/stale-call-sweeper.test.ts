import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { systemClock } from '../platform/clock.ts';
import { createLogger } from '../platform/logging.ts';
import { CallLifecycle } from './lifecycle.ts';
import { StaleCallSweeper } from './stale-call-sweeper.ts';

describe('the count of stale calls', () => {
  it('is there before the first one, so that an alert on its increase hears of that one', async () => {
    const registry = new Registry();
    const lifecycle = new CallLifecycle({ calls: {} as never, clock: systemClock });
    const logger = createLogger({ role: 'test', level: 'silent' });
    void new StaleCallSweeper({ store: { overdue: async () => [] }, lifecycle, clock: systemClock, random: Math.random, logger, registry });
    const { values } = (await registry.getSingleMetric('parley_calls_reaped_total')?.get()) ?? { values: [] };
    expect(values.map(({ value, labels }) => [labels['reason'], value])).toEqual([
      ['user_connection_failure', 0],
      ['native_platform_internal_error', 0],
      ['maximum_duration_exceeded', 0],
    ]);
  });
});
