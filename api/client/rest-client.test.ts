import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, it, onTestFinished } from 'vitest';

import { eventually } from '../../test/support/eventually.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { UserError } from '../../platform/user-error.ts';
import { createRestClient, type RestClient } from './rest-client.ts';

interface Api {
  readonly url: string;
  readonly client: RestClient;
  readonly clock: FakeClock;
  readonly stop: () => void;
  /** The next request that arrives, to be answered or left alone. */
  readonly asked: () => Promise<ServerResponse>;
}

async function startApi(answer: RequestListener = () => undefined): Promise<Api> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(stop);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = new FakeClock();
  return {
    url,
    clock,
    stop,
    client: createRestClient({ url, apiKey: 'pk_1', clock }),
    asked: async () => (await once(server, 'request'))[1] as ServerResponse,
  };
}

const failureOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => 'no failure',
    (error: unknown) => error,
  );

it('gives an api that says nothing half a minute, and says where and what to do', async () => {
  const { client, clock, url, asked } = await startApi();
  const [failure] = await Promise.all([failureOf(client.request('GET', '/v1/calls/call_1')), asked().then(() => clock.advance(30_000))]);
  expect(failure).toBeInstanceOf(UserError);
  expect(failure).toMatchObject({
    message: `${url}: GET /v1/calls/call_1 has not been answered within 30 s`,
    cure: expect.stringContaining('/readyz'),
  });
  expect(clock.timers).toBe(0);
});

it('does not wait for the rest of an answer either', async () => {
  const { client, clock, asked } = await startApi();
  const ended = failureOf(client.request('GET', '/v1/calls'));
  const response = await asked();
  await new Promise<void>((resolve) => void response.write('{"calls": [', () => resolve()));
  await clock.advance(30_000);
  const failure = await ended;
  expect((failure as Error).message).toContain('has not been answered within 30 s');
});

it('gives requests with files a longer timeout', async () => {
  const { client, clock, asked } = await startApi();
  const download = client.download('POST', '/v1/call-recording/download', { call_id: 'call_1' });
  const response = await asked();
  response.write('Og');
  // When its head has arrived.
  await eventually(() => expect(clock.nextIn).toBe(600_000));
  await clock.advance(60_000);
  response.end('gS');
  expect(Buffer.from(await download).toString()).toBe('OggS');

  const silent = failureOf(client.download('POST', '/v1/call-recording/download', { call_id: 'call_1' }));
  await asked();
  await clock.advance(30_000);
  expect(((await silent) as Error).message).toContain('within 30 s');

  const form = new FormData();
  form.set('file', new Blob(['text']), 'a.txt');
  const upload = client.request('POST', '/documents', form);
  const accepted = await asked();
  await clock.advance(60_000);
  accepted.end('{"document_id": "1"}');
  expect(await upload).toEqual({ document_id: '1' });
});

it('ends when its caller wants it to end, with the reason of the caller', async () => {
  const { client, clock, asked } = await startApi();
  const stop = new AbortController();
  const reason = new Error('interrupted');
  const [failure] = await Promise.all([
    failureOf(client.request('GET', '/v1/calls', undefined, { signal: stop.signal })),
    asked().then(() => stop.abort(reason)),
  ]);
  expect(failure).toBe(reason);
  expect(clock.timers).toBe(0);
});

it('distinguishes a refusal from an unreachable api', async () => {
  const { client, url, stop } = await startApi((_, response) =>
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error": "not_found", "message": "there is no such call"}'),
  );
  await expect(client.request('GET', '/v1/calls/x')).rejects.toMatchObject({
    status: 404,
    code: 'not_found',
    said: 'there is no such call',
  });
  stop();
  const failure = await failureOf(client.request('GET', '/v1/calls'));
  expect((failure as Error).message).toMatch(/does not answer: .*ECONNREFUSED/);
  expect((failure as Error).message).toContain(url);
});

it('says how to list the knowledge bases where there is no such one', async () => {
  const { client } = await startApi((_, response) => response.writeHead(404).end());
  await expect(client.request('GET', '/api/v1/knowledge-bases/x/documents')).rejects.toMatchObject({
    cure: expect.stringContaining('kubectl get knowledgebases'),
  });
});

it('waits as long as a rate limit asks for, with all requests, and then sends the same again', async () => {
  const bodies: string[] = [];
  let refusals = 2;
  const { client, clock } = await startApi((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      bodies.push(body);
      if (refusals-- > 0) response.writeHead(429, { 'retry-after': '3' }).end('{"error": "rate_limited", "message": "too many requests"}');
      else response.end('{}');
    });
  });
  const first = client.request('POST', '/documents', { n: 1 });
  await eventually(() => expect(clock.nextIn).toBe(3_000));
  const second = client.request('POST', '/documents', { n: 2 });
  expect(bodies).toEqual(['{"n":1}']);
  await clock.advance(3_000);
  await eventually(() => expect(clock.nextIn).toBe(3_000));
  await clock.advance(3_000);
  expect(await Promise.all([first, second])).toEqual([{}, {}]);
  expect(bodies.filter((body) => body === '{"n":1}').length + bodies.filter((body) => body === '{"n":2}').length).toBe(bodies.length);
  expect(bodies.length).toBe(4);
});

it('does not wait for a rate limit longer than five minutes', async () => {
  const { client, clock } = await startApi((_, response) =>
    response.writeHead(429, { 'retry-after': '600' }).end('{"error": "rate_limited", "message": "too many requests"}'),
  );
  await expect(client.request('GET', '/documents')).rejects.toMatchObject({ status: 429 });
  expect(clock.timers).toBe(0);
});

it('does not wait for a place among the live calls', async () => {
  const { client, clock } = await startApi((_, response) =>
    response.writeHead(429, { 'retry-after': '3' }).end('{"error": "concurrent_call_limit_reached", "message": "too many live calls"}'),
  );
  await expect(client.request('POST', '/calls')).rejects.toMatchObject({ status: 429, code: 'concurrent_call_limit_reached' });
  expect(clock.timers).toBe(0);
});
