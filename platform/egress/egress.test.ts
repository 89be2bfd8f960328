import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

import { Registry } from 'prom-client';
import { request as requestThrough } from 'undici';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { systemClock, type Clock } from '../clock.ts';
import { Connection } from './connection.ts';
import { createEgress, type EgressOptions, type EgressRequest, type EgressResponse } from './egress.ts';
import { openEgress, type TestEgress } from '../../test/support/open-egress.ts';
import { EgressError } from './egress-error.ts';
import type { NameAnswer } from './name-resolver.ts';
import { selfSigned } from '../../local-stack/components/self-signed.ts';
import { DnsServer } from '../../test/support/dns-server.ts';
import { eventually } from '../../test/support/eventually.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { testFolder } from '../../test/support/folders.ts';
import { Servers, whole, writeWithoutEnd } from '../../test/support/http-servers.ts';
import { standStill } from '../../test/support/stand-still.ts';

const servers = new Servers();
let dns: DnsServer;
let opened: TestEgress[];

beforeEach(async () => {
  dns = await DnsServer.start();
  opened = [];
});
afterEach(async () => {
  opened.forEach((egress) => egress.close());
  await servers.stop();
  await dns.stop();
});

/** Loopback is allowed but for 127.66.0.0/16, where the servers stand that must not be reached. */
const allowed = ['127.0.0.0/10', '::1/128'];
const forbiddenAddress = '127.66.0.1';

/** Uses a clock that stands still: the guard waits for any answer, and keeps any connection, as long as the test takes. */
function egressWith(options: EgressOptions = {}): TestEgress {
  const egress = openEgress({ allowCidrs: allowed, dnsServers: [dns.address], clock: new FakeClock(), ...options });
  opened.push(egress);
  return egress;
}

const defaults = { timeoutMs: 30_000, maxBodyBytes: 100_000 };
const send = (egress: TestEgress, request: Partial<EgressRequest> & { url: string }): Promise<EgressResponse> =>
  egress.request({ ...defaults, ...request });

async function failure(promise: Promise<unknown>): Promise<EgressError> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof EgressError)) throw error;
  return error;
}

describe('ports that are denied', () => {
  it('are called under no name, by no redirect and by no client of HTTP, while their neighbours are', async () => {
    const [own, theirs] = [
      await servers.http((_, response) => response.end('own')),
      await servers.http((request, response) => {
        if (request.url === '/away') response.writeHead(302, { location: `http://localhost:${own.port}/` }).end();
        else response.end('theirs');
      }),
    ];
    dns.set('A inside.example', { addresses: ['127.0.0.1'] });
    const egress = egressWith({ denyPorts: `${own.port}`, hosts: ['led.example=127.0.0.1', `receiver.example=127.0.0.1:${own.port}`] });
    for (const host of [
      '127.0.0.1',
      'localhost',
      'x.localhost',
      '127.1',
      '0x7f.1',
      '[::ffff:7f00:1]',
      '[::1]',
      'inside.example',
      'led.example',
    ]) {
      expect((await failure(send(egress, { url: `http://${host}:${own.port}/` }))).kind, host).toBe('forbidden_address');
      await expect(fetchThrough(egress, `http://${host}:${own.port}/`), host).rejects.toThrow(
        /not on the public internet|the machine that Parley itself runs on/,
      );
    }
    for (const host of ['127.0.0.1', 'inside.example', 'led.example'])
      expect((await send(egress, { url: `http://${host}:${theirs.port}/` })).body.toString()).toBe('theirs');
    expect((await failure(send(egress, { url: `http://localhost:${theirs.port}/away`, maxRedirects: 3 }))).kind).toBe('forbidden_address');
    // The operator of the installation maps this name there.
    expect((await send(egress, { url: 'http://receiver.example/' })).body.toString()).toBe('own');
  });

  it('are those of a public host all the same', () => {
    expect(egressWith({ denyPorts: '8000-9000' }).check('https://example.com:8443/')).toBeUndefined();
    expect(egressWith({ denyPorts: '8000-9000' }).check('https://8.8.8.8:8443/')).toBeUndefined();
  });
});

const fetchThrough = async (egress: TestEgress, url: string): Promise<unknown> => requestThrough(url, { dispatcher: egress.dispatcher });

