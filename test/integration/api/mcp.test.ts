/** Uses `/mcp` with the clients of the official SDK, in both protocol versions. */

import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';

import { unstartedApi } from '../../../api/openapi/described-routes.ts';
import { customToolBody } from '../../../api/tools/examples.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import { anAgent, anAgentRequest } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { unlimited } from '../../support/limits.ts';
import { limiterClock } from '../../support/request-clock.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { type RestAnswer, kubectl, organization, startFacade } from './facade.ts';
import { mcpClient, protocolVersions, registerLongCall, textsOf, type ProtocolVersion } from './mcp-clients.ts';

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));

const connect = (version: ProtocolVersion, key = org.key): Promise<Client> => mcpClient({ url: facade.url, key, version });
const call = (client: Client, name: string, given: Record<string, unknown> = {}): Promise<CallToolResult> =>
  client.callTool({ name, arguments: given });
const contentOf = async (client: Client, name: string, given: Record<string, unknown> = {}) => {
  const result = await call(client, name, given);
  expect(result.isError, textsOf(result).join()).toBeFalsy();
  // Looked into freely, as other answers are.
  // oxlint-disable-next-line typescript/no-explicit-any
  return result.structuredContent as any;
};
const failureOf = async (client: Client, name: string, given: Record<string, unknown> = {}): Promise<string> => {
  const result = await call(client, name, given);
  expect(result.isError, textsOf(result).join()).toBe(true);
  return textsOf(result).join('\n');
};
const madeAgent = async (name: string, fields = {}): Promise<string> =>
  (await org.call('POST', '/v2/ai-agents', anAgentRequest(name, fields))).body.ai_agent_id as string;

