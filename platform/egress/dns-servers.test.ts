import { afterEach, beforeEach, expect, it } from 'vitest';

import { sleep, systemClock } from '../clock.ts';
import { DnsServers } from './dns-servers.ts';
import { createNameResolver, type NameResolver } from './name-resolver.ts';
import { DnsServer } from '../../test/support/dns-server.ts';

let first: DnsServer;
let second: DnsServer;
let heard: number;

beforeEach(async () => {
  heard = 0;
  [first, second] = await Promise.all([DnsServer.start(), DnsServer.start()]);
});
afterEach(() => Promise.all([first.stop(), second.stop()]));

/** No server listens there. */
const dead = '127.0.0.1:9';
const resolverOf = (...servers: readonly string[]): NameResolver => createNameResolver({ servers, clock: systemClock });
const ask = (...servers: readonly string[]): Promise<readonly string[]> =>
  new DnsServers({ servers, clock: systemClock, onAnswer: () => (heard += 1) }).ask((resolver) => resolver.resolve4('a.example.'));

it('takes the answer of a server that is slower than the next question', async () => {
  first.set('A a.example', { addresses: ['192.0.2.1'], delayMs: 2200 });
  expect(await ask(first.address)).toEqual(['192.0.2.1']);
  expect(first.questions).toHaveLength(2);
});

it('waits as long for a name that takes long, whatever is asked and answered before and meanwhile', async () => {
  const servers = new DnsServers({ servers: [first.address], clock: systemClock, onAnswer: () => (heard += 1) });
  const quick = () => servers.ask((resolver) => resolver.resolve4('a.example.'));
  first.set('A a.example', { addresses: ['192.0.2.1'], delayMs: 5 });
  first.set('A slow.example', { addresses: ['192.0.2.2'], delayMs: 900 });
  for (let times = 0; times < 10; times += 1) await quick();
  const slow = servers.ask((resolver) => resolver.resolve4('slow.example.'));
  await sleep(systemClock, 400);
  await quick();
  expect(await slow).toEqual(['192.0.2.2']);
});

it('goes on to the next server when one is gone, silent or unable', async () => {
  second.set('A a.example', { addresses: ['192.0.2.2'] });
  expect(await ask(dead, second.address)).toEqual(['192.0.2.2']);
  first.set('A a.example', { silent: true });
  expect(await ask(first.address, second.address)).toEqual(['192.0.2.2']);
  for (const code of ['SERVFAIL', 'REFUSED'] as const) {
    first.set('A a.example', { code });
    expect(await ask(first.address, second.address)).toEqual(['192.0.2.2']);
  }
});

it('believes the first one that there is no such name', async () => {
  await expect(ask(first.address, second.address)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(second.questions).toEqual([]);
  expect(heard).toBe(1);
});

it('reports the answer of one rather than the failure of the other', async () => {
  first.set('A a.example', { code: 'SERVFAIL' });
  await expect(ask(first.address, dead)).rejects.toMatchObject({ code: 'ESERVFAIL' });
  await expect(ask(dead, first.address)).rejects.toMatchObject({ code: 'ESERVFAIL' });
  await expect(ask(dead, dead)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('blames a name that is never answered where others are, and its own servers where nothing is', async () => {
  for (const server of [first, second]) for (const type of ['A', 'AAAA']) server.set(`${type} a.example`, { silent: true });
  second.set('NS ', { silent: true });
  const [name, servers] = await Promise.allSettled([
    resolverOf(first.address).resolve('a.example'),
    resolverOf(second.address).resolve('a.example'),
  ]);
  expect(name).toMatchObject({ reason: { kind: 'dns', ours: false } });
  expect(servers).toMatchObject({ reason: { kind: 'dns_unavailable', ours: true } });
});
