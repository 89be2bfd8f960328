import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

import { expect, it, onTestFinished } from 'vitest';

import { freePorts, portIsFree } from './ports.ts';

it('are free, and outside the range of outgoing connections', async () => {
  const [taken = 0] = await freePorts(1, 0.5);
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => void server.listen(taken, '127.0.0.1', resolve));
  expect(await portIsFree(taken)).toBe(false);

  const ports = await freePorts(20, (taken - 20_000) / 10_000);
  expect(new Set(ports).size).toBe(20);
  expect(ports).not.toContain(taken);
  expect(Math.min(...ports)).toBeGreaterThanOrEqual(20_000);
  expect(Math.max(...ports)).toBeLessThan(30_000);
});

it('are free of UDP, too, which carries the sound of calls', async () => {
  const [taken = 0] = await freePorts(1, 0.4);
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  await new Promise<void>((resolve) => void socket.bind(taken, '127.0.0.1', resolve));
  expect(await portIsFree(taken)).toBe(false);
});

it('are looked for at the beginning again where the end is reached', async () => {
  const ports = await freePorts(3, 0.9999);
  expect(ports).toHaveLength(3);
  expect(Math.min(...ports)).toBeLessThan(21_000);
});

it.runIf(process.platform === 'linux')('are not given to two who ask, though the first has not used them yet', async () => {
  const first = await freePorts(5, 0.25);
  const second = await freePorts(5, 0.25);
  expect(first.filter((port) => second.includes(port))).toEqual([]);
});
