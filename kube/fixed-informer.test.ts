import { expect, it } from 'vitest';

import { fixedInformer } from './fixed-informer.ts';

const namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'acme', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' },
};

it('knows its objects, tells every listener of them, and asks nobody', async () => {
  const informer = fixedInformer([namespace]);
  informer.start();
  await informer.synced();
  const told: unknown[] = [];
  informer.onChange((change) => told.push(change));
  expect(told).toEqual([{ type: 'added', object: namespace, initial: true }]);
  expect(informer.cache.get('acme')).toEqual(namespace);
  expect(informer.cache.get('globex')).toBeUndefined();
  expect(informer.cache.synced).toBe(true);
  await informer.stop();
});
