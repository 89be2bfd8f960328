/** One attempt against real sockets that misbehave in every way: what becomes of it. */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createEgress, type Egress, type EgressOptions } from '../../../platform/egress/egress.ts';
import { selfSigned } from '../../../platform/self-signed.ts';
import { DnsServer } from '../../support/dns-server.ts';
import { Servers, type TestServer } from '../../support/http-servers.ts';
import { createAttempt, type AttemptRequest } from '../../../webhooks/attempt/attempt.ts';
import type { AttemptOutcome } from '../../../webhooks/attempt/outcome.ts';
import { generateSigningKey, parseSigningKey } from '../../../webhooks/signing/signing-keys.ts';
import { eventually } from '../../support/eventually.ts';

/** Loopback is allowed but for 127.64.0.0/10, where those listen that must never hear anything. */
const allowed = ['127.0.0.0/10'];
const forbiddenAddress = '127.66.0.1';

const servers = new Servers();
const opened: Egress[] = [];
let dns: DnsServer;

beforeEach(async () => {
  dns = await DnsServer.start();
});
afterEach(async () => {
  opened.splice(0).forEach((egress) => egress.close());
  await servers.stop();
  await dns.stop();
});

function newEgress(options: EgressOptions = {}): Egress {
  const egress = createEgress({ allowCidrs: allowed, dnsServers: [dns.address], ...options });
  opened.push(egress);
  return egress;
}

const body = Buffer.from('{"eventName":"Webhook.Test"}');
const key = parseSigningKey(generateSigningKey());
const signed: AttemptRequest['credentials'] = { keys: key === undefined ? [] : [key], headers: { 'X-Custom': 'secret-value' } };

interface Options {
  readonly timeoutMs?: number;
  readonly egress?: Egress;
  readonly headers?: Readonly<Record<string, string>>;
}

function attempt(url: string, { timeoutMs = 30_000, egress = newEgress(), headers }: Options = {}): Promise<AttemptOutcome> {
  const credentials = headers === undefined ? signed : { ...signed, headers };
  return createAttempt({ egress })({ endpoint: { url, timeoutMs }, credentials, eventId: 'evt_0', body });
}

const failed = (reason: string, more: object = {}): object => ({ succeeded: false, ours: false, reason, ...more });

/** Answers each request with bytes as they are. */
const rawServer = (answer: (socket: Socket) => void): Promise<TestServer> =>
  servers.tcp((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => answer(socket));
  });

it('sends what a delivery consists of', async () => {
  const seen: { method: string | undefined; url: string | undefined; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  const server = await servers.http((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body: text });
      response.writeHead(202).end('thanks');
    });
  });
  const outcome = await attempt(`http://localhost:${server.port}/hook?a=b`);
  expect(outcome).toMatchObject({ succeeded: true, statusCode: 202 });
  expect(outcome.startedAt).toBeLessThanOrEqual(Date.now());
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({ method: 'POST', url: '/hook?a=b', body: body.toString() });
  expect(seen[0]?.headers).toEqual({
    host: `localhost:${server.port}`,
    connection: 'keep-alive',
    'content-length': String(body.length),
    'content-type': 'application/json',
    'user-agent': 'Parley-Webhooks/1.0',
    'x-custom': 'secret-value',
    'webhook-id': 'evt_0',
    'webhook-timestamp': String(Math.floor(outcome.startedAt / 1000)),
    'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/) as string,
  });
});

it('sends no signature where there is no key', async () => {
  const names: string[] = [];
  const server = await servers.http((request, response) => {
    names.push(...Object.keys(request.headers));
    response.end();
  });
  const run = createAttempt({ egress: newEgress(), userAgent: 'Other/2' });
  const endpoint = { url: `http://localhost:${server.port}/`, timeoutMs: 30_000 };
  await run({ endpoint, credentials: { keys: [], headers: {} }, eventId: 'evt_0', body });
  expect(names).toEqual(expect.arrayContaining(['webhook-id', 'webhook-timestamp']));
  expect(names).not.toContain('webhook-signature');
});

