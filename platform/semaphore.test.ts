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

it('lets those go first whose owners hold fewer, and keeps a permit for an owner that holds none', async () => {
  const semaphore = new Semaphore(2, { kept: 1 });
  const order: string[] = [];
  const acquire = async (owner: string): Promise<() => void> => {
    const release = await semaphore.acquire(undefined, owner);
    order.push(owner);
    return release;
  };
  const large = Array.from({ length: 5 }, () => acquire('large'));
  const small = acquire('small');
  const [first, second] = await Promise.all([large[0]!, large[1]!]);
  const done = await small;
  expect(order).toEqual(['large', 'large', 'small']);
  const other = acquire('other');
  done();
  await other;
  expect(order).toEqual(['large', 'large', 'small', 'other']);
  expect([semaphore.tryAcquire('large'), semaphore.tryAcquire('third')]).toEqual([undefined, undefined]);
  const again = acquire('small');
  first();
  second();
  await again;
  await large[2];
  expect(order).toEqual(['large', 'large', 'small', 'other', 'small', 'large']);
});
