import pino from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { fixedInformer } from '../../kube/fixed-informer.ts';
import type { Managed } from '../status/common.ts';
import { Controller } from './controller.ts';
import { createMetrics } from './metrics.ts';
import type { Reconciler } from './reconciler.ts';

function controllerOf(reconciler: Pick<Reconciler<Managed, never, object>, 'refresh' | 'catchUp'>): Controller<Managed, never, never> {
  const registry = new Registry();
  return new Controller<Managed, never, never>({
    reconciler: {
      kind: 'Tool',
      statusFields: [],
      plan: () => Promise.resolve({ actions: [] }),
      apply: () => Promise.resolve({}),
      ...reconciler,
    },
    informer: fixedInformer<Managed>([]),
    client: {} as never,
    triggers: () => [],
    events: { record: () => undefined },
    isTerminating: () => false,
    metrics: createMetrics(registry),
    concurrency: 1,
    referenceGraceMs: 0,
    clock: new FakeClock(),
    random: () => 0,
    logger: pino({ level: 'silent' }),
    registry,
  });
}

it('looks for what is gone while it leads, and not on a standby', async () => {
  const calls: string[] = [];
  const controller = controllerOf({ refresh: () => void calls.push('refresh'), catchUp: () => void calls.push('catchUp') });
  const happens = (): void => {
    controller.postgresIsBack();
    controller.organizationDeleted();
  };
  happens();
  expect(calls).toEqual([]);
  const leading = new AbortController();
  const running = controller.run(leading.signal);
  happens();
  expect(calls).toEqual(['refresh', 'catchUp', 'catchUp']);
  leading.abort();
  await running;
  happens();
  expect(calls).toHaveLength(3);
});