describe('the status decides', () => {
  it.each([200, 201, 202, 204, 205, 207, 226, 299])('%d is success', async (status) => {
    const server = await servers.http((_, response) => response.writeHead(status).end());
    expect(await attempt(`http://localhost:${server.port}/`)).toMatchObject({ succeeded: true, statusCode: status });
  });

  it.each([300, 304, 400, 401, 404, 408, 425, 429, 499, 500, 502, 503, 599])('%d is failure', async (status) => {
    const server = await servers.http((_, response) => response.writeHead(status).end());
    const outcome = await attempt(`http://localhost:${server.port}/`);
    expect(outcome).toMatchObject(failed(status === 300 ? 'redirect' : 'http_status', { statusCode: status }));
    expect(outcome).not.toHaveProperty('retryAfterMs');
    expect(outcome).toHaveProperty('message', expect.stringContaining(`localhost:${server.port} answered ${status}`));
  });

  it('410 says that the endpoint is gone', async () => {
    const server = await servers.http((_, response) => response.writeHead(410, { 'retry-after': '5' }).end());
    const outcome = await attempt(`http://localhost:${server.port}/`);
    expect(outcome).toMatchObject(failed('gone', { statusCode: 410 }));
    expect(outcome).not.toHaveProperty('retryAfterMs');
  });

  it.each([429, 503])('%d may say when to come again', async (status) => {
    const server = await servers.http((request, response) => {
      const wait = request.url === '/date' ? new Date(Date.now() + 600_000).toUTCString() : request.url?.slice(1);
      response.writeHead(status, { 'retry-after': wait ?? '' }).end();
    });
    expect(await attempt(`http://localhost:${server.port}/120`)).toMatchObject({ retryAfterMs: 120_000 });
    expect(await attempt(`http://localhost:${server.port}/7200`)).toMatchObject({ retryAfterMs: 3_600_000 });
    const dated = await attempt(`http://localhost:${server.port}/date`);
    expect(dated.succeeded ? 0 : dated.ours ? 0 : dated.retryAfterMs).toBeGreaterThan(500_000);
    expect(await attempt(`http://localhost:${server.port}/soon`)).not.toHaveProperty('retryAfterMs');
  });

  it('what comes before it does not', async () => {
    const hints = `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3)}HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 \r\nx-a: b\r\n\r\n`;
    const server = await rawServer((socket) => socket.write(`${hints}HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n`));
    expect(await attempt(`http://localhost:${server.port}/`)).toMatchObject({ succeeded: true, statusCode: 201 });
  });
});

describe('redirects are not followed', () => {
  it.each([301, 302, 303, 307, 308])('%d', async (status) => {
    const other = await servers.http((_, response) => response.end());
    const victim = await servers.http((_, response) => response.end(), { address: forbiddenAddress });
    for (const target of [`http://localhost:${other.port}/`, `http://${forbiddenAddress}:${victim.port}/`, '/elsewhere', '//[::1]/']) {
      const requests: string[] = [];
      const server = await servers.http((request, response) => {
        requests.push(request.url ?? '');
        response.writeHead(status, { location: target }).end();
      });
      expect(await attempt(`http://localhost:${server.port}/`)).toMatchObject(failed('redirect', { statusCode: status }));
      expect(requests).toEqual(['/']);
    }
    expect([other.connections(), victim.connections()]).toEqual([0, 0]);
  });
});

