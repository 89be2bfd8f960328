import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { describe, expect, it, onTestFinished } from 'vitest';

import { FakeClock, settle } from '../test/support/fake-clock.ts';
import { standStill } from '../test/support/stand-still.ts';
import { systemClock, withTimeout } from './clock.ts';

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

describe('a timer of the system', () => {
  it('lets an answer go first that has come while the process stood still', async () => {
    const [mine, theirs] = await connected();
    const order: string[] = [];
    const over = new Promise<void>((resolve) => {
      mine.once('data', () => order.push('answer'));
      systemClock.after(10, () => resolve(void order.push('timer')));
    });
    theirs.write('answer');
    standStill(100);
    await over;
    expect(order).toEqual(['answer', 'timer']);
  });

  it('can be cancelled until it is called', async () => {
    let called = false;
    const timer = systemClock.after(1, () => (called = true));
    setTimeout(() => timer.cancel(), 1);
    standStill(20);
    await settle();
    expect(called).toBe(false);
  });
});

async function connected(): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const mine = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[theirs]] = (await Promise.all([once(server, 'connection'), once(mine, 'connect')])) as [[Socket], unknown];
  onTestFinished(() => {
    for (const socket of [mine, theirs]) socket.destroy();
    server.close();
  });
  return [mine, theirs];
}
