import { expect, it } from 'vitest';

import { Semaphore } from './semaphore.ts';

it('grants its permits, then lets the others wait in order', async () => {
  const semaphore = new Semaphore(2);
  const granted: string[] = [];
  const acquire = async (name: string): Promise<() => void> => {
    const release = await semaphore.acquire();
    granted.push(name);
    return release;
  };
  const [first] = await Promise.all([acquire('a'), acquire('b')]);
  const waiting = [acquire('c'), acquire('d')];
  await Promise.resolve();
  expect(granted).toEqual(['a', 'b']);
  first();
  const third = await waiting[0]!;
  expect(granted).toEqual(['a', 'b', 'c']);
  third();
  await waiting[1];
  expect(granted).toEqual(['a', 'b', 'c', 'd']);
});

it('passes over one that has stopped waiting', async () => {
  const semaphore = new Semaphore(1);
  const release = await semaphore.acquire();
  const stop = new AbortController();
  const left = semaphore.acquire(stop.signal);
  const next = semaphore.acquire();
  stop.abort(new Error('no longer needed'));
  await expect(left).rejects.toThrow('no longer needed');
  release();
  await expect(next).resolves.toBeTypeOf('function');
  await expect(semaphore.acquire(stop.signal)).rejects.toThrow('no longer needed');
});