describe('the clock ends', () => {
  const timeoutMs = 300;
  /** What is said of the attempt once it has run out of time. */
  const timedOut = (outcome: AttemptOutcome): string => {
    expect(outcome).toMatchObject(failed('timeout'));
    expect(outcome).not.toHaveProperty('statusCode');
    // Timers may fire a little early, counted by another clock.
    expect(outcome.durationMs).toBeGreaterThanOrEqual(timeoutMs - 5);
    return outcome.succeeded ? '' : outcome.message;
  };

  it('an answer that never comes, and the connection with it', async () => {
    const server = await servers.http(() => undefined);
    expect(timedOut(await attempt(`http://localhost:${server.port}/`, { timeoutMs }))).toContain(
      `localhost:${server.port} took longer than 300 ms`,
    );
    await eventually(() => expect(server.open()).toBe(0));
  });

  it('a body that drips', async () => {
    const server = await servers.http((_, response) => {
      const drip = setInterval(() => response.write('x'), 50);
      response.once('close', () => clearInterval(drip));
    });
    expect(timedOut(await attempt(`http://localhost:${server.port}/`, { timeoutMs }))).toContain('reading the answer');
    await eventually(() => expect(server.open()).toBe(0));
  });

  it('an endless row of interim answers', async () => {
    const server = await servers.tcp((socket) => {
      const drip = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20);
      socket.on('error', () => undefined);
      socket.on('data', () => undefined);
      socket.once('close', () => clearInterval(drip));
    });
    const outcome = await attempt(`http://localhost:${server.port}/`, { timeoutMs });
    expect(outcome).toMatchObject({ succeeded: false, ours: false });
    await eventually(() => expect(server.open()).toBe(0));
  });

  it('an unanswered TLS handshake', async () => {
    const server = await servers.tcp((socket) => socket.resume());
    expect(timedOut(await attempt(`https://localhost:${server.port}/`, { timeoutMs }))).toContain('TLS handshake');
  });

  it('a name whose own servers are silent', async () => {
    dns.set('A slow.example', { silent: true });
    dns.set('AAAA slow.example', { silent: true });
    expect(timedOut(await attempt('http://slow.example/', { timeoutMs }))).toContain('waiting for DNS');
  });

  it('DNS that is slow altogether', async () => {
    dns.set('NS ', { delayMs: 1000 });
    dns.set('A slow.example', { addresses: ['127.0.0.1'], delayMs: 1000 });
    dns.set('AAAA slow.example', { delayMs: 1000 });
    expect(timedOut(await attempt('http://slow.example/', { timeoutMs }))).toContain('waiting for DNS');
  });
});

describe('faults of this installation are no attempts', () => {
  const noAttempt = (reason: string): object => ({ succeeded: false, ours: true, reason });

  it('DNS servers that are gone', async () => {
    expect(await attempt('http://hooks.example/', { egress: newEgress({ dnsServers: ['127.0.0.1:9'] }) })).toMatchObject(
      noAttempt('dns_unavailable'),
    );
  });

  it('DNS servers that are silent', async () => {
    for (const question of ['NS ', 'A hooks.example', 'AAAA hooks.example']) dns.set(question, { silent: true });
    expect(await attempt('http://hooks.example/', { timeoutMs: 300 })).toMatchObject(noAttempt('dns_unavailable'));
  });

  it('a guard that is closed meanwhile', async () => {
    const server = await servers.http(() => undefined);
    const egress = newEgress();
    const running = attempt(`http://localhost:${server.port}/`, { egress });
    await eventually(() => expect(server.connections()).toBe(1));
    egress.close();
    expect(await running).toMatchObject(noAttempt('closed'));
  });
});

describe('names fail as what they are', () => {
  it.each([
    ['unknown', {}],
    ['broken', { code: 'SERVFAIL' }],
    ['refused', { code: 'REFUSED' }],
  ] as const)('%s', async (name, answer) => {
    if ('code' in answer) for (const type of ['A', 'AAAA']) dns.set(`${type} ${name}.example`, answer);
    const outcome = await attempt(`http://${name}.example/`);
    expect(outcome).toMatchObject(failed('dns', { message: expect.stringContaining(`${name}.example`) as string }));
  });
});

describe('bodies are not what decides', () => {
  it('one without an end is read to 4 KiB', async () => {
    let sent = 0;
    const server = await servers.http((request, response) => {
      if (request.url === '/announced') response.setHeader('content-length', 10_000_000_000);
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', more);
      more();
    });
    for (const path of ['', 'announced']) {
      expect(await attempt(`http://localhost:${server.port}/${path}`)).toMatchObject({ succeeded: true, statusCode: 200 });
    }
    await eventually(() => expect(server.open()).toBe(0));
    // What fits into the buffers of two connections.
    expect(sent).toBeLessThan(40_000_000);
  });

  it.each(['gzip', 'br', 'nonsense'])('one that is encoded is not decoded (%s)', async (coding) => {
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    const server = await servers.http((_, response) => response.writeHead(200, { 'content-encoding': coding }).end(bomb));
    const before = process.memoryUsage().rss;
    expect(await attempt(`http://localhost:${server.port}/`)).toMatchObject({ succeeded: true });
    expect(process.memoryUsage().rss - before).toBeLessThan(80_000_000);
  });

  it('one that is long does not cost the answer', async () => {
    const server = await servers.http((_, response) => response.writeHead(500).end('x'.repeat(5_000_000)));
    expect(await attempt(`http://localhost:${server.port}/`)).toMatchObject(failed('http_status', { statusCode: 500 }));
  });
});

