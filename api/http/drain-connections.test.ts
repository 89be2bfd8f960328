import type { AddressInfo } from 'node:net';

import { fastify } from 'fastify';
import { Agent, request } from 'undici';
import { expect, it } from 'vitest';

import { systemClock } from '../../platform/clock.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { connectionDrain } from './drain-connections.ts';

it('a client that comes again and again over one connection leaves before the server closes', async () => {
  const app = fastify({ forceCloseConnections: 'idle' });
  app.get('/', () => 'here');
  const connections = connectionDrain(app, { clock: systemClock });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const dispatcher = new Agent({ connections: 1 });
  const ask = () => request(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/`, { dispatcher });
  const first = await ask();
  await first.body.dump();
  expect(first.headers['connection']).toBe('keep-alive');

  const drained = connections.drain();
  const second = await ask();
  expect([second.statusCode, second.headers['connection'], await second.body.text()]).toEqual([200, 'close', 'here']);
  // The only connection has closed, so that the drain ends.
  await drained;
  await app.close();
  await dispatcher.close();
});

it('waits no longer than there is somebody', async () => {
  const app = fastify();
  // This clock stands still, so that a wait would never end.
  const connections = connectionDrain(app, { clock: new FakeClock() });
  await app.listen({ host: '127.0.0.1', port: 0 });
  await expect(connections.drain()).resolves.toBeUndefined();
  await app.close();
});
