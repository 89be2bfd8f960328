import pino from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { toolKind } from '../../crds/index.ts';
import { createInformer, fixedInformer, type Informer, type ResourceClient } from '../../kube/index.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { MemorySource, type MemoryObject } from '../../test/support/memory-source.ts';
import type { Managed } from '../status/common.ts';
import { Controller } from './controller.ts';
import { createMetrics } from './metrics.ts';
import type { Reconciler } from './reconciler.ts';

type Widget = MemoryObject & Managed;
type Status = NonNullable<Managed['status']>;

function controllerOf({
  informer = fixedInformer<Widget>([]),
  client = {},
  clock = new FakeClock(),
  ...reconciler
}: Partial<Reconciler<Widget, never, Status>> & {
  readonly informer?: Informer<Widget>;
  readonly client?: Partial<ResourceClient<Widget>>;
  readonly clock?: FakeClock;
}): Controller<Widget, never, Status> {
  const registry = new Registry();
  return new Controller<Widget, never, Status>({
    reconciler: {
      kind: 'Tool',
      statusFields: ['lastHandledReconcileAt'],
      plan: () => Promise.resolve({ actions: [] }),
      apply: () => Promise.resolve({}),
      ...reconciler,
    },
    informer,
    client: client as ResourceClient<Widget>,
    triggers: () => [],
    events: { record: () => undefined },
    adopt: () => Promise.resolve(),
    isTerminating: () => false,
    metrics: createMetrics(registry),
    concurrency: 1,
    referenceGraceMs: 0,
    clock,
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

it('plans for what is there once the history was rewound, not for what it wrote before', async () => {
  const clock = new FakeClock();
  const source = new MemorySource();
  const informer = createInformer<Widget>({
    client: Object.assign(source as never, { descriptor: toolKind.descriptor }),
    clock,
    random: () => 0,
  });
  const planned: number[] = [];
  const status: Status = { lastHandledReconcileAt: 'now' };
  const controller = controllerOf({
    informer,
    clock,
    client: {
      async applyStatus() {
        source.put('a', 1);
        const { items } = await source.list();
        return { ...items[0]!, status } as never;
      },
    },
    plan(object) {
      planned.push(object.value);
      return Promise.resolve({ actions: [], status });
    },
  });
  controller.listen(() => undefined);
  source.put('a', 1);
  informer.start();
  await informer.synced();
  const leading = new AbortController();
  const running = controller.run(leading.signal);
  await settle();
  expect(planned).toEqual([1]);
  source.rewind(2);
  source.put('a', 9);
  await clock.advance(1000);
  expect(planned[1]).toBe(9);
  leading.abort();
  await running;
  await informer.stop();
});