describe('a request', () => {
  it('sends what it is given and gives back what comes', async () => {
    const server = await servers.http(
      whole(({ method, url, headers }, response, body) => {
        const seen = { method, url, headers, body: body.toString('hex') };
        response.writeHead(207, { 'x-one': 'a', 'set-cookie': ['a=1', 'b=2'] }).end(JSON.stringify(seen));
      }),
    );
    const body = randomBytes(1000);
    const url = `http://localhost:${server.port}/a%20b?c=d#e`;
    const answer = await send(egressWith(), { url, method: 'PUT', headers: { 'X-Mine': 'yes', 'content-type': 'x/y' }, body });
    expect(answer).toMatchObject({ status: 207, truncated: false, address: '127.0.0.1', url: `http://localhost:${server.port}/a%20b?c=d` });
    expect(answer.headers).toMatchObject({ 'x-one': 'a', 'set-cookie': ['a=1', 'b=2'] });
    const seen = JSON.parse(answer.body.toString()) as Record<string, unknown>;
    expect(seen).toMatchObject({ method: 'PUT', url: '/a%20b?c=d', body: body.toString('hex') });
    expect(seen['headers']).toMatchObject({
      'x-mine': 'yes',
      'content-type': 'x/y',
      host: `localhost:${server.port}`,
      'content-length': '1000',
    });
    expect(seen['headers']).not.toHaveProperty('accept-encoding');
  });

  it('goes to one that is reached by IPv6, by a second address, by an allowed name', async () => {
    const v6 = await servers.http((_, response) => response.end('six'), { address: '::1' });
    const egress = egressWith();
    expect((await send(egress, { url: `http://[::1]:${v6.port}/` })).body.toString()).toBe('six');
    // No server listens at the first address.
    expect((await send(egress, { url: `http://localhost:${v6.port}/` })).address).toBe('0:0:0:0:0:0:0:1');
    const second = await servers.http((_, response) => response.end('second'), { address: '127.0.0.3' });
    dns.set('A two.example', { addresses: ['127.0.0.2', '127.0.0.3'] });
    expect(await send(egress, { url: `http://two.example:${second.port}/` })).toMatchObject({ address: '127.0.0.3', status: 200 });
  });

  it('is answered 500 times at once', async () => {
    const arrived: (() => void)[] = [];
    const server = await servers.http((request, response) => {
      request.resume();
      request.on('end', () => {
        if (arrived.push(() => response.end(request.url)) === 500) arrived.forEach((answer) => answer());
      });
    });
    const egress = egressWith();
    const answers = await Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        const url = `http://localhost:${server.port}/${index}`;
        return (await send(egress, { url, method: 'POST', body: 'x' })).body.toString() === `/${index}`;
      }),
    );
    expect(answers.every(Boolean)).toBe(true);
  });

  it('counts its outcomes', async () => {
    const server = await servers.http((_, response) => response.writeHead(500).end());
    const registry = new Registry();
    const egress = egressWith({ registry });
    await send(egress, { url: `http://localhost:${server.port}/` });
    await failure(send(egress, { url: 'http://10.0.0.1/' }));
    const values = (await registry.getSingleMetric('parley_egress_requests_total')?.get())?.values;
    expect(values?.map(({ labels, value }) => [labels['outcome'], value])).toEqual([
      ['answered', 1],
      ['forbidden_address', 1],
    ]);
  });
});

describe('an address that may not be called', () => {
  let victim: Awaited<ReturnType<Servers['http']>>;
  beforeEach(async () => {
    victim = await servers.http((_, response) => response.end('secret'), { address: forbiddenAddress });
  });
  afterEach(() => expect(victim.connections()).toBe(0));

  it('is refused as a literal', async () => {
    const error = await failure(send(egressWith(), { url: `http://${forbiddenAddress}:${victim.port}/` }));
    expect(error).toMatchObject({ kind: 'forbidden_address', phase: 'check', host: `${forbiddenAddress}:${victim.port}`, ours: false });
    const numbers = ['127.4325377', '0x7f420001', '017720400001', '①②⑦.66.0.1', '127%2e66.0.1'];
    for (const host of [...numbers, '[::ffff:7f42:1]', '[64:ff9b::7f42:1]', '[::7f42:1]', '[2002:7f42:1::]']) {
      expect((await failure(send(egressWith(), { url: `http://${host}:${victim.port}/` }))).kind).toBe('forbidden_address');
    }
  });

  it.each([
    ['alone', { A: [forbiddenAddress] }],
    ['next to an allowed one', { A: ['127.0.0.1', forbiddenAddress] }],
    ['behind many', { A: [...Array.from({ length: 8 }, (_, index) => `127.0.0.${index + 1}`), forbiddenAddress] }],
    ['as an IPv6 address next to an allowed one', { A: ['127.0.0.1'], AAAA: ['fd00::1'] }],
    ['mapped', { AAAA: [`::ffff:${forbiddenAddress}`] }],
    ['through NAT64', { AAAA: ['64:ff9b::7f42:1'] }],
  ])('is refused when a name has it %s', async (_, answers: { A?: readonly string[]; AAAA?: readonly string[] }) => {
    for (const type of ['A', 'AAAA'] as const)
      if (answers[type] !== undefined) dns.set(`${type} evil.example`, { addresses: answers[type] });
    const error = await failure(send(egressWith(), { url: `http://evil.example:${victim.port}/` }));
    expect(error).toMatchObject({ kind: 'forbidden_address', phase: 'dns' });
    // The address of an internal name must not leak.
    expect(error.message).not.toContain(forbiddenAddress);
  });

  it('is refused when DNS changes between two questions, and never reached when it changes behind the check', async () => {
    const honest = await servers.http((_, response) => response.end('honest'), { port: victim.port });
    let asked = 0;
    const resolve = async () => ({ addresses: [(asked += 1) === 1 ? '127.0.0.1' : forbiddenAddress], ttlSeconds: 0 });
    const egress = egressWith({ resolver: { resolve } });
    const url = `http://rebind.example:${victim.port}/`;
    // The connection goes to the address that was checked: DNS is asked once.
    expect((await send(egress, { url })).body.toString()).toBe('honest');
    expect(asked).toBe(1);
    for (let attempt = 0; attempt < 3; attempt += 1) expect((await failure(send(egress, { url }))).kind).toBe('forbidden_address');
    expect(honest.connections()).toBe(1);
  });

  it('is refused behind a redirect, however it is written there', async () => {
    const server = await servers.http((request, response) => {
      const to = decodeURIComponent(request.url?.slice(1) ?? '');
      response.writeHead(302, { location: to }).end();
    });
    dns.set('A evil.example', { addresses: [forbiddenAddress] });
    const egress = egressWith();
    const through = async (location: string): Promise<string> => {
      const url = `http://localhost:${server.port}/${encodeURIComponent(location)}`;
      return (await failure(send(egress, { url, maxRedirects: 3 }))).kind;
    };
    expect(await through(`http://${forbiddenAddress}:${victim.port}/`)).toBe('forbidden_address');
    expect(await through(`//0x7f420001:${victim.port}/`)).toBe('forbidden_address');
    expect(await through(`http://evil.example:${victim.port}/`)).toBe('forbidden_address');
    expect(await through(`http://[::ffff:127.66.0.1]:${victim.port}/`)).toBe('forbidden_address');
    expect(await through('file:///etc/passwd')).toBe('forbidden_url');
    expect(await through('http://user:pw@127.0.0.1/')).toBe('forbidden_url');
    expect(await through(`http://localhost:22/`)).toBe('forbidden_url');
    expect(await through('http://')).toBe('redirect');
  });

  it('is not reached by a host header', async () => {
    const server = await servers.http((_, response) => response.end());
    for (const name of [
      'host',
      'Host',
      'HOST',
      'Connection',
      'transfer-encoding',
      'Content-Length',
      'proxy-authorization',
      'Upgrade',
      'expect',
      'te',
      'X-Ok: y\r\nHost',
    ]) {
      const headers = { [name]: `${forbiddenAddress}:${victim.port}` };
      expect((await failure(send(egressWith(), { url: `http://localhost:${server.port}/`, headers }))).kind).toBe('forbidden_header');
    }
    expect(server.connections()).toBe(0);
  });
});