describe('connections that break are attempts that failed', () => {
  it.each([
    ['at once', undefined],
    ['when the request has come', ''],
    ['in the head', 'HTTP/1.1 200 OK\r\nx-a'],
    ['in the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\nabc'],
  ])('%s', async (_, answer) => {
    for (const end of ['reset', 'close'] as const) {
      const finish = (socket: Socket): void => void (end === 'reset' ? socket.resetAndDestroy() : socket.destroy());
      const server =
        answer === undefined
          ? await servers.tcp(finish)
          : await rawServer((socket) => {
              if (answer === '') finish(socket);
              else socket.write(answer, () => setTimeout(() => finish(socket), 20));
            });
      expect(await attempt(`http://localhost:${server.port}/`)).toMatchObject(failed('reset'));
      expect(server.connections()).toBe(1);
    }
  });

  it('in the TLS handshake', async () => {
    const server = await servers.tcp((socket) => socket.resetAndDestroy());
    const outcome = await attempt(`https://localhost:${server.port}/`);
    expect(outcome).toMatchObject({ succeeded: false, ours: false });
    expect(['tls', 'reset']).toContain(outcome.succeeded ? '' : outcome.reason);
  });

  it('when a kept one is broken by the next request: that was sent once', async () => {
    const paths: string[] = [];
    const server = await servers.http((request, response) => {
      paths.push(request.url ?? '');
      if (request.url === '/bad') request.socket.resetAndDestroy();
      else response.end();
    });
    const egress = newEgress();
    expect(await attempt(`http://localhost:${server.port}/good`, { egress })).toMatchObject({ succeeded: true });
    expect(await attempt(`http://localhost:${server.port}/bad`, { egress })).toMatchObject(failed('reset'));
    expect(await attempt(`http://localhost:${server.port}/good`, { egress })).toMatchObject({ succeeded: true });
    expect(paths).toEqual(['/good', '/bad', '/good']);
  });

  it('but not when a kept one was closed before', async () => {
    const server = await servers.http((_, response) => response.end());
    const egress = newEgress();
    for (let round = 0; round < 3; round += 1) {
      expect(await attempt(`http://localhost:${server.port}/`, { egress })).toMatchObject({ succeeded: true });
      server.dropConnections();
      await eventually(() => expect(server.open()).toBe(0));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

  it('when no server listens', async () => {
    const server = await servers.http(() => undefined);
    await servers.stop();
    expect(await attempt(`http://127.0.0.1:${server.port}/`)).toMatchObject(failed('connect'));
  });
});

describe('what is not HTTP is an attempt that failed', () => {
  it.each([
    ['SMTP', '220 mail.example ESMTP\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['a status that is none', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a bare line feed and a header without a colon', 'HTTP/1.1 200 OK\nnonsense\n\n'],
    ['a flood of headers', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(20_000)}\r\n`],
    ['one endless header', `HTTP/1.1 200 OK\r\nx-a: ${'b'.repeat(100_000)}`],
    ['an unrequested upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'],
  ])('%s', async (_, text) => {
    const server = await rawServer((socket) => socket.end(text));
    const outcome = await attempt(`http://localhost:${server.port}/`);
    expect(outcome).toMatchObject({ succeeded: false, ours: false });
    expect(['protocol', 'reset']).toContain(outcome.succeeded ? '' : outcome.reason);
  });
});

describe('TLS', () => {
  it.each([
    ['is taken with a certificate that is trusted', 'localhost', 'trusted', undefined],
    ['is refused with a certificate of its own making', 'localhost', 'strange', 'tls'],
    ['is refused under another name', 'other.example', 'trusted', 'tls'],
    ['is refused when the certificate has run out', 'localhost', 'expired', 'tls'],
  ])('%s', async (_, host, certificate, reason) => {
    const identity = selfSigned({ names: ['localhost'], days: certificate === 'expired' ? -1 : 10 });
    const requests: string[] = [];
    const server = await servers.https((request, response) => {
      requests.push(request.url ?? '');
      response.end();
    }, identity);
    dns.set('A other.example', { addresses: ['127.0.0.1'] });
    const egress = newEgress(certificate === 'strange' ? {} : { ca: identity.cert });
    const outcome = await attempt(`https://${host}:${server.port}/`, { egress });
    expect(outcome).toMatchObject(reason === undefined ? { succeeded: true } : failed(reason));
    expect(requests).toHaveLength(reason === undefined ? 1 : 0);
  });

  it('that the server does not speak is a failure', async () => {
    const server = await servers.http((_, response) => response.end());
    expect(await attempt(`https://localhost:${server.port}/`)).toMatchObject(failed('tls'));
  });
});

describe('addresses that may not be called are refused before anything is sent', () => {
  let victim: TestServer;
  beforeEach(async () => {
    victim = await servers.tcp((socket) => socket.destroy(), { address: forbiddenAddress });
  });
  afterEach(() => expect(victim.connections()).toBe(0));

  /** The reason, of an attempt that failed. */
  const refusal = async (url: string, options?: Options): Promise<string | undefined> => {
    const outcome = await attempt(url, options);
    return outcome.succeeded || outcome.ours ? undefined : outcome.reason;
  };

  it.each([
    '127.66.0.1',
    '127.66.1',
    '127.4325377',
    '2135031809',
    '0x7f420001',
    '0X7F.0x42.0.1',
    '0177.0102.0.01',
    '017720400001',
    '127.66.0.1.',
    '①②⑦.66.0.1',
    '127%2e66.0.1',
    '[::ffff:127.66.0.1]',
    '[::ffff:7f42:1]',
    '[0:0:0:0:0:FFFF:7F42:0001]',
    '[::127.66.0.1]',
    '[::7f42:1]',
    '[64:ff9b::127.66.0.1]',
    '[64:ff9b::7f42:1]',
    '[2002:7f42:1::]',
    '[2002:7f42:0001:0:0:0:0:1]',
  ])('spelled %s', async (host) => {
    expect(await refusal(`http://${host}:${victim.port}/`)).toBe('forbidden_address');
  });

  const v4 =
    '0.0.0.0 0.255.255.255 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.255 169.254.169.254 169.254.0.1 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16'.split(
      ' ',
    );
  const v6 =
    '[::] [::1] [fc00::1] [fd00:ec2::254] [fe80::1] [fec0::1] [ff02::1] [100::1] [2001::1] [2001:1ff:ffff::1] [2001:db8::1] [2002::1] [3fff::1] [2620:4f:8000::1] [4000::1] [64:ff9b:1::1]'.split(
      ' ',
    );

  it('of every network that is not public, in every form', async () => {
    const egress = newEgress({ allowCidrs: [] });
    for (const address of v4) {
      const bytes = address.split('.').map(Number);
      const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
      const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
      const groups = `${hex.slice(0, 4)}:${hex.slice(4)}`;
      const forms = [address, number, `0x${hex}`, `0${number.toString(8)}`, bytes.map((byte) => `0${byte.toString(8)}`).join('.')];
      const embedded = ['::ffff:', '::', '64:ff9b::'].flatMap((prefix) => [`[${prefix}${address}]`, `[${prefix}${groups}]`]);
      for (const form of [...forms, ...embedded, `[2002:${groups}::1]`])
        expect(await refusal(`http://${form}/`, { egress }), String(form)).toBe('forbidden_address');
    }
    for (const address of v6) expect(await refusal(`http://${address}/`, { egress }), address).toBe('forbidden_address');
  });

  it('behind a name, alone or among others, in whatever form DNS gives them', async () => {
    for (const address of [forbiddenAddress, ...v4]) {
      dns.set('A inside.example', { addresses: [address] });
      const egress = newEgress({ allowCidrs: ['127.0.0.2/32'] });
      expect(await refusal(`http://inside.example:${victim.port}/`, { egress }), address).toBe('forbidden_address');
    }
    dns.set('A inside.example', { addresses: ['127.0.0.2', '127.0.0.3'] });
    for (const address of [`::ffff:${forbiddenAddress}`, '::7f42:1', '64:ff9b::7f42:1', '2002:7f42:1::1', '::1', 'fd00::1', 'fe80::1']) {
      dns.set('AAAA inside.example', { addresses: [address] });
      const outcome = await attempt(`http://inside.example:${victim.port}/`);
      expect(outcome, address).toMatchObject(failed('forbidden_address'));
      expect(outcome).toHaveProperty('message', expect.not.stringContaining(address));
    }
  });

  it('when a name that was good turns', async () => {
    const good = await servers.http((_, response) => response.end(), { port: victim.port });
    let asked = 0;
    dns.set('A turning.example', () => ({ addresses: [(asked += 1) === 1 ? '127.0.0.1' : forbiddenAddress] }));
    const egress = newEgress();
    const url = `http://turning.example:${good.port}/`;
    expect(await attempt(url, { egress })).toMatchObject({ succeeded: true });
    // The connection to the good address is still there.
    for (let round = 0; round < 2; round += 1) expect(await refusal(url, { egress })).toBe('forbidden_address');
  });

  it('by a redirect', async () => {
    const server = await servers.http((_, response) =>
      response.writeHead(307, { location: `http://${forbiddenAddress}:${victim.port}/` }).end(),
    );
    expect(await attempt(`http://localhost:${server.port}/`)).toMatchObject(failed('redirect', { statusCode: 307 }));
  });

  it.each([
    'host',
    'Host',
    'HOST',
    'X-Ok: y\r\nHost',
    'transfer-encoding',
    'Proxy-Authorization',
    'Webhook-Id',
    'content-type',
    'USER-AGENT',
  ])('by the header %j', async (name) => {
    const server = await servers.http((_, response) => response.end());
    const outcome = await attempt(`http://localhost:${server.port}/`, { headers: { [name]: `${forbiddenAddress}:${victim.port}` } });
    expect(outcome).toMatchObject(failed('forbidden_header'));
    expect(server.connections()).toBe(0);
  });

  it.each(['a\r\nhost: x', 'a\nb', 'a\0b', 'ä€'])('nor is the header value %j sent or shown', async (value) => {
    const server = await servers.http((_, response) => response.end());
    const outcome = await attempt(`http://localhost:${server.port}/`, { headers: { 'x-secret': value } });
    expect(outcome).toMatchObject(failed('forbidden_header'));
    expect(JSON.stringify(outcome)).not.toContain(JSON.stringify(value).slice(1, -1));
  });

  it.each([
    'ftp://hooks.example/',
    'file:///etc/passwd',
    'http://user:pass@localhost/',
    'http://@localhost/',
    'http://localhost:22/',
    'http://localhost:25/',
    'http:\\\\localhost/',
    'http://local host/',
    'nonsense',
    '',
  ])('%j is no address at all', async (url) => {
    expect(await attempt(url)).toMatchObject(failed('forbidden_url'));
  });
});

it('never logs what was sent or what a name resolves to', async () => {
  dns.set('A hooks.example', { addresses: ['127.0.0.9'] });
  const outcomes = [
    await attempt('http://hooks.example:9999/path?token=query-secret'),
    await attempt('https://hooks.example:9999/path?token=query-secret'),
    await attempt('http://hooks.example:9999/path?token=query-secret', { egress: newEgress({ allowCidrs: [] }) }),
  ];
  for (const outcome of outcomes) {
    expect(outcome.succeeded).toBe(false);
    expect(JSON.stringify(outcome)).not.toMatch(/127\.0\.0\.9|query-secret|secret-value|\/path/);
  }
});
