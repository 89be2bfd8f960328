/** Makes one attempt against real sockets. Faulty servers, names and addresses are tested with the egress guard. */
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { EgressOptions } from '../../../platform/egress/egress.ts';
import { openEgress, type TestEgress } from '../../support/open-egress.ts';
import { DnsServer } from '../../support/dns-server.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { Servers, type TestServer, writeWithoutEnd } from '../../support/http-servers.ts';
import { createAttempt, type AttemptRequest } from '../../../webhooks/attempt/attempt.ts';
import type { AttemptOutcome } from '../../../webhooks/attempt/outcome.ts';
import { generateSigningKey, parseSigningKey } from '../../../webhooks/signing/signing-keys.ts';
import { eventually } from '../../support/eventually.ts';

/** Loopback is allowed but for 127.64.0.0/10, where the servers listen that must never hear anything. */
const allowed = ['127.0.0.0/10'];
const forbiddenAddress = '127.66.0.1';

const servers = new Servers();
const opened: TestEgress[] = [];
let dns: DnsServer;

beforeEach(async () => {
  dns = await DnsServer.start();
});
afterEach(async () => {
  opened.splice(0).forEach((egress) => egress.close());
  await servers.stop();
  await dns.stop();
});

function newEgress(options: EgressOptions = {}): TestEgress {
  const egress = openEgress({ allowCidrs: allowed, dnsServers: [dns.address], ...options });
  opened.push(egress);
  return egress;
}

const body = Buffer.from('{"eventName":"Webhook.Test"}');
const key = parseSigningKey(generateSigningKey());
const signed: AttemptRequest['credentials'] = { keys: key === undefined ? [] : [key], headers: { 'X-Custom': 'secret-value' } };

interface Options {
  readonly timeoutMs?: number;
  readonly egress?: TestEgress;
  readonly headers?: Readonly<Record<string, string>>;
}

function attempt(url: string, { timeoutMs = 30_000, egress = newEgress(), headers }: Options = {}): Promise<AttemptOutcome> {
  const credentials = headers === undefined ? signed : { ...signed, headers };
  return createAttempt({ egress })({ org: 'demo', endpoint: { url, timeoutMs }, credentials, eventId: 'evt_0', body });
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
  expect(outcome).toMatchObject({ succeeded: true, statusCode: 202, startedAt: expect.any(Number) });
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
  await run({ org: 'demo', endpoint, credentials: { keys: [], headers: {} }, eventId: 'evt_0', body });
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

  it.each([
    [200, { succeeded: true }],
    [301, failed('redirect')],
    [410, failed('gone')],
    [429, failed('http_status', { retryAfterMs: 5000 })],
    [500, failed('http_status')],
  ])('%d does, whatever becomes of the body', async (status, expected) => {
    const head = `HTTP/1.1 ${status} Whatever\r\nretry-after: 5\r\n`;
    const clock = new FakeClock();
    // Both ends are in this process: what was written has been read some turns of its event loop later.
    const runOutOfTime = async (): Promise<void> => {
      for (let turn = 0; turn < 20; turn += 1) await nextTurn();
      clock.tick(30_000);
    };
    for (const beginning of ['content-length: 100\r\n\r\nabc', 'transfer-encoding: chunked\r\n\r\n1\r\n'])
      for (const end of [(socket: Socket) => socket.end(), runOutOfTime, (socket: Socket) => socket.resetAndDestroy()]) {
        const server = await rawServer((socket) => socket.write(head + beginning, () => void setImmediate(() => void end(socket))));
        const outcome = await attempt(`http://localhost:${server.port}/`, { egress: newEgress({ clock }) });
        expect(outcome).toMatchObject({ ...expected, statusCode: status });
        await eventually(() => expect(server.open()).toBe(0));
      }
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
  /** Returns the message about an attempt that has run out of time. */
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
});

it('counts a guard that is closed meanwhile as no attempt', async () => {
  const server = await servers.http(() => undefined);
  const egress = newEgress();
  const running = attempt(`http://localhost:${server.port}/`, { egress });
  await eventually(() => expect(server.connections()).toBe(1));
  egress.close();
  expect(await running).toMatchObject({ succeeded: false, ours: true, reason: 'closed' });
});

it('reads 4 KiB of a body without an end, and decodes none of it', async () => {
  let sent = 0;
  const server = await servers.http((request, response) => {
    response.setHeader('content-encoding', 'gzip');
    if (request.url === '/announced') response.setHeader('content-length', 10_000_000_000);
    writeWithoutEnd(response, (bytes) => (sent += bytes));
  });
  for (const path of ['', 'announced']) {
    expect(await attempt(`http://localhost:${server.port}/${path}`)).toMatchObject({ succeeded: true, statusCode: 200 });
  }
  await eventually(() => expect(server.open()).toBe(0));
  // The buffers of two connections hold at most this much.
  expect(sent).toBeLessThan(40_000_000);
});

it('sends a request that a kept connection lost once more on a new one, and says so', async () => {
  const paths: string[] = [];
  const served = new Set<Socket>();
  const server = await servers.http((request, response) => {
    paths.push(request.url ?? '');
    if (request.url === '/bad' || (request.url === '/fickle' && served.has(request.socket))) request.socket.resetAndDestroy();
    else response.end();
    served.add(request.socket);
  });
  const egress = newEgress();
  const to = (path: string): Promise<AttemptOutcome> => attempt(`http://localhost:${server.port}${path}`, { egress });
  expect(await to('/good')).not.toHaveProperty('message');
  expect(await to('/fickle')).toMatchObject({ succeeded: true, statusCode: 200, message: expect.stringMatching(/^sent twice: /) });
  expect(await to('/bad')).toMatchObject(failed('reset', { message: expect.stringContaining('(sent twice: ') as string }));
  expect(await to('/bad')).toMatchObject(failed('reset', { message: expect.not.stringContaining('sent twice') as string }));
  expect(await to('/good')).toMatchObject({ succeeded: true });
  expect(paths).toEqual(['/good', '/fickle', '/fickle', '/bad', '/bad', '/bad', '/good']);
});

it('sends nothing to an address that may not be called', async () => {
  const victim = await servers.tcp((socket) => socket.destroy(), { address: forbiddenAddress });
  expect(await attempt(`http://${forbiddenAddress}:${victim.port}/`)).toMatchObject(failed('forbidden_address'));
  expect(victim.connections()).toBe(0);
});

it.each(['Webhook-Id', 'content-type', 'USER-AGENT'])('sends nothing with a header %s of the subscription', async (name) => {
  const server = await servers.http((_, response) => response.end());
  const outcome = await attempt(`http://localhost:${server.port}/`, { headers: { [name]: 'mine' } });
  expect(outcome).toMatchObject(failed('forbidden_header'));
  expect(server.connections()).toBe(0);
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