it.each(['a\r\nx: y', 'a\nb', 'a\0b', 'ä€'])('refuses the header value %j, without repeating it', async (value) => {
  const server = await servers.http((_, response) => response.end());
  const error = await failure(send(egressWith(), { url: `http://localhost:${server.port}/`, headers: { 'x-secret': value } }));
  expect(error.kind).toBe('forbidden_header');
  expect(error.message).not.toContain(value);
});

describe('names', () => {
  it('are asked for as they are: no search domain, both families', async () => {
    const server = await servers.http((_, response) => response.end());
    dns.set('A hooks', { addresses: ['127.0.0.1'] });
    await send(egressWith(), { url: `http://hooks:${server.port}/` });
    await failure(send(egressWith(), { url: `http://nowhere.example:${server.port}/` }));
    expect(new Set(dns.questions)).toEqual(new Set(['A hooks', 'A nowhere.example', 'AAAA hooks', 'AAAA nowhere.example']));
  });

  it('are kept as long as their answers hold', async () => {
    const before = await servers.http((_, response) => response.end(), { address: '127.0.0.5' });
    await servers.http((_, response) => response.end(), { address: '127.0.0.6', port: before.port });
    const clock = new FakeClock();
    const egress = egressWith({ clock });
    const answering = async (name: string) => (await send(egress, { url: `http://${name}.example:${before.port}/` })).address;
    const lead = (address: string): void => {
      dns.set('A kept.example', { addresses: [address], ttl: 20 });
      dns.set('A fleeting.example', { addresses: [address], ttl: 0 });
    };
    lead('127.0.0.5');
    expect([await answering('kept'), await answering('fleeting')]).toEqual(['127.0.0.5', '127.0.0.5']);
    lead('127.0.0.6');
    clock.tick(19_999);
    expect([await answering('kept'), await answering('fleeting')]).toEqual(['127.0.0.5', '127.0.0.6']);
    clock.tick(1);
    expect(await answering('kept')).toBe('127.0.0.6');
  });

  it('that several ask for at once are asked for once', async () => {
    const server = await servers.http((_, response) => response.end());
    dns.set('A many.example', { addresses: ['127.0.0.1'] });
    const egress = egressWith();
    await Promise.all(Array.from({ length: 50 }, () => send(egress, { url: `http://many.example:${server.port}/` })));
    expect(dns.questions.filter((question) => question === 'A many.example').length).toBeLessThan(5);
  });

  it('do without IPv6 addresses that never come', async () => {
    const server = await servers.http((_, response) => response.end('here'));
    dns.set('A half.example', { addresses: ['127.0.0.1'] });
    dns.set('AAAA half.example', { silent: true });
    const clock = new FakeClock();
    const answer = send(egressWith({ clock }), { url: `http://half.example:${server.port}/` });
    // The resolver has the other addresses, and waits a little for these.
    await eventually(() => expect(clock.nextIn).toBe(100));
    clock.tick(100);
    expect((await answer).status).toBe(200);
  });

  it('fail as what they are', async () => {
    for (const type of ['A', 'AAAA']) dns.set(`${type} broken.example`, { code: 'SERVFAIL' });
    for (const type of ['A', 'AAAA']) dns.set(`${type} refused.example`, { code: 'REFUSED' });
    dns.set('A empty.example', { addresses: [] });
    for (const host of ['nowhere.example', 'empty.example', 'broken.example', 'refused.example']) {
      const error = await failure(send(egressWith(), { url: `http://${host}/` }));
      expect(error).toMatchObject({ kind: 'dns', phase: 'dns', ours: false, message: expect.stringContaining(host) as string });
    }
    const unanswered = egressWith({ dnsServers: ['127.0.0.1:9'] });
    expect(await failure(send(unanswered, { url: 'http://hooks.example/' }))).toMatchObject({ kind: 'dns_unavailable', ours: true });
  });

  it('never resolve localhost by DNS, and not at all where loopback is not allowed', async () => {
    dns.set('A localhost', { addresses: ['8.8.8.8'] });
    dns.set('A x.localhost', { addresses: ['8.8.8.8'] });
    const server = await servers.http((_, response) => response.end());
    expect((await send(egressWith(), { url: `http://x.localhost:${server.port}/` })).address).toBe('127.0.0.1');
    for (const host of ['localhost', 'localhost.', 'x.localhost'])
      expect((await failure(send(egressWith({ allowCidrs: [] }), { url: `http://${host}:${server.port}/` }))).kind).toBe(
        'forbidden_address',
      );
    expect(dns.questions).toEqual([]);
  });
});

