/** Tests the guard with HTTP clients that read answers by themselves. */
import { fetch } from 'undici';
import { afterEach, beforeEach, expect, it } from 'vitest';

import type { EgressOptions } from './egress.ts';
import { openEgress, type TestEgress } from '../../test/support/open-egress.ts';
import { EgressError } from './egress-error.ts';
import { DnsServer } from '../../test/support/dns-server.ts';
import { Servers, type TestServer } from '../../test/support/http-servers.ts';

const servers = new Servers();
let dns: DnsServer;
let egress: TestEgress;
let reached: number;
let port: number;
let server: TestServer;

/** Opens a guard that allows loopback but for 127.66.0.0/16. */
const open = (options: EgressOptions = {}): TestEgress =>
  openEgress({ allowCidrs: ['127.0.0.0/10'], dnsServers: [dns.address], ...options });

beforeEach(async () => {
  dns = await DnsServer.start();
  dns.set('A good.example', { addresses: ['127.0.0.1'] });
  dns.set('A bad.example', { addresses: ['127.66.0.1'] });
  dns.set('A two-faced.example', { addresses: ['127.0.0.1', '127.66.0.1'] });
  reached = 0;
  server = await servers.http((request, response) => {
    reached += 1;
    if (request.url === '/on') response.writeHead(302, { location: `http://bad.example:${port}/` }).end();
    else response.end('hello');
  });
  ({ port } = server);
  egress = open();
});
afterEach(async () => {
  egress.close();
  await servers.stop();
  await dns.stop();
});

const get = async (url: string): Promise<string> => (await fetch(url, { dispatcher: egress.dispatcher })).text();

async function refusal(url: string): Promise<EgressError> {
  const error: unknown = await get(url).then(
    () => new Error('it was not refused'),
    (reason: unknown) => (reason as Error).cause,
  );
  if (!(error instanceof EgressError)) throw error;
  return error;
}

it('lets pass what may be called, and keeps the connection', async () => {
  expect(await get(`http://good.example:${port}/`)).toBe('hello');
  // The client has a connection back a moment after the last byte: before that it would open another one.
  for (let times = 0; times < 10; times += 1) expect(await get(`http://good.example:${port}/again`)).toBe('hello');
  expect(server.connections()).toBeLessThanOrEqual(2);
});

it.each([
  ['http://bad.example', 'forbidden_address'],
  ['http://two-faced.example', 'forbidden_address'],
  ['http://127.66.0.1', 'forbidden_address'],
  ['http://[::ffff:127.66.0.1]', 'forbidden_address'],
  ['http://[::1]', 'forbidden_address'],
] as const)('refuses %s before a byte is sent', async (origin, kind) => {
  expect(await refusal(`${origin}:${port}/`)).toMatchObject({ kind });
  expect(reached).toBe(0);
});

it('refuses where a redirect leads', async () => {
  expect(await refusal(`http://good.example:${port}/on`)).toMatchObject({ kind: 'forbidden_address' });
  expect(reached).toBe(1);
});

it('refuses ports that are not allowed, and everything once it is closed', async () => {
  expect(await refusal('http://good.example:81/')).toMatchObject({ kind: 'forbidden_url' });
  egress.close();
  await expect(get(`http://good.example:${port}/`)).rejects.toThrow('fetch failed');
  expect(reached).toBe(0);
});

it('says who does not answer', async () => {
  expect(await refusal('http://good.example:1025/')).toMatchObject({ kind: 'connect', host: 'good.example:1025' });
  expect(await refusal(`http://absent.example:${port}/`)).toMatchObject({ kind: 'dns' });
});
