import { WatchCache } from './cache.ts';
import type { Informer } from './informer.ts';
import type { KubeObject, Stored } from './types.ts';

/** An informer of objects that are known beforehand and never change, for processes that may not watch them. Sends no requests. */
export function fixedInformer<T extends KubeObject>(objects: readonly Stored<T>[]): Informer<T> {
  const cache = new WatchCache<T>();
  const filled = cache.replace(objects, '1');
  return {
    cache,
    start: () => undefined,
    async stop() {
      await filled;
    },
    async synced(signal) {
      signal?.throwIfAborted();
      await filled;
    },
    onChange(listener) {
      for (const object of objects) listener({ type: 'added', object, initial: true });
      return () => undefined;
    },
    lastContact: () => 0,
    connected: true,
    reconnect: () => undefined,
    state: 'watching',
  };
}