describe.each(protocolVersions)('an assistant that speaks %s', (version) => {
  it('lists tools with schemas and hints, and gets what REST answers', async () => {
    const client = await connect(version);
    expect(client.getServerVersion()).toMatchObject({ name: 'parley' });
    const { tools } = await client.listTools();
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
    expect(hints['search_knowledge_base']).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(hints['create_agent']).toMatchObject({ readOnlyHint: false, destructiveHint: false, idempotentHint: false });
    expect(hints['delete_agent']).toMatchObject({ readOnlyHint: false, destructiveHint: true, idempotentHint: true });
    expect(tools.find(({ name }) => name === 'update_agent')).toMatchObject({
      title: 'Update agent',
      inputSchema: { properties: { dry_run: { default: true }, llm: { type: 'object' } }, required: ['ai_agent_id'] },
    });
    const id = await madeAgent('Read by an assistant');
    const result = await call(client, 'get_agent', { ai_agent_id: id });
    const { body } = await org.call('GET', `/v2/ai-agents/${id}`);
    expect(result.structuredContent).toEqual(body);
    expect(JSON.parse(textsOf(result).at(-1) ?? '')).toEqual(body);
    const { contents } = await client.readResource({ uri: `parley://agents/${id}` });
    expect(JSON.parse((contents[0] as { readonly text: string }).text)).toEqual(body);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['parley://agents/{ai_agent_id}', 'parley://calls/{call_id}']);
  });

  it('makes a change only with dry_run: false, and hears before what it would be', async () => {
    const client = await connect(version);
    const wanted = anAgentRequest('Written by an assistant');
    const made = await contentOf(client, 'create_agent', wanted);
    expect(made).toMatchObject({ dry_run: true, agent_name: 'Written by an assistant' });
    expect(made).toMatchObject({ ai_agent_id: '', state: { reason: 'DryRun' } });
    const { ai_agent_id: id } = await contentOf(client, 'create_agent', { ...wanted, dry_run: false });
    expect((await org.call('GET', `/v2/ai-agents/${id}`)).body.agent_name).toBe('Written by an assistant');

    for (const dry of [{}, { dry_run: true }, { dry_run: null }, { dry_run: 'false' }]) {
      const result = await call(client, 'update_agent', { ai_agent_id: id, llm: { model_name: 'gpt-5' }, agent_name: 'Other', ...dry });
      expect(result.structuredContent).toMatchObject({
        dry_run: true,
        changes: [
          { field: 'agent_name', from: 'Written by an assistant', to: 'Other' },
          { field: 'llm.model_name', from: 'gpt-4o-mini', to: 'gpt-5' },
        ],
      });
      expect(textsOf(result)[0]).toBe('Dry run: nothing was changed. To make the change, call update_agent again with dry_run: false.');
    }
    expect((await org.call('GET', `/v2/ai-agents/${id}`)).body).toMatchObject({ agent_name: 'Written by an assistant' });
    const changed = await contentOf(client, 'update_agent', { ai_agent_id: id, agent_name: 'Other', dry_run: false });
    expect(changed).toMatchObject({ agent_name: 'Other' });
    expect(changed).not.toHaveProperty('dry_run');

    expect(await contentOf(client, 'delete_agent', { ai_agent_id: id })).toMatchObject({ message: 'The AI agent would be deleted' });
    expect((await org.call('GET', `/v2/ai-agents/${id}`)).status).toBe(200);
    await contentOf(client, 'delete_agent', { ai_agent_id: id, dry_run: false });
    expect((await org.call('GET', `/v2/ai-agents/${id}`)).status).toBe(404);
  });

  it('gets the failures of REST with their code, and what is wrong with which argument', async () => {
    const client = await connect(version);
    expect(await failureOf(client, 'get_agent', { ai_agent_id: 'no-such-agent' })).toBe('not_found (HTTP 404): AI agent not found');
    expect(await failureOf(client, 'get_agent')).toContain('ai_agent_id: Field required');
    const problems = await failureOf(client, 'create_agent', { agent_name: 'x', llm: { model_name: 5 } });
    expect(problems).toContain('validation_failed (HTTP 422)');
    expect(problems).toContain('- llm.model_name: Input should be a valid string');
    expect(problems).toContain('- stt: Field required');
    await expect(call(client, 'no_such_tool')).rejects.toThrow('there is no tool no_such_tool');
    await expect(client.readResource({ uri: 'parley://keys/x' })).rejects.toThrow('there is no resource parley://keys/x');
    await expect(client.readResource({ uri: 'parley://agents/none' })).rejects.toThrow('AI agent not found');
    // Fields that nothing reads are named, as in REST.
    const warned = await contentOf(client, 'create_agent', { ...anAgentRequest('Warned'), modelname: 'x' });
    expect(warned.warnings).toEqual([expect.stringContaining('modelname')]);
  });

  it('learns why an object is not in use, and what to do', async () => {
    const client = await connect(version);
    await kubectl(
      ['apply', '--server-side', '-f', '-'],
      anAgent(`broken-${version}`, org.name, {
        llm: { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'missing', key: 'apiKey' } },
      }),
    );
    const object = { kind: 'agent', name: `broken-${version}` };
    expect(await contentOf(client, 'explain_resource', object)).toMatchObject({
      kind: 'Agent',
      ready: false,
      problems: [
        { condition: 'ResolvedRefs', reason: 'SecretNotFound', message: expect.stringContaining('missing'), cure: expect.any(String) },
      ],
      refers_to: [{ object: 'Secret missing, key apiKey', state: 'does not exist', sound: false }],
    });
    expect(await failureOf(client, 'explain_resource', { ...object, kind: 'secret' })).toContain('use one of agent, tool, phone_number');
    expect(await failureOf(client, 'explain_resource', { ...object, kind: 'tool' })).toBe('not_found (HTTP 404): Tool not found');
    const agents = await connect(version, await org.keyWith('agents:read'));
    expect(await failureOf(agents, 'explain_resource', { kind: 'tool', name: 'x' })).toContain('lacks the permission tools:read');
  });

  it('never gets from one object to another by dots in an id', async () => {
    const client = await connect(version);
    const id = await madeAgent('Dotted');
    await org.call('POST', `/v2/ai-agents/${id}/custom-tools/`, customToolBody);
    for (const dots of ['..', '.', '']) {
      const failure = await failureOf(client, 'delete_custom_tool', { ai_agent_id: id, tool_id: dots, dry_run: false, force: true });
      expect(failure).toContain('tool_id: Field required');
    }
    for (const dots of ['%2e%2e', '../x', '..?a', '\ud800x'])
      expect((await call(client, 'delete_custom_tool', { ai_agent_id: id, tool_id: dots, dry_run: false })).isError).toBe(true);
    expect((await org.call('GET', `/v2/ai-agents/${id}`)).status).toBe(200);
  });

  it('has the tools that its key may use, and no object of another organisation', async () => {
    const key = await org.keyWith('agents:read', 'calls:read');
    const client = await connect(version, key);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'explain_resource',
      'get_agent',
      'get_agent_release',
      'get_call',
      'get_test_run',
      'list_agent_revisions',
      'list_agent_tests',
      'list_agents',
      'list_calls',
      'list_test_runs',
    ]);
    const refused = await failureOf(client, 'create_agent', { ...anAgentRequest('Not allowed'), dry_run: false });
    expect(refused).toBe('forbidden (HTTP 403): this API key lacks the permission agents:write');

    const id = await madeAgent('Ours');
    const other = await organization(facade);
    const stranger = await connect(version, other.key);
    const unknown = await failureOf(stranger, 'get_agent', { ai_agent_id: 'agent-aaaaaaaaaaaaaaaa' });
    expect(await failureOf(stranger, 'get_agent', { ai_agent_id: id })).toBe(unknown);
    expect(await failureOf(stranger, 'update_agent', { ai_agent_id: id, agent_name: 'Theirs', dry_run: false })).toBe(unknown);
    expect(await failureOf(stranger, 'explain_resource', { kind: 'agent', name: id })).toContain('not_found');
    expect((await contentOf(stranger, 'list_agents')).data).toEqual([]);
    await expect(stranger.readResource({ uri: `parley://agents/${id}` })).rejects.toThrow('AI agent not found');
  });

  it('is refused with an unknown key and with one that was revoked meanwhile', async () => {
    await expect(connect(version, 'nonsense')).rejects.toThrow(/401|Unauthorized/i);
    const { body: made } = await org.call('POST', '/v1/api-keys', { name: 'short', permissions: ['agents:read'] });
    const client = await connect(version, made.api_key);
    await contentOf(client, 'list_agents', { page_size: 1 });
    await org.call('POST', `/v1/api-keys/${made.key_id}/revoke`);
    await expect.poll(() => call(client, 'list_agents').then(() => 'answered', String)).toMatch(/401|Unauthorized/i);
  });

  it('reads a long transcript part by part, and pages that are too long in smaller ones', async () => {
    const client = await connect(version);
    const id = await registerLongCall(facade, org.name, `call_01234567-89ab-7def-8123-${version.replaceAll('-', '')}0000`, 3_000);
    const read: string[] = [];
    let parts = 0;
    for (let offset: number | undefined = 0; offset !== undefined; parts += 1) {
      const result = await call(client, 'get_call', { call_id: id, offset });
      const answer = result.structuredContent as {
        readonly messages: readonly { readonly content: string }[];
        readonly read_on?: { readonly offset: number; readonly of: number };
      };
      expect(JSON.stringify(answer).length).toBeLessThan(100_000);
      read.push(...answer.messages.map(({ content }) => content));
      if (answer.read_on) expect(textsOf(result)[0]).toContain(`offset: ${answer.read_on.offset} to read on, up to 3000`);
      offset = answer.read_on?.offset;
    }
    expect(parts).toBeGreaterThan(5);
    expect(read).toEqual(Array.from({ length: 3_000 }, (_, seq) => `message ${seq} ${'x'.repeat(200)}`));

    const rich = await organization(facade);
    const reader = await connect(version, rich.key);
    const long = { llm: { model_name: 'm', system_prompt: 'p'.repeat(30_000) } };
    for (let n = 0; n < 6; n += 1) await rich.call('POST', '/v2/ai-agents', anAgentRequest(`Long ${n}`, long));
    const names: string[] = [];
    let pages = 0;
    for (let token: string | null = ''; token !== null; pages += 1) {
      const page = await contentOf(reader, 'list_agents', { page_size: 100, page_token: token });
      expect(JSON.stringify(page).length).toBeLessThan(100_000);
      names.push(...page.data.map(({ agent_name: name }: { readonly agent_name: string }) => name));
      token = page.next_page_token as string | null;
    }
    expect(pages).toBeGreaterThan(2);
    expect(names).toEqual(Array.from({ length: 6 }, (_, n) => `Long ${n}`));
  });

  it('may go away in the middle of a call, and others are served side by side', async () => {
    const client = await connect(version);
    const gone = new AbortController();
    const left = client.callTool({ name: 'list_agents', arguments: {} }, { signal: gone.signal });
    gone.abort('not interested any more');
    await expect(left).rejects.toThrow('not interested any more');
    const raw = new AbortController();
    const slow = Array.from({ length: 10 }, (_, n) => {
      const body = { jsonrpc: '2.0', id: n, method: 'tools/call', params: { name: 'list_agents', arguments: {} } };
      const headers = {
        authorization: `Bearer ${org.key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      return fetch(`${facade.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(body), signal: raw.signal }).then(
        String,
        () => 'gone',
      );
    });
    await settle(20);
    raw.abort();
    await Promise.all(slow);
    const clients = await Promise.all(Array.from({ length: 20 }, () => connect(version)));
    const ids = await Promise.all(clients.map((_, n) => madeAgent(`Side by side ${n}`)));
    const answers = await Promise.all(
      clients.flatMap((each, n) => [
        contentOf(each, 'get_agent', { ai_agent_id: ids[n] }),
        contentOf(each, 'list_agents', { page_size: 1 }),
      ]),
    );
    expect(answers.flatMap(({ agent_name: name }) => (name === undefined ? [] : [name]))).toEqual(ids.map((_, n) => `Side by side ${n}`));
    expect(await contentOf(client, 'list_agents', { page_size: 1 })).toHaveProperty('data');
    expect(facade.log()).not.toMatch(/"status":5|"level":"(error|fatal)"/);
  });

  it('counts as one request for each call of a tool, and hears in words when to come back', async () => {
    const perKey = { name: 'key', of: 'key', limit: { perSecond: 0.5, burst: 12 } } as const;
    const { clock, move } = limiterClock();
    const limits = { ...unlimited, classes: [perKey], exchangeMs: 0 };
    const strict = await startFacade({ database: facade.database, limits, clock });
    try {
      const key = await org.keyWith('agents:read');
      const client = await mcpClient({ url: strict.url, key, version });
      const remaining = async () => Number((await strict.call('GET', '/v2/ai-agents', { key })).headers.get('ratelimit-remaining'));
      const before = await remaining();
      await contentOf(client, 'list_agents');
      expect(await remaining()).toBe(before - 2);
      let result = await call(client, 'list_agents');
      while (!result.isError) result = await call(client, 'list_agents');
      expect(textsOf(result)[0]).toMatch(
        /^rate_limited \(HTTP 429\): this API key has made too many requests: .*\nTry again in [12] seconds?\.$/,
      );
      await expect(client.listTools()).rejects.toThrow(/too many requests.*; try again in [12] s/);
      move(2_000);
      await contentOf(client, 'list_agents');
    } finally {
      await strict.close();
    }
  });
});

