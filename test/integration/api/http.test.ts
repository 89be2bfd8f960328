import { get } from 'node:http';
import { connect } from 'node:net';

import { describe, expect, it } from 'vitest';

import { describedRoutes } from '../../../api/openapi/described-routes.ts';
import { meets } from '../../../api/http/permissions.ts';
import { permissions } from '../../../store/index.ts';
import { anAgentRequest } from '../../support/builders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { organization, startFacade } from './facade.ts';

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));

/** These routes answer failures as REST does. */
const routes = describedRoutes()
  .filter(({ jsonRpc }) => !jsonRpc)
  .map(({ method, path, permission: needed, permissionForOwn: own }) => ({
    method,
    path: path.replaceAll(/:\w+/g, 'x'),
    needed,
    own,
  }));

describe('authentication', () => {
  it.each([
    ['no header', undefined],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['no key', 'Bearer '],
    ['nonsense', 'Bearer nonsense'],
    ['an invented key', `Bearer pk_abcdefgh_${'a'.repeat(32)}_123456`],
    ['two words', 'Bearer a b'],
    ['a very long key', `Bearer ${'x'.repeat(8000)}`],
  ])('%s: 401 on every route', async (_, authorization) => {
    // All requests go out at once: each answer waits a quarter of a second.
    await Promise.all(
      routes
        .filter(({ needed }) => needed !== 'public')
        .map(async ({ method, path }) => {
          const answer = await facade.call(method, path, { headers: authorization === undefined ? {} : { authorization } });
          expect(answer.status, `${method} ${path}`).toBe(401);
          expect(Object.keys(answer.body)).toEqual(['error', 'message', 'traceId']);
          expect(answer.body.error).toBe('unauthorized');
          expect(answer.headers.get('x-trace-id')).toBe(answer.body.traceId);
          expect(answer.headers.get('www-authenticate')).toBe('Bearer');
        }),
    );
  });

  it('joins the trace of its caller', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const answer = await facade.call('GET', '/v2/ai-agents', { headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01` } });
    expect(answer.body.traceId).toBe(trace);
    const other = await facade.call('GET', '/v2/ai-agents', { headers: { traceparent: 'rubbish' } });
    expect(other.body.traceId).toMatch(/^[0-9a-f]{32}$/);
  });

  it('asks every route for its permission and for no other', async () => {
    const keys = await Promise.all(permissions.map(async (permission) => ({ permission, key: await org.keyWith(permission) })));
    for (const { method, path, needed, own } of routes) {
      if (needed === 'public') continue;
      for (const { permission, key } of keys) {
        const enough = meets([permission], needed) || (own !== undefined && meets([permission], own));
        const answer = await facade.call(method, path, { key });
        expect(answer.status === 403, `${method} ${path} with ${permission}: ${answer.status}`).toBe(!enough);
        if (!enough)
          expect(answer.body).toEqual({ error: 'forbidden', message: expect.stringContaining(needed), traceId: expect.any(String) });
      }
    }
  });

  it('takes one key: of two it is unclear which one was meant', async () => {
    const bearer = `Bearer ${org.key}`;
    const status = await new Promise((resolve, reject) => {
      get(`${facade.url}/v2/ai-agents`, { headers: ['Host', 'parley', 'Authorization', bearer, 'Authorization', bearer] }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).on('error', reject);
    });
    expect(status).toBe(401);
  });

  it('ends with the key: revoked ones answer 401', async () => {
    const { body: made } = await org.call('POST', '/v1/api-keys', { name: 'short', permissions: ['agents:read'] });
    expect((await facade.call('GET', '/v2/ai-agents', { key: made.api_key })).status).toBe(200);
    await org.call('POST', `/v1/api-keys/${made.key_id}/revoke`);
    await expect.poll(async () => (await facade.call('GET', '/v2/ai-agents', { key: made.api_key })).status).toBe(401);
  });
});

const sentAs = (contentType: string) => ({ headers: { 'content-type': contentType } });

describe('requests that lead nowhere', () => {
  it.each([
    ['GET', '/', 404, 'not_found'],
    ['GET', '/v2/ai-agentsx', 404, 'not_found'],
    ['PATCH', '/v2/ai-agents/a', 405, 'method_not_allowed'],
    ['DELETE', '/v2/ai-agents/', 405, 'method_not_allowed'],
    ['PUT', '/healthz', 405, 'method_not_allowed'],
  ])('%s %s: %i', async (method, path, status, error) => {
    const answer = await facade.call(method, path, { key: org.key });
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error, message: expect.any(String) });
    if (status === 405) expect(answer.headers.get('allow')).toMatch(/^[A-Z, ]+$/);
  });

  it('a parameter that is given twice: 422, and nothing is written', async () => {
    const agent = anAgentRequest('Twice');
    const twice = await org.call('POST', '/v2/ai-agents?dry_run=true&dry_run=false', agent);
    expect([twice.status, twice.body.detail]).toEqual([
      422,
      [{ type: 'value_error', loc: ['query', 'dry_run'], msg: 'Value error, is given more than once: give it once' }],
    ]);
    const { data } = (await org.call('GET', '/v2/ai-agents?page_size=100')).body;
    expect(data.filter((each: { agent_name: string }) => each.agent_name === 'Twice')).toEqual([]);
    expect((await org.call('GET', '/v1/calls?page_size=1&page_size=2')).body.detail[0].loc).toEqual(['query', 'page_size']);
    expect((await org.call('GET', '/v1/calls?ai_agent_ids=a&ai_agent_ids=b')).status).toBe(200);
    expect((await org.call('GET', '/v1/public/webhook/subscriptions?page_size=1&page_size=2')).body.status).toBe(400);
  });

  it('names without the spaces around them, and none of spaces alone', async () => {
    const named = await org.call('POST', '/v2/ai-agents', anAgentRequest('  pad\t'));
    expect([named.status, named.body.agent_name]).toEqual([201, 'pad']);
    const subscription = { url: 'https://example.com', enable_signed_webhooks: false };
    const bodies = [
      ['/v2/ai-agents', anAgentRequest(' '), 422],
      ['/api/v1/knowledge-bases', { name: ' ' }, 422],
      ['/v1/api-keys/', { name: ' ', permissions: ['agents:read'] }, 422],
      ['/v1/public/webhook/subscription', { ...subscription, name: ' ' }, 400],
    ] as const;
    for (const [path, body, status] of bodies) expect((await org.call('POST', path, body)).status, path).toBe(status);
    const labelled = await org.call('POST', '/v1/phone-numbers', {
      phone_number: '+4930555771',
      friendly_name: ' Desk ',
      sip_termination_uri: ' trunk.example.com ',
    });
    expect([labelled.status, labelled.body]).toMatchObject([201, { friendly_name: 'Desk', sip_termination_uri: 'trunk.example.com' }]);
  });

  it('a write of what must not be there, where it is: 412', async () => {
    const { body, headers } = await org.call('POST', '/v2/ai-agents', anAgentRequest('There'));
    const put = (tag: string) =>
      org.call('PUT', `/v2/ai-agents/${body.ai_agent_id}`, { agent_name: 'Gone' }, { headers: { 'if-none-match': tag } });
    for (const tag of ['*', headers.get('etag')!, `"1", W/${headers.get('etag')}`]) expect((await put(tag)).status).toBe(412);
    expect((await put('"1"')).body.agent_name).toBe('Gone');
  });

  it('a body in another format: 415; none where one is needed, or broken: 422', async () => {
    for (const contentType of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'multipart/form-data; boundary=x']) {
      const answer = await org.call('POST', '/v2/ai-agents', '{}', sentAs(contentType));
      expect([answer.status, answer.body.error]).toEqual([415, 'unsupported_media_type']);
    }
    const packed = await org.call('POST', '/v2/ai-agents', '{}', {
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    expect([packed.status, packed.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    expect((await org.call('POST', '/v2/ai-agents', '{}', sentAs('application/json; charset=utf-8'))).status).toBe(422);
    expect((await org.call('POST', '/v2/ai-agents', '{}', sentAs('application/vnd.x+json'))).status).toBe(422);
    expect((await org.call('POST', '/v2/ai-agents')).body).toEqual({ detail: [{ type: 'missing', loc: ['body'], msg: 'Field required' }] });
    expect((await org.call('POST', '/v2/ai-agents', '{"agent_name": }')).body).toEqual({
      detail: [{ type: 'json_invalid', loc: ['body', 15], msg: 'JSON decode error' }],
    });
    expect((await org.call('POST', '/v2/ai-agents', new Uint8Array([0x7b, 0x22, 0xff, 0x22]))).body.detail[0].type).toBe('json_invalid');
    expect((await org.call('POST', '/v2/ai-agents', '['.repeat(10_000))).status).toBe(422);
  });

  it('reports every part that fails, query before body', async () => {
    const answer = await org.call('POST', '/v2/ai-agents?force=2&dry_run=x', { llm: { model_name: 5, max_tokens: '0' }, tts: {} });
    expect(answer.body.detail.map(({ type, loc }: { type: string; loc: unknown[] }) => `${loc.join('.')}: ${type}`)).toEqual([
      'query.dry_run: bool_parsing',
      'query.force: bool_parsing',
      'body.agent_name: missing',
      'body.llm.model_name: string_type',
      'body.llm.max_tokens: greater_than_equal',
      'body.stt: missing',
      'body.tts.provider: missing',
    ]);
  });
});

const post = (fields: Readonly<Record<string, unknown>>) => org.call('POST', '/v2/ai-agents', anAgentRequest('Big', fields));

describe('bounds', () => {
  it('a body of 2 MB and more is 413, with or without Content-Length, and the connection goes on', async () => {
    const big = JSON.stringify(anAgentRequest('Big', { llm: { model_name: 'm', system_prompt: 'x'.repeat(2_000_000) } }));
    for (const size of [1, 5, 20]) {
      const answer = await org.call('POST', '/v2/ai-agents', big.repeat(size));
      expect([answer.status, answer.body]).toEqual([413, { error: 'payload_too_large', message: expect.stringContaining('1 MiB') }]);
      expect((await org.call('GET', '/v2/ai-agents')).status).toBe(200);
    }
    const { port } = new URL(facade.url);
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1');
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk.toString();
        if (!received.includes('payload_too_large')) return;
        socket.destroy();
        resolve(received);
      });
      socket.on('error', reject);
      socket.write(
        `POST /v2/ai-agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${org.key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      for (let sent = 0; sent < 20; sent += 1) socket.write(`186a0\r\n${'x'.repeat(100_000)}\r\n`);
    });
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toContain('"payload_too_large"');
  });

  it.each([
    ['brackets', '['.repeat(100_000)],
    ['items', JSON.stringify({ dynamic_data_config: Array.from({ length: 20_000 }, () => null) })],
    ['fields', JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [n, 1])))],
  ])('a body of more than 20,000 values is 413: %s', async (_, body) => {
    const answer = await org.call('POST', '/v2/ai-agents', body);
    expect([answer.status, answer.body]).toEqual([413, { error: 'payload_too_large', message: expect.stringContaining('20000 values') }]);
  });

  it.each([
    [
      '9,000 lookups',
      { dynamic_data_config: Array.from({ length: 9_000 }, () => ({ url: 'http://x' })) },
      'dynamic_data_config',
      'too_long',
      'List should have at most 10 items after validation, not 9000',
    ],
    [
      '9,000 analyses',
      { post_call_analysis: Array.from({ length: 9_000 }, (_, n) => ({ name: `${n}` })) },
      'post_call_analysis',
      'too_long',
      'List should have at most 32 items after validation, not 9000',
    ],
    ['a name of 1 MB', { agent_name: 'n'.repeat(1_000_000) }, 'agent_name', 'string_too_long', 'String should have at most 200 characters'],
    [
      'a prompt of 900 kB',
      { llm: { model_name: 'm', system_prompt: 'p'.repeat(900_000) } },
      'llm',
      'string_too_long',
      'String should have at most 131072 characters',
    ],
    [
      '9,000 tools',
      { llm: { model_name: 'm', tools: Array.from({ length: 9_000 }, () => ({ tool_id: 'x' })) } },
      'llm',
      'too_long',
      'List should have at most 64 items after validation, not 9000',
    ],
  ])('%s: 422', async (_, fields, field, type, msg) => {
    const answer = await post(fields);
    expect(answer.status, answer.text.slice(0, 500)).toBe(422);
    expect(answer.body.detail).toHaveLength(1);
    expect(answer.body.detail[0]).toMatchObject({ type, msg });
    expect(answer.body.detail[0].loc[1]).toBe(field);
  });

  it('what only the resource knows is refused in REST words', async () => {
    const answer = await post({
      dynamic_data_config: [{ url: 'http://y' }, { url: 'http://x', body: { a: 'x'.repeat(40_000) } }],
      language_code: 'en-x',
    });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.detail.map(({ loc }: { loc: unknown[] }) => loc.join('.'))).toEqual([
      'body.language_code',
      'body.dynamic_data_config.1.body',
    ]);
    const second = await post({ webhook_url: 'https://' });
    expect(second.body.detail[0]).toMatchObject({
      loc: ['body', 'webhook_url'],
      type: 'string_pattern_mismatch',
      msg: "String should match pattern '^https?://.+'",
    });
    const third = await post({ llm: { model_name: 'm', model_provider: 'openai_compatible' } });
    expect(third.body.detail[0].loc).toEqual(['body', 'llm', 'base_url']);
  });

  it('an address of 20 kB is refused, and an id of 10 kB is unknown', async () => {
    const long = await org.call('GET', `/v2/ai-agents/${'x'.repeat(20_000)}`);
    expect([long.status, long.body.error]).toEqual([431, 'headers_too_large']);
    expect((await org.call('GET', `/v2/ai-agents/${'x'.repeat(10_000)}`)).body).toEqual({
      error: 'not_found',
      message: 'AI agent not found',
    });
  });
});