describe('the clock', () => {
  const timeoutMs = 300;
  const doing = { check: '', dns: 'waiting for DNS', connect: '', tls: 'TLS handshake', head: 'waiting for the answer', body: 'reading' };
  /** Returns the error of a request whose time is over while it is stuck there. */
  const timedOut = async (
    request: Partial<EgressRequest> & { url: string },
    stuck: Promise<unknown>,
    options: EgressOptions = {},
  ): Promise<EgressError> => {
    const clock = new FakeClock();
    const sent = send(egressWith({ ...options, clock }), { timeoutMs, ...request });
    const ended = vi.fn<() => void>();
    const failing = failure(sent).finally(ended);
    await Promise.race([stuck, failing]);
    clock.tick(timeoutMs - 1);
    await settle();
    expect(ended).not.toHaveBeenCalled();
    clock.tick(1);
    const error = await failing;
    expect(error).toMatchObject({ kind: 'timeout', ours: false });
    expect(error.message).toContain('300 ms');
    expect(error.message).toContain(doing[error.phase]);
    return error;
  };

  it('runs over DNS', async () => {
    const server = await servers.http((_, response) => response.end());
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<NameAnswer>()];
    const resolver = { resolve: () => (asked.resolve(), answer.promise) };
    expect((await timedOut({ url: `http://slow.example:${server.port}/` }, asked.promise, { resolver })).phase).toBe('dns');
    // A later answer of DNS starts nothing.
    answer.resolve({ addresses: ['127.0.0.1'], ttlSeconds: 0 });
    await settle();
    await send(egressWith(), { url: `http://localhost:${server.port}/` });
    expect(server.connections()).toBe(1);
  });

  it('that DNS has run out distinguishes a slow name from dead servers', async () => {
    dns.set('A slow.example', { silent: true });
    dns.set('AAAA slow.example', { silent: true });
    const clock = new FakeClock();
    const egress = egressWith({ clock });
    const failing = failure(send(egress, { url: 'http://slow.example/', timeoutMs }));
    await eventually(() => expect(dns.questions).toContain('A slow.example'));
    clock.tick(timeoutMs);
    await failing;
    expect(await egress.dnsAnswered(0)).toBe(true);
    // No name has been asked since, so it takes another question, and that is answered late.
    const isLate = Promise.withResolvers<void>();
    clock.tick(1);
    dns.set('NS ', { code: 'REFUSED', after: isLate.promise });
    const late = egress.dnsAnswered(clock.monotonic());
    clock.tick(1_000);
    isLate.resolve();
    expect(await late).toBe(true);
    dns.set('NS ', { silent: true });
    clock.tick(1);
    const silent = egress.dnsAnswered(clock.monotonic());
    clock.tick(5_000);
    expect(await silent).toBe(false);
    expect(await egressWith({ dnsServers: ['127.0.0.1:9'] }).dnsAnswered(0)).toBe(false);
    const resolver = { resolve: () => Promise.reject(new Error('unused')) };
    expect(await egressWith({ resolver }).dnsAnswered(0)).toBe(true);
  });

  it('runs over the TLS handshake', async () => {
    const greeted = Promise.withResolvers<void>();
    const server = await servers.tcp((socket) => void socket.once('data', () => greeted.resolve()));
    expect((await timedOut({ url: `https://localhost:${server.port}/` }, greeted.promise)).phase).toBe('tls');
    await eventually(() => expect(server.open()).toBe(0));
  });

  it('runs over a request that the server does not read', async () => {
    const begun = Promise.withResolvers<void>();
    const server = await servers.tcp((socket) => void socket.once('data', () => (socket.pause(), begun.resolve())));
    const request = { url: `http://localhost:${server.port}/`, method: 'POST', body: Buffer.alloc(30_000_000) } as const;
    expect((await timedOut(request, begun.promise)).phase).toBe('head');
  });

  it('runs over the head, also when it drips', async () => {
    const asked = Promise.withResolvers<void>();
    const silent = await servers.http(() => asked.resolve());
    expect((await timedOut({ url: `http://localhost:${silent.port}/` }, asked.promise)).phase).toBe('head');
    await eventually(() => expect(silent.open()).toBe(0));
    const begun = Promise.withResolvers<void>();
    const dripping = await servers.tcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x-a: b\r\n'), 20);
      socket.once('close', () => clearInterval(drip));
      socket.once('data', () => begun.resolve());
    });
    expect((await timedOut({ url: `http://localhost:${dripping.port}/` }, begun.promise)).phase).toBe('head');
    await eventually(() => expect(dripping.open()).toBe(0));
  });

  it.each(['fail', 'truncate'] as const)('runs over the body, also when it drips (%s)', async (overflow) => {
    const isRead = Promise.withResolvers<void>();
    const server = await servers.http((_, response) => {
      // The body is more than the buffers of a connection hold: when it is gone, the head has been read.
      response.write(Buffer.alloc(30_000_000), () => isRead.resolve());
      const drip = setInterval(() => response.write('x'), 20);
      response.once('close', () => clearInterval(drip));
    });
    const request = { url: `http://localhost:${server.port}/`, overflow, maxBodyBytes: 100_000_000 };
    expect((await timedOut(request, isRead.promise)).phase).toBe('body');
    await eventually(() => expect(server.open()).toBe(0));
  });

  it('runs over all redirects together', async () => {
    const clock = new FakeClock();
    const server = await servers.http((_, response) => {
      response.writeHead(302, { location: '/' }).end();
      clock.tick(50);
    });
    const error = await failure(send(egressWith({ clock }), { url: `http://localhost:${server.port}/`, timeoutMs, maxRedirects: 1000 }));
    expect(error).toMatchObject({ kind: 'timeout', host: `localhost:${server.port}` });
  });

  it('does not count what this process itself was late to read', async () => {
    const done = join(testFolder(), 'has-answered');
    // Another process answers while this one is busy.
    const program = `const { writeFileSync } = require('node:fs');
      const server = require('node:http').createServer((request, response) => {
        if (request.url === '/at-once') return response.end();
        process.stdin.once('data', () => response.end('in time', () => writeFileSync('${done}', '')));
        console.log('asked');
      });
      server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      const [port] = (await once(child.stdout, 'data')) as [Buffer];
      let timeOut = (): void => undefined;
      const clock: Clock = {
        ...systemClock,
        after: (_ms, callback) => ((timeOut = callback), { cancel: () => (timeOut = () => undefined) }),
      };
      const egress = egressWith({ clock });
      const url = `http://127.0.0.1:${port.toString().trim()}`;
      // The connection is kept, so that the second request only has to be read.
      await send(egress, { url: `${url}/at-once` });
      const answer = send(egress, { url: `${url}/` });
      await once(child.stdout, 'data');
      systemClock.after(1, () => timeOut());
      child.stdin.write('answer');
      // The process stands still at least until the timer is due.
      do standStill(10);
      while (!existsSync(done));
      expect((await answer).body.toString()).toBe('in time');
    } finally {
      child.kill();
    }
  });

  it('stops for a signal, with its reason', async () => {
    const aborting = new AbortController();
    const reason = new Error('not needed any more');
    const server = await servers.http(() => aborting.abort(reason));
    const request = send(egressWith(), { url: `http://localhost:${server.port}/`, signal: aborting.signal });
    await expect(request).rejects.toBe(reason);
    await eventually(() => expect(server.open()).toBe(0));
    await expect(send(egressWith(), { url: `http://localhost:${server.port}/`, signal: aborting.signal })).rejects.toBe(reason);
    expect(server.connections()).toBeLessThan(2);
  });

  it('stops when the guard is closed, and nothing begins then', async () => {
    const server = await servers.http(() => undefined);
    const egress = egressWith();
    const request = failure(send(egress, { url: `http://localhost:${server.port}/` }));
    await eventually(() => expect(server.connections()).toBe(1));
    egress.close();
    expect(await request).toMatchObject({ kind: 'closed', ours: true });
    await eventually(() => expect(server.open()).toBe(0));
    expect(await failure(send(egress, { url: `http://localhost:${server.port}/` }))).toMatchObject({ kind: 'closed' });
    expect(server.connections()).toBe(1);
  });
});

