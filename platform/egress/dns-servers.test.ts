import { afterEach, beforeEach, expect, it } from 'vitest';

import { systemClock, type Clock } from '../clock.ts';
import { DnsServers } from './dns-servers.ts';
import { createNameResolver, type NameResolver } from './name-resolver.ts';
import { DnsServer } from '../../test/support/dns-server.ts';
import { eventually } from '../../test/support/eventually.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';

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
/** Answers count as long as the test takes, unless it says otherwise. */
const serversAt = (servers: readonly string[], clock: Clock = systemClock, queryTimeoutMs = 300_000): DnsServers =>
  new DnsServers({ servers, clock, queryTimeoutMs, onAnswer: () => (heard += 1) });
const ask = (...servers: readonly string[]): Promise<readonly string[]> =>
  serversAt(servers).ask((resolver) => resolver.resolve4('a.example.'));

it('takes the answer of a server that is slower than the next question', async () => {
  const clock = new FakeClock();
  const isAskedAgain = Promise.withResolvers<void>();
  first.set('A a.example', () => {
    if (first.questions.length === 1) return { addresses: ['192.0.2.1'], after: isAskedAgain.promise };
    isAskedAgain.resolve();
    return { silent: true };
  });
  const answer = serversAt([first.address], clock).ask((resolver) => resolver.resolve4('a.example.'));
  await eventually(() => expect(first.questions).toHaveLength(1));
  clock.tick(1_500);
  expect(await answer).toEqual(['192.0.2.1']);
  expect(first.questions).toHaveLength(2);
});

it('asks each question through a resolver of its own: one that has had fast answers would give up on a slow name after 250 ms', async () => {
  const servers = serversAt([first.address], new FakeClock());
  const resolvers = new Set<object>();
  first.set('A a.example', { addresses: ['192.0.2.1'] });
  for (let times = 0; times < 10; times += 1) {
    await servers.ask((resolver) => {
      resolvers.add(resolver);
      return resolver.resolve4('a.example.');
    });
  }
  expect(resolvers.size).toBe(10);
});

it('asks again at once where the time of a question is over before the next one was due, as in a process that stood still', async () => {
  const servers = serversAt([first.address], new FakeClock(), 500);
  // On a slow machine the next questions may be late, too.
  const answer = await eventually(() => {
    const before = first.questions.length;
    first.set('A a.example', () => (first.questions.length === before + 1 ? { silent: true } : { addresses: ['192.0.2.1'] }));
    return servers.ask((resolver) => resolver.resolve4('a.example.'));
  });
  expect(answer).toEqual(['192.0.2.1']);
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
  const asked = serversAt([first.address, second.address], new FakeClock()).ask((resolver) => resolver.resolve4('a.example.'));
  await expect(asked).rejects.toMatchObject({ code: 'ENOTFOUND' });
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
  const failure = (server: DnsServer) =>
    resolverOf(server.address)
      .resolve('a.example')
      .catch((error: unknown) => error);
  const name = async () => expect(await failure(first)).toMatchObject({ kind: 'dns', ours: false });
  // No server answers where this process stands still for seconds while it asks.
  const [, servers] = await Promise.all([eventually(name), failure(second)]);
  expect(servers).toMatchObject({ kind: 'dns_unavailable', ours: true });
});
