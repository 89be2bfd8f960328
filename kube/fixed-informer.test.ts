import { expect, it } from 'vitest';

import { fixedInformer } from './fixed-informer.ts';

const namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'acme', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' },
};

it('has its objects, notifies every listener, and sends no requests', async () => {
  const informer = fixedInformer([namespace]);
  informer.start();
  await informer.synced();
  const changes: unknown[] = [];
  informer.onChange((change) => changes.push(change));
  expect(changes).toEqual([{ type: 'added', object: namespace, initial: true }]);
  expect(informer.cache.get('acme')).toEqual(namespace);
  expect(informer.cache.get('globex')).toBeUndefined();
  expect(informer.cache.synced).toBe(true);
  await informer.stop();
});
