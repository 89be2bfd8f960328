import { createServer, type Server } from 'node:net';

import { afterEach, expect, it } from 'vitest';

import { choosePorts, PORT_NAMES } from './settings.ts';
import { freePorts } from './ports.ts';

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

async function taken(): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}

it('gives every component a port of its own', async () => {
  const ports = await choosePorts({ wanted: {}, remembered: {} });
  expect(new Set(Object.values(ports)).size).toBe(PORT_NAMES.length);
});

it('keeps the ports of the last start, but for those that somebody else has now', async () => {
  const [free = 0] = await freePorts(1);
  const busy = await taken();
  const ports = await choosePorts({ wanted: {}, remembered: { api: free, etcd: busy } });
  expect(ports.api).toBe(free);
  expect(ports.etcd).not.toBe(busy);
});

it('takes a wanted port before a remembered one, and refuses one that is taken', async () => {
  const [wanted = 0] = await freePorts(1);
  const ports = await choosePorts({ wanted: { api: wanted }, remembered: { postgres: wanted } });
  expect(ports.api).toBe(wanted);
  expect(ports.postgres).not.toBe(wanted);
  const busy = await taken();
  await expect(choosePorts({ wanted: { api: busy }, remembered: {} })).rejects.toThrow(`port ${busy}, asked for api, is taken`);
});

it.each([
  ['api', '--api-port'],
  ['kube-apiserver', '--kube-port'],
  ['worker', 'PARLEY_WORKER_PORT'],
] as const)('says where another port for %s is chosen', async (name, setting) => {
  await expect(choosePorts({ wanted: { [name]: await taken() }, remembered: {} })).rejects.toMatchObject({
    cure: expect.stringContaining(`with ${setting},`),
  });
});