it('counts every message once, also one that is refused before it comes to a request, and says how the limits stand', async () => {
  const perKey = { name: 'key', of: 'key', limit: { perSecond: 0.5, burst: 40 } } as const;
  const { clock } = limiterClock();
  const strict = await startFacade({ database: facade.database, limits: { ...unlimited, classes: [perKey], exchangeMs: 0 }, clock });
  try {
    const key = await org.keyWith('agents:read');
    const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
    const post = (message: object, given: Readonly<Record<string, string>> = {}) =>
      strict.call('POST', '/mcp', { key, body: { jsonrpc: '2.0', id: 1, ...message }, headers: { ...headers, ...given } });
    const tool = (name: string, args = {}) => ({ method: 'tools/call', params: { name, arguments: args } });
    const cases: readonly (readonly [string, () => Promise<RestAnswer>])[] = [
      ['a tool', () => post(tool('list_agents'))],
      ['a tool without its id', () => post(tool('get_agent'))],
      ['a tool that the key may not use, without its id', () => post(tool('delete_agent'))],
      ['no tool', () => post(tool('no_such_tool'))],
      ['an unknown resource', () => post({ method: 'resources/read', params: { uri: 'parley://nothing' } })],
      ['another Accept', () => post(tool('list_agents'), { accept: 'text/plain' })],
      ['a wrong version', () => post(tool('list_agents'), { 'mcp-protocol-version': '1999-01-01' })],
      ['a notification', () => post({ id: undefined, method: 'notifications/initialized' })],
      ['a notification that calls a tool', () => post({ id: undefined, ...tool('list_agents') })],
      ['the list of tools', () => post({ method: 'tools/list' })],
    ];
    for (const [index, [name, send]] of cases.entries())
      expect((await send()).headers.get('ratelimit-remaining'), name).toBe(String(40 - index - 1));
    while ((await post(tool('get_agent'))).status === 200);
    const refused = await post(tool('get_agent'));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
  } finally {
    await strict.close();
  }
});