it('does not give up on a slow address because there is a second one', async () => {
  // No server listens at the second address, which is tried before the first one can answer.
  const server = await servers.http((_, response) => response.end('late'));
  dns.set('A far.example', { addresses: ['127.0.0.1', '127.0.0.2'] });
  const timers = new FakeClock();
  const clock: Clock = {
    now: () => timers.now(),
    monotonic: () => timers.monotonic(),
    after(ms, callback) {
      if (ms !== 250) return timers.after(ms, callback);
      const timer = timers.after(0, callback);
      queueMicrotask(() => timers.tick(0));
      return timer;
    },
  };
  const answer = await send(egressWith({ clock }), { url: `http://far.example:${server.port}/` });
  expect(answer.body.toString()).toBe('late');
});

describe('the body', () => {
  it('is cut off where it is too long, and the server stopped', async () => {
    let sent = 0;
    const server = await servers.http((request, response) => {
      if (request.url === '/announced') response.setHeader('content-length', 10_000_000_000);
      writeWithoutEnd(response, (bytes) => (sent += bytes));
    });
    const egress = egressWith();
    const url = `http://localhost:${server.port}`;
    const cut = await send(egress, { url: `${url}/`, overflow: 'truncate', maxBodyBytes: 4096 });
    expect(cut).toMatchObject({ status: 200, truncated: true });
    expect(cut.body).toHaveLength(4096);
    expect(await send(egress, { url: `${url}/`, overflow: 'truncate', maxBodyBytes: 0 })).toMatchObject({ status: 200, truncated: true });
    expect(await send(egress, { url: `${url}/announced`, overflow: 'truncate', maxBodyBytes: 10 })).toMatchObject({ truncated: true });
    for (const path of ['/', '/announced'])
      expect(await failure(send(egress, { url: url + path, maxBodyBytes: 4096 }))).toMatchObject({ kind: 'too_large', phase: 'body' });
    await eventually(() => expect(server.open()).toBe(0));
    // Five connections hold at most this much in their buffers.
    expect(sent).toBeLessThan(5 * 20_000_000);
  });

  it('of exactly the longest length is whole', async () => {
    const server = await servers.http((_, response) => response.end('x'.repeat(1000)));
    const url = `http://localhost:${server.port}/`;
    expect((await send(egressWith(), { url, maxBodyBytes: 1000 })).body).toHaveLength(1000);
    expect((await failure(send(egressWith(), { url, maxBodyBytes: 999 }))).kind).toBe('too_large');
  });

  it('is decided by its first bytes, where that is all the caller wants', async () => {
    const server = await servers.http((_, response) => void response.write('x'.repeat(100)));
    const answer = await send(egressWith(), { url: `http://localhost:${server.port}/`, overflow: 'truncate', maxBodyBytes: 100 });
    expect(answer.body).toHaveLength(100);
  });

  it.each([
    ['never ends', (socket: Socket) => void socket.write('x')],
    ['is cut', (socket: Socket) => void socket.end('x')],
    ['is reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['is no chunk', (socket: Socket) => void socket.write('x\r\n')],
  ])('that %s is no failure where the status decides, and its connection is not used again', async (fate, go) => {
    const head =
      fate === 'is no chunk'
        ? 'HTTP/1.1 410 Gone\r\ntransfer-encoding: chunked\r\n\r\n'
        : 'HTTP/1.1 410 Gone\r\ncontent-length: 100\r\n\r\n';
    const server = await servers.tcp(
      (socket) => void socket.on('data', () => socket.write(head, () => void settle().then(() => go(socket)))),
    );
    const egress = egressWith({ clock: systemClock });
    const url = `http://127.0.0.1:${server.port}/`;
    const timeoutMs = fate === 'never ends' ? 300 : 30_000;
    for (let count = 1; count <= 2; count += 1) {
      expect(await send(egress, { url, statusDecides: true, timeoutMs })).toMatchObject({ status: 410, truncated: true });
      await eventually(() => expect(server.open()).toBe(0));
      expect(server.connections()).toBe(count);
    }
    expect((await failure(send(egress, { url, timeoutMs }))).phase).toBe('body');
  });

  const page = Buffer.from('a page '.repeat(1000));
  it.each([
    ['gzip', gzipSync(page)],
    ['x-gzip', gzipSync(page)],
    ['br', brotliCompressSync(page)],
    ['deflate', deflateSync(page)],
    ['deflate', deflateRawSync(page)],
    ['identity', page],
  ])('is inflated on request (%s)', async (coding, body) => {
    let asked: string | undefined;
    const server = await servers.http((request, response) => {
      asked = request.headers['accept-encoding'];
      response.writeHead(200, { 'content-encoding': coding }).end(body);
    });
    const url = `http://localhost:${server.port}/`;
    expect((await send(egressWith(), { url, decompress: true })).body.equals(page)).toBe(true);
    expect(asked).toBe('gzip, deflate, br');
    expect((await send(egressWith(), { url })).body.equals(body)).toBe(true);
    expect(asked).toBeUndefined();
  });

  const bomb = Buffer.alloc(60_000_000);
  it.each([
    ['gzip', () => gzipSync(bomb)],
    ['br', () => brotliCompressSync(bomb)],
    ['deflate', () => deflateSync(bomb)],
  ])('that explodes is stopped (%s)', async (coding, make) => {
    const body = make();
    expect(body.length).toBeLessThan(100_000);
    const server = await servers.http((_, response) => response.writeHead(200, { 'content-encoding': coding }).end(body));
    const error = await failure(send(egressWith(), { url: `http://localhost:${server.port}/`, decompress: true }));
    expect(error).toMatchObject({ kind: 'too_large', phase: 'body' });
  });

  it.each([
    ['cut short', 'gzip', gzipSync(page).subarray(0, 50)],
    ['damaged', 'gzip', Buffer.from('no gzip at all')],
    ['in an unknown coding', 'zstd', page],
    ['in two codings', 'gzip, gzip', gzipSync(gzipSync(page))],
  ])('that is %s is an error', async (_, coding, body) => {
    const server = await servers.http((_request, response) => response.writeHead(200, { 'content-encoding': coding }).end(body));
    const error = await failure(send(egressWith(), { url: `http://localhost:${server.port}/`, decompress: true }));
    expect(error).toMatchObject({ kind: 'protocol', phase: 'body' });
  });
});

describe('redirects', () => {
  it('are answers where none are allowed', async () => {
    const server = await servers.http((_, response) => response.writeHead(307, { location: '/other' }).end('moved'));
    expect(await send(egressWith(), { url: `http://localhost:${server.port}/` })).toMatchObject({ status: 307 });
    expect(server.connections()).toBe(1);
  });

  it('are followed as often as allowed, without what was meant for the first host only', async () => {
    const seen: { method: string | undefined; url: string | undefined; headers: unknown; body: string }[] = [];
    const listener =
      (to: () => string): Parameters<Servers['http']>[0] =>
      (request, response) => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          seen.push({ method: request.method, url: request.url, headers: request.headers, body });
          const status = Number(request.url?.slice(1, 4));
          if (Number.isInteger(status)) response.writeHead(status, { location: to() }).end();
          else response.end('there');
        });
      };
    const other = await servers.http(listener(() => '/end'));
    const first = await servers.http(listener(() => `http://127.0.0.1:${other.port}/end`));
    const headers = { authorization: 'Bearer x', 'X-Api-Key': 'y', 'Content-Type': 'text/plain', accept: 'a/b' };
    const follow = (path: string, port = first.port): Promise<EgressResponse> =>
      send(egressWith(), { url: `http://localhost:${port}${path}`, method: 'POST', body: 'hello', headers, maxRedirects: 2 });
    expect((await follow('/307')).url).toBe(`http://127.0.0.1:${other.port}/end`);
    expect(seen.at(-1)).toMatchObject({ method: 'POST', body: 'hello', headers: { 'content-type': 'text/plain', accept: 'a/b' } });
    expect(seen.at(-1)?.headers).not.toHaveProperty('authorization');
    expect(seen.at(-1)?.headers).not.toHaveProperty('x-api-key');
    await follow('/303', other.port);
    expect(seen.at(-1)).toMatchObject({ method: 'GET', url: '/end', body: '', headers: { authorization: 'Bearer x', 'x-api-key': 'y' } });
    expect(seen.at(-1)?.headers).not.toHaveProperty('content-type');
    expect(seen.at(-1)?.headers).not.toHaveProperty('content-length');
  });

  it('that go on too long are an error', async () => {
    const server = await servers.http((_, response) => response.writeHead(302, { location: '/' }).end());
    const error = await failure(send(egressWith(), { url: `http://localhost:${server.port}/`, maxRedirects: 3 }));
    expect(error.kind).toBe('redirect');
  });
});