describe('operations', () => {
  it('has probes and metrics without a key', async () => {
    await expect.poll(async () => (await facade.call('GET', '/readyz')).text).toBe('ok\n');
    expect((await facade.call('GET', '/healthz')).status).toBe(200);
    await org.call('GET', '/v2/ai-agents/no-such-agent');
    const { text } = await facade.call('GET', '/metrics');
    expect(text).toMatch(/^http_requests_total\{route="\/v2\/ai-agents\/:ai_agent_id",method="GET",status="404"\} \d+$/m);
    expect(text).toMatch(/^http_request_duration_seconds_count\{/m);
    expect(text).not.toContain('no-such-agent');
  });

  it('has metrics of a bounded size, whatever was requested', async () => {
    const limited = routes.filter(({ path }) => /^\/(v\d|api)\//.test(path));
    await Promise.all(limited.map(({ method, path }) => facade.call(method, path)));
    for (const { method, path } of limited) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : {};
      await org.call(method, path, body);
      await org.call(method, `${path}?page_size=-1`, body && { unknown_field: 1 });
    }
    const { text } = await facade.call('GET', '/metrics');
    expect(new Set(text.match(/^http_requests_total\{route="[^"]+",method="[^"]+"/gm)).size).toBeGreaterThan(60);
    expect(text.split('\n').length).toBeLessThan(1_800);
  });

  it('writes one line about each request, without bodies', async () => {
    await org.call('GET', '/v2/ai-agents/a?x=query-canary');
    const { body, headers } = await org.call('POST', '/v2/ai-agents', anAgentRequest('body-canary'));
    const trace = headers.get('x-trace-id') ?? '';
    const lines = facade
      .log()
      .split('\n')
      .filter((line) => line.includes(trace))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      org: org.name,
      method: 'POST',
      route: '/v2/ai-agents',
      status: 201,
      keyId: expect.stringMatching(/^key_/),
      phases: { auth: expect.any(Number), kubernetes: expect.any(Number) },
    });
    expect(facade.log()).not.toMatch(/body-canary|query-canary/);
    expect(body.ai_agent_id).toBeDefined();
  });
});