it('is not there where PARLEY_MCP is off', () => {
  expect(unstartedApi({ mcp: false }).hasRoute({ method: 'POST', url: '/mcp' })).toBe(false);
  expect(unstartedApi().hasRoute({ method: 'POST', url: '/mcp' })).toBe(true);
  expect(loadConfig({}).PARLEY_MCP).toBe(true);
});

describe('an MCP message', () => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    facade.call('POST', '/mcp', {
      key: org.key,
      body,
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25', ...headers },
    });

  it('needs a key in a header: 401 says which scheme', async () => {
    const answer = await facade.call('POST', `/mcp?api_key=${org.key}`, { body: list });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(answer.body).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_000, message: expect.stringMatching(/^unauthorized: send your API key/) },
    });
    const behindProxy = await facade.call('POST', '/mcp', {
      body: list,
      headers: { 'x-parley-api-key': org.key, accept: 'application/json, text/event-stream' },
    });
    expect(behindProxy.status).toBe(200);
  });

  it.each([
    ['https://evil.example', 403],
    ['null', 403],
    ['http://localhost.evil.example', 403],
    ['http://localhost:6274', 200],
    ['http://127.0.0.1', 200],
    ['http://[::1]:8080', 200],
  ])('from a page of %s is answered with %i', async (origin, status) => {
    const answer = await post(list, { origin, host: 'localhost' });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.error.message).toMatch(/^forbidden: pages of this origin/);
    // A page gets the same without a key: what it may not do is no matter of keys.
    const keyless = await facade.call('POST', '/mcp', { body: list, headers: { origin } });
    expect(keyless.status).toBe(status === 403 ? 403 : 401);
  });

  it('begins no session, and joins none that somebody else names', async () => {
    const begin = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    };
    const first = await post(begin, { 'mcp-session-id': 'given-by-an-attacker' });
    expect([first.status, first.headers.get('mcp-session-id')]).toEqual([200, null]);
    for (const method of ['GET', 'DELETE']) expect((await facade.call(method, '/mcp', { key: org.key })).status).toBe(405);
  });

  it.each([
    ['several at once', [list, list], 400],
    ['no JSON', '{"jsonrpc": ', 400],
    ['no message', { hello: 'world' }, 400],
    ['more than 1 MiB', { ...list, params: { x: 'x'.repeat(1_100_000) } }, 413],
    ['more values than are read', { ...list, params: { x: Array.from({ length: 20_001 }, () => 0) } }, 413],
  ])('is refused as %s', async (_, body, status) => {
    expect((await post(body)).status).toBe(status);
  });

  it('opens no stream that lasts: there is nothing to subscribe to', async () => {
    const client = await connect('2026-07-28');
    await expect(client.request({ method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } })).rejects.toThrow(
      'Subscription limit reached',
    );
  });

  it('leaves a log line that names the tool, next to that of the route, and is counted by tool', async () => {
    const client = await connect('2025-11-25');
    const id = await madeAgent('mcp-canary');
    await contentOf(client, 'get_agent', { ai_agent_id: id });
    const lines = facade
      .log()
      .split('\n')
      .flatMap((line) => (line.includes('"tool":"get_agent"') ? [JSON.parse(line) as Record<string, unknown>] : []));
    const last = lines.slice(-2);
    expect(last).toMatchObject([
      { msg: 'request', route: '/v2/ai-agents/:ai_agent_id', method: 'GET', status: 200, org: org.name, keyId: expect.any(String) },
      { msg: 'request', route: '/mcp', method: 'POST', status: 200, org: org.name, keyId: expect.any(String) },
    ]);
    expect(new Set(last.map(({ traceId }) => traceId)).size).toBe(1);
    expect(facade.log()).not.toContain('mcp-canary');
    const metrics = await facade.registry.metrics();
    expect(metrics).toMatch(/parley_mcp_tool_calls_total\{tool="get_agent",outcome="ok"\} [1-9]/);
    expect(metrics).toMatch(/parley_mcp_tool_calls_total\{tool="create_agent",outcome="error"\} [1-9]/);
    expect(metrics).not.toContain('no_such_tool');
    // A request of the key itself belongs to no tool, whatever it says.
    await org.call('GET', `/v2/ai-agents/${id}`);
    expect(facade.log().trimEnd().split('\n').at(-1)).not.toContain('"tool"');
  });
});