describe('connections', () => {
  it('are used again, for one request at a time', async () => {
    let together = 1;
    let arrived: ServerResponse[] = [];
    const server = await servers.http((_, response) => {
      if (arrived.push(response) < together) return;
      for (const each of arrived) each.end('x');
      arrived = [];
    });
    const egress = egressWith();
    const url = `http://localhost:${server.port}/`;
    for (let count = 0; count < 20; count += 1) await send(egress, { url });
    expect(server.connections()).toBe(1);
    together = 3;
    await Promise.all([send(egress, { url }), send(egress, { url }), send(egress, { url })]);
    expect(server.connections()).toBe(3);
  });

  it('are not used again where DNS has moved on', async () => {
    const first = await servers.http((_, response) => response.end('first'), { address: '127.0.0.5' });
    await servers.http((_, response) => response.end('second'), { address: '127.0.0.6', port: first.port });
    const egress = egressWith();
    const url = `http://moving.example:${first.port}/`;
    dns.set('A moving.example', { addresses: ['127.0.0.5'] });
    expect((await send(egress, { url })).body.toString()).toBe('first');
    dns.set('A moving.example', { addresses: ['127.0.0.6'] });
    expect((await send(egress, { url })).body.toString()).toBe('second');
  });

  it('are never used again for what must not be repeated', async () => {
    const server = await servers.http((_, response) => response.end('x'));
    const egress = egressWith();
    const url = `http://127.0.0.1:${server.port}/`;
    for (let count = 0; count < 3; count += 1) await send(egress, { url, method: 'POST', body: 'x' });
    expect(server.connections()).toBe(3);
    await send(egress, { url });
    await send(egress, { url, method: 'POST', body: 'x', repeatable: true });
    expect(server.connections()).toBe(3);
  });

  it('of one owner serve no other, and those of other HTTP clients neither', async () => {
    const server = await servers.http((_, response) => response.end('x'));
    const guard = createEgress({ allowCidrs: allowed, dnsServers: [dns.address] });
    onTestFinished(() => guard.close());
    const url = `http://127.0.0.1:${server.port}/`;
    for (const [index, owner] of ['a', 'b', 'a', 'b'].entries()) {
      await guard.for(owner).request({ ...defaults, url });
      expect(server.connections()).toBe(Math.min(index + 1, 2));
    }
    for (const [index, owner] of ['a', 'b', 'a', 'b'].entries()) {
      await (await requestThrough(url, { dispatcher: guard.for(owner).dispatcher })).body.dump();
      expect(server.connections()).toBe(2 + Math.min(index + 1, 2));
    }
    const before = guard.for('a').dispatcher;
    server.dropConnections();
    // An owner without connections takes up no room.
    await eventually(() => expect(guard.for('a').dispatcher).not.toBe(before));
  });

  it('are kept within bounds: of each owner, and of all, where the largest gives one up', async () => {
    let together = 300;
    const waiting: ServerResponse[] = [];
    const server = await servers.http((_, response) => {
      if (waiting.push(response) === together) waiting.splice(0).forEach((each) => each.end());
    });
    const guard = createEgress({ allowCidrs: allowed, clock: new FakeClock() });
    onTestFinished(() => guard.close());
    const url = `http://127.0.0.1:${server.port}/`;
    const ask = async (owner: string, count: number): Promise<void> => {
      together = count;
      await Promise.all(Array.from({ length: count }, () => guard.for(owner).request({ ...defaults, url })));
    };
    for (const [index, owner] of ['a', 'b', 'c', 'd'].entries()) {
      await ask(owner, 300);
      await eventually(() => expect(server.open()).toBe((index + 1) * 256));
    }
    await ask('small', 10);
    await eventually(() => expect(server.open()).toBe(1024));
    const connections = server.connections();
    await ask('small', 10);
    expect(server.connections()).toBe(connections);
  });

  it('are ended after four seconds without a request', async () => {
    const server = await servers.http((_, response) => response.end('x'));
    const clock = new FakeClock();
    const egress = egressWith({ clock });
    const url = `http://127.0.0.1:${server.port}/`;
    for (let count = 0; count < 3; count += 1) {
      await send(egress, { url });
      clock.tick(3_999);
    }
    expect([server.connections(), server.open()]).toEqual([1, 1]);
    clock.tick(1);
    await eventually(() => expect(server.open()).toBe(0));
  });

  it('are kept in any number that was needed at once', async () => {
    // The server answers none before all requests have come.
    const waiting: { end(): unknown }[] = [];
    const server = await servers.http((_, response) => {
      if (waiting.push(response) === 100) waiting.splice(0).forEach((each) => each.end());
    });
    const egress = egressWith();
    const url = `http://127.0.0.1:${server.port}/`;
    for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 100 }, () => send(egress, { url })));
    expect(server.connections()).toBe(100);
  });

  it('that the server closed are replaced for what may be repeated', async () => {
    // The server closes each connection on its second request, without an answer.
    const served = new Map<unknown, number>();
    const server = await servers.http((request, response) => {
      const count = (served.get(request.socket) ?? 0) + 1;
      served.set(request.socket, count);
      if (count === 2) request.socket.destroy();
      else response.end('x');
    });
    const url = `http://localhost:${server.port}/`;
    const egress = egressWith();
    for (let count = 0; count < 5; count += 1) expect((await send(egress, { url })).status).toBe(200);
    const post = { url, method: 'POST', body: 'x' } as const;
    const other = egressWith();
    let repeated = 0;
    const counted = { ...post, repeatable: true, onRepeat: () => (repeated += 1) };
    for (let count = 0; count < 5; count += 1) expect((await send(other, counted)).status).toBe(200);
    // Each request but the first went out on the connection of the one before.
    expect(repeated).toBe(4);
    // However many stale connections there are, one that was closed is followed by a new one.
    const patient = egressWith();
    served.clear();
    await Promise.all(Array.from({ length: 10 }, () => send(patient, { url })));
    const before = server.connections();
    expect((await send(patient, { url })).status).toBe(200);
    expect(server.connections()).toBe(before + 1);
  });

  it('that the server closes within an answer are an error also for what may be repeated', async () => {
    let requests = 0;
    const server = await servers.tcp((socket) => {
      socket.on('data', () => {
        requests += 1;
        if (requests === 1) socket.write('HTTP/1.1 204 No Content\r\n\r\n');
        else socket.end('HTTP/1.1 200 OK\r\nx-a');
      });
    });
    const egress = egressWith();
    const url = `http://127.0.0.1:${server.port}/`;
    await send(egress, { url });
    expect(await failure(send(egress, { url }))).toMatchObject({ kind: 'reset', phase: 'head' });
    expect(requests).toBe(2);
  });

  it('that ended meanwhile do not count', async () => {
    const server = await servers.http((_, response) => response.end('x'), { keepAliveTimeout: 1 });
    const egress = egressWith();
    const url = `http://localhost:${server.port}/`;
    const ended = vi.spyOn(Connection.prototype, 'destroy');
    onTestFinished(() => ended.mockRestore());
    await send(egress, { url });
    server.dropConnections();
    await eventually(() => expect(ended).toHaveBeenCalled());
    const onRepeat = vi.fn<() => void>();
    expect((await send(egress, { url, onRepeat })).status).toBe(200);
    expect(onRepeat).not.toHaveBeenCalled();
  });

  it('end where the server says so', async () => {
    const server = await servers.http((_, response) => response.writeHead(200, { connection: 'close' }).end('x'));
    const egress = egressWith();
    for (let count = 0; count < 3; count += 1) await send(egress, { url: `http://localhost:${server.port}/` });
    expect(server.connections()).toBe(3);
  });

  it.each([
    ['closed at once', 'reset', 'head', ''],
    ['closed in the head', 'reset', 'head', 'HTTP/1.1 200 OK\r\nx-a'],
    ['closed in the body', 'reset', 'body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'],
    ['closed in a chunk', 'reset', 'body', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\nabc'],
    ['that speak SMTP', 'protocol', 'head', '220 mail.example ESMTP\r\n'],
    ['with a status that is none', 'protocol', 'head', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['with a bare line feed and a header without a colon', 'protocol', 'head', 'HTTP/1.1 200 OK\nnonsense\n\n'],
    ['with one endless header', 'protocol', 'head', `HTTP/1.1 200 OK\r\nx-a: ${'b'.repeat(100_000)}`],
    ['upgraded unasked', 'reset', 'head', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'],
    ['that speak SSH', 'protocol', 'head', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['with two lengths', 'protocol', 'head', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['with endless headers', 'protocol', 'head', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(5000)}`],
  ])('%s are an error: %s', async (_, kind, phase, text) => {
    const server = await servers.tcp((socket) => void socket.once('data', () => socket.end(text)));
    expect(await failure(send(egressWith(), { url: `http://localhost:${server.port}/` }))).toMatchObject({ kind, phase });
    expect(server.connections()).toBe(1);
    if (kind !== 'reset') return;
    const resetting = await servers.tcp((socket) => {
      socket.once('data', () => socket.write(text, () => void settle().then(() => socket.resetAndDestroy())));
    });
    expect((await failure(send(egressWith(), { url: `http://localhost:${resetting.port}/` }))).kind).toBe('reset');
    expect(resetting.connections()).toBe(1);
  });

  it.each(['destroy', 'resetAndDestroy'] as const)('that end before the request has come are an error (%s)', async (end) => {
    const server = await servers.tcp((socket) => void socket[end]());
    expect((await failure(send(egressWith(), { url: `http://127.0.0.1:${server.port}/` }))).kind).toBe('reset');
    expect(['tls', 'reset']).toContain((await failure(send(egressWith(), { url: `https://127.0.0.1:${server.port}/` }))).kind);
    expect(server.connections()).toBe(2);
  });

  it('that the server does not accept are an error', async () => {
    const server = await servers.http(() => undefined);
    await servers.stop();
    const error = await failure(send(egressWith(), { url: `http://127.0.0.1:${server.port}/` }));
    expect(error).toMatchObject({ kind: 'connect', phase: 'connect', host: `127.0.0.1:${server.port}` });
    expect((await failure(send(egressWith(), { url: `http://localhost:${server.port}/` }))).kind).toBe('connect');
  });
});

describe('TLS', () => {
  const identity = selfSigned({ names: ['hooks.example', 'localhost'], addresses: ['127.0.0.1'] });

  it('is checked against the trusted authorities, the name and the date', async () => {
    const answer = vi.fn<RequestListener>((_, response) => response.end('safe'));
    const server = await servers.https(answer, identity);
    const expired = selfSigned({ names: ['localhost'], days: -1 });
    const late = await servers.https(answer, expired);
    dns.set('A hooks.example', { addresses: ['127.0.0.1'] });
    dns.set('A other.example', { addresses: ['127.0.0.1'] });
    const egress = egressWith({ ca: identity.cert });
    for (const host of ['hooks.example', 'HOOKS.example.', 'localhost', '127.0.0.1'])
      expect((await send(egress, { url: `https://${host}:${server.port}/` })).body.toString()).toBe('safe');
    expect(await failure(send(egressWith(), { url: `https://localhost:${server.port}/` }))).toMatchObject({ kind: 'tls', phase: 'tls' });
    expect(await failure(send(egress, { url: `https://other.example:${server.port}/` }))).toMatchObject({ kind: 'tls' });
    expect(await failure(send(egressWith({ ca: expired.cert }), { url: `https://localhost:${late.port}/` }))).toMatchObject({
      kind: 'tls',
    });
    expect(answer).toHaveBeenCalledTimes(4);
  });

  it('that the server does not speak is an error', async () => {
    const plain = await servers.http((_, response) => response.end());
    expect(await failure(send(egressWith(), { url: `https://localhost:${plain.port}/` }))).toMatchObject({ kind: 'tls' });
  });

  it('connections are used again', async () => {
    const server = await servers.https((_, response) => response.end('x'), identity);
    const egress = egressWith({ ca: identity.cert });
    for (let count = 0; count < 5; count += 1) await send(egress, { url: `https://localhost:${server.port}/` });
    expect(server.connections()).toBe(1);
  });
});
