/** A stored secret stays at the origin that it was given for, whichever route changes the address that it is sent to. */
import { beforeAll, describe, expect, it } from 'vitest';

import type { Tool } from '../../../crds/index.ts';
import type { KubeRequest } from '../../../kube/index.ts';
import { anAgent, anAgentRequest } from '../../support/builders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { canary, kubectl, kubectlJson, organization, startFacade, type TestOrganization } from './facade.ts';

const facade = suiteFixture(
  async () =>
    await startFacade({
      wrap: (transport) => ({
        server: transport.server,
        async request<T>(request: KubeRequest): Promise<T> {
          const answer = await transport.request<T>(request);
          await afterRequest(request);
          return answer;
        },
        stream: (request) => transport.stream(request),
        close: () => transport.close(),
      }),
    }),
);
const org = suiteFixture(() => organization(facade));
/** This key may write everything, and read no secret. */
let writer: string;
/** Runs between two requests to the API server. */
let afterRequest: (request: KubeRequest) => Promise<void> = async () => undefined;
let reader: string;

beforeAll(async () => {
  const permissions = ['agents:write', 'tools:write', 'phone_numbers:write', 'webhooks:write'] as const;
  writer = await org.keyWith(...permissions);
  reader = await org.keyWith(...permissions, 'secrets:read');
});

const agents = '/v2/ai-agents';
const subscriptions = '/v1/public/webhook/subscription';
const numbers = '/v1/phone-numbers';
const mask = '********';

async function made(path: string, body: unknown): Promise<Readonly<Record<string, string>>> {
  const answer = await org.call('POST', path, body, { key: writer });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

const newAgent = async (extra: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  `${agents}/${(await made(agents, anAgentRequest('A', extra)))['ai_agent_id']}`;
const newTool = async (family: string, body: object): Promise<string> => {
  const all = `${await newAgent()}/${family}`;
  return `${all}/${(await made(all, body))['tool_id']}`;
};
let count = 0;
const newNumber = async (body: object): Promise<string> =>
  `${numbers}/${(await made(numbers, { phone_number: `+49305557${(count += 1)}`, ...body }))['_id']}`;

const api = (fields: object) => ({ additional_tool_info: { api: fields } });
const parameters = { properties: { id: { type: 'string' } }, required: ['id'] };
const custom = (fields: object) => ({ function_tool: { name: 'find', parameters }, ...api(fields) });
const inlineTool = (fields: object) => ({ llm: { tools: [custom(fields)] } });

const mcpServer = { server_url: 'https://a.example/mcp' };
const oauth = { token_url: 'https://login.a.example/token', client_id: 'c', client_secret: 'given' };

interface Case {
  /** Makes the object over REST, with its secret. @returns its path */
  readonly make: () => Promise<string>;
  /** Changes to an address of another origin, with the secret in every way in which it may be kept. */
  readonly moves: readonly object[];
  readonly field: string;
  readonly withSecret: object;
  /** Change to another address within the origin. */
  readonly within: object;
  /** Change that takes the address away, as the first of two steps; absent where it can't be. */
  readonly cleared?: object;
}

const secret = 'X-Api-Key';
const headers = { [secret]: 'given' };
const cases: Readonly<Record<string, Case>> = {
  'the base_url of an agent': {
    make: () => newAgent({ llm: { model_name: 'm', base_url: 'https://a.example/v1', api_key: 'given' } }),
    moves: [
      { llm: { base_url: 'https://b.example/v1' } },
      { llm: { base_url: 'https://b.example/v1', api_key: mask } },
      { llm: { base_url: 'http://a.example/v1' } },
      { llm: { base_url: 'https://a.example:8443/v1' } },
      { llm: { model_provider: 'groq' } },
      { llm: { base_url: null } },
    ],
    field: 'llm.api_key',
    withSecret: { llm: { base_url: 'https://b.example/v1', api_key: 'again' } },
    within: { llm: { base_url: 'https://A.example:443/v2' } },
  },
  'the endpoint of a custom tool': {
    make: () => newTool('custom-tools', custom({ endpoint: 'https://a.example/{id}', headers })),
    moves: [
      api({ endpoint: 'https://b.example/{id}' }),
      api({ endpoint: 'https://b.example/{id}', headers: { [secret.toLowerCase()]: mask } }),
      api({ endpoint: 'https://{{region}}.a.example/' }),
    ],
    field: `additional_tool_info.api.headers.${secret}`,
    withSecret: api({ endpoint: 'https://b.example/{id}', headers: { [secret]: 'again' } }),
    within: api({ endpoint: 'https://a.example/other', method: 'PUT' }),
  },
  'the endpoint of a tool in llm.tools': {
    make: () => newAgent({ llm: { model_name: 'm', tools: [custom({ endpoint: 'https://a.example', headers })] } }),
    moves: [inlineTool({ endpoint: 'https://b.example' }), inlineTool({ endpoint: 'https://b.example', headers: { [secret]: mask } })],
    field: `llm.tools.0.additional_tool_info.api.headers.${secret}`,
    withSecret: inlineTool({ endpoint: 'https://b.example', headers: { [secret]: 'again' } }),
    within: inlineTool({ endpoint: 'https://a.example/other' }),
  },
  'the server_url of an MCP tool with headers': {
    make: () => newTool('mcp-tools', { ...mcpServer, headers }),
    moves: [{ server_url: 'https://b.example/mcp' }, { server_url: 'https://b.example/mcp', headers: { [secret]: mask } }],
    field: `headers.${secret}`,
    withSecret: { server_url: 'https://b.example/mcp', headers: { [secret]: 'again' } },
    within: { server_url: 'https://a.example/other' },
  },
  'the server_url and the token_url of an MCP tool with OAuth': {
    make: () => newTool('mcp-tools', { ...mcpServer, oauth }),
    moves: [
      { server_url: 'https://b.example/mcp' },
      { server_url: 'https://b.example/mcp', oauth: { client_secret: mask } },
      { oauth: { token_url: 'https://b.example/token' } },
    ],
    field: 'oauth.client_secret',
    withSecret: { server_url: 'https://b.example/mcp', oauth: { client_secret: 'again' } },
    within: { server_url: 'https://a.example/other', oauth: { token_url: 'https://login.a.example/other' } },
  },
  'the url of a lookup': {
    make: () => newAgent({ dynamic_data_config: [{ url: 'https://a.example/x', headers }] }),
    moves: [{ dynamic_data_config: [{ url: 'https://b.example/x', headers: { [secret]: mask } }] }],
    field: `dynamic_data_config.0.headers.${secret}`,
    withSecret: { dynamic_data_config: [{ url: 'https://b.example/x', headers: { [secret]: 'again' } }] },
    within: { dynamic_data_config: [{ url: 'https://a.example/y', headers: { [secret]: mask } }] },
  },
  'the url of a subscription': {
    make: async () => {
      const body = { name: canary(), url: 'https://a.example/x', enable_signed_webhooks: true, headers };
      return `${subscriptions}/${(await made(subscriptions, body))['id']}`;
    },
    moves: [{ url: 'https://b.example/x' }, { url: 'https://b.example/x', headers: { [secret]: mask, 'X-Tenant': 'acme' } }],
    field: `headers.${secret}`,
    withSecret: { url: 'https://b.example/x', headers: { [secret]: 'again' } },
    within: { url: 'https://a.example/y' },
  },
  'the sip_termination_uri of a number': {
    make: () => newNumber({ sip_termination_uri: 'sip:u@8.8.4.4', sip_trunk_username: 'u', sip_trunk_password: 'given' }),
    moves: [
      { sip_termination_uri: 'sip:u@8.8.8.8' },
      { sip_termination_uri: 'sip:v@8.8.4.4' },
      { sip_termination_uri: 'sip:u@8.8.4.4:5070' },
      { sip_termination_uri: 'sip:u@8.8.8.8', sip_trunk_password: mask },
      { sip_trunk_username: 'v' },
    ],
    field: 'sip_trunk_password',
    withSecret: { sip_termination_uri: 'sip:u@8.8.8.8', sip_trunk_password: 'again' },
    within: { sip_termination_uri: 'u@8.8.4.4' },
    cleared: { sip_termination_uri: null },
  },
  'the account of a carrier': {
    make: () => newNumber({ provider: 'carrier', carrier_account_sid: 'a', carrier_auth_token: 'given' }),
    moves: [{ carrier_account_sid: 'b' }, { carrier_account_sid: 'b', carrier_auth_token: mask }],
    field: 'carrier_auth_token',
    withSecret: { carrier_account_sid: 'b', carrier_auth_token: 'again' },
    within: { friendly_name: 'x' },
    cleared: { carrier_account_sid: null },
  },
  'the sender of mail': {
    make: () => newTool('builtin-tools', { tool_name: 'send_email', from_email: 'desk@a.example', app_password: 'given' }),
    moves: [
      { tool_name: 'send_email', from_email: 'desk@b.example' },
      { tool_name: 'send_email', from_email: 'desk@b.example', app_password: mask },
    ],
    field: 'app_password',
    withSecret: { tool_name: 'send_email', from_email: 'desk@b.example', app_password: 'again' },
    within: { tool_name: 'send_email', from_email: 'other@A.example' },
  },
};

const method = (path: string): string => (path.startsWith(agents) ? 'PUT' : 'PATCH');
const etag = async (path: string): Promise<string | null> => (await org.call('GET', path, undefined, { key: writer })).headers.get('etag');
/** Finds the field that the refusal names, in one way for both forms of failures. */
function refusedAt(answer: Awaited<ReturnType<TestOrganization['call']>>): readonly string[] {
  const { body } = answer;
  if (answer.status === 400) return Object.keys(body.details);
  expect(answer.status, answer.text).toBe(422);
  expect(answer.text).toMatch(/a change of .* sends the stored secret elsewhere/);
  return body.detail.map(({ loc }: { loc: readonly unknown[] }) => loc.slice(1).join('.'));
}

describe.each(Object.entries(cases))('%s', (_, { make, moves, field, withSecret, within, cleared }) => {
  it('changes its origin with the secret, or by somebody who may read it', async () => {
    const path = await make();
    const before = await etag(path);
    for (const move of moves)
      for (const query of ['', '?dry_run=true', '?force=true']) {
        const at = refusedAt(await org.call(method(path), path + query, move, { key: writer }));
        expect(at.map((each) => each.toLowerCase())).toEqual([field.toLowerCase()]);
      }
    expect(await etag(path)).toBe(before);
    expect((await org.call(method(path), path, within, { key: writer })).status).toBe(200);
    if (cleared !== undefined) {
      expect((await org.call(method(path), path, cleared, { key: writer })).status).toBe(200);
      const [move = {}] = moves;
      expect(refusedAt(await org.call(method(path), path, move, { key: writer }))).toEqual([field]);
    }
    const moved = await org.call(method(path), path, withSecret, { key: writer });
    expect(moved.status, moved.text).toBe(200);
    const [move = {}] = moves;
    const other = await make();
    const back = await org.call(method(other), other, move, { key: reader });
    expect(back.status, back.text).toBe(200);
  });
});

it('a stored secret that is sent again as it is may move', async () => {
  const path = await newAgent({ llm: { model_name: 'm', base_url: 'https://a.example', api_key: 'given' } });
  const moved = await org.call('PUT', path, { llm: { base_url: 'https://b.example', api_key: 'given' } }, { key: writer });
  expect([moved.status, moved.body.llm?.base_url]).toEqual([200, 'https://b.example']);
});

it('an address and its secret may be taken away together', async () => {
  const path = await newAgent({ llm: { model_name: 'm', base_url: 'https://a.example', api_key: 'given' } });
  expect((await org.call('PUT', path, { llm: { base_url: null, api_key: null } }, { key: writer })).status).toBe(200);
});

it('a call is handed to another SIP address by somebody who may read secrets: the login of the trunk goes along', async () => {
  const transfer = (to: string) => ({ tool_name: 'transfer_call', transfer_to: to });
  const path = await newTool('builtin-tools', transfer('+15550100'));
  const put = (to: string, key = writer) => org.call('PUT', path, transfer(to), { key });
  expect((await put('+15550199')).status).toBe(200);
  expect(refusedAt(await put('sip:desk@8.8.8.8'))).toEqual(['transfer_to']);
  expect((await put('sip:desk@8.8.8.8', reader)).status).toBe(200);
  expect(refusedAt(await put('sip:other@8.8.8.8'))).toEqual(['transfer_to']);
  expect((await put('+15550100')).status).toBe(200);
});

it('lookups keep their headers within one origin, in whatever order they come', async () => {
  const lookup = (host: string, path: string, value: string) => ({ url: `https://${host}/${path}`, headers: { [secret]: value } });
  const path = await newAgent({ dynamic_data_config: [lookup('a.example', 'x', 'for a'), lookup('b.example', 'x', 'for b')] });
  const put = (items: readonly object[]) => org.call('PUT', path, { dynamic_data_config: items }, { key: writer });
  const swapped = await put([lookup('b.example', 'y', mask), lookup('a.example', 'y', mask)]);
  expect(swapped.status, swapped.text).toBe(200);
  const { body } = await org.call('GET', path, undefined, { key: reader });
  expect(body.dynamic_data_config).toMatchObject([lookup('b.example', 'y', 'for b'), lookup('a.example', 'y', 'for a')]);
  expect(refusedAt(await put([lookup('c.example', 'y', mask), lookup('a.example', 'y', mask)]))).toEqual([
    `dynamic_data_config.0.headers.${secret}`,
  ]);
});

it('what kubectl refers to, or has written out, is bound as well, also where REST has no field for it', async () => {
  const ref = { name: 'theirs', key: 'k' };
  await kubectl(
    ['create', '-f', '-'],
    anAgent('bound', org.name, {
      speechToText: { provider: 'deepgram', apiKeySecretRef: ref },
      dynamicData: [{ name: 'crm', url: 'https://a.example', headers: [{ name: 'Authorization', value: 'Bearer plain' }] }],
    }),
  );
  const put = (body: object, key = writer) => org.call('PUT', `${agents}/bound?force=true`, body, { key });
  expect(refusedAt(await put({ stt: { provider: 'openai' } }))).toEqual(['stt.provider']);
  const moved = { dynamic_data_config: [{ url: 'https://b.example', headers: { Authorization: mask } }] };
  expect(refusedAt(await put(moved))).toEqual(['dynamic_data_config.0.headers.Authorization']);
  expect((await put({ ...moved, stt: { provider: 'openai' } }, reader)).status).toBe(200);
  const { spec } = await kubectlJson<{ spec: { speechToText: unknown } }>(['get', 'agent', 'bound', '-n', org.name]);
  expect(spec.speechToText).toEqual({ provider: 'openai', apiKeySecretRef: ref });
});

it('no Secret goes to an address whose host a placeholder decides', async () => {
  const answer = await org.call('POST', agents, anAgentRequest('A', { dynamic_data_config: [{ url: 'https://{{host}}/', headers }] }), {
    key: reader,
  });
  expect(answer.body.detail).toMatchObject([
    { loc: ['body', 'dynamic_data_config', 0, 'url'], msg: expect.stringMatching(/write the domain out/) },
  ]);
});

it('a secret that a tool gets while its address is being changed stays where it was given for', async () => {
  const path = await newAgent({ llm: { model_name: 'm', tools: [custom({ endpoint: 'https://a.example' })] } });
  const { body } = await org.call('GET', path);
  const name = body.llm.tools[0].tool_id as string;
  const header = { name: secret, valueFrom: { secretKeyRef: { name: 'theirs', key: 'k' } } };
  let written = false;
  afterRequest = async ({ method: verb, path: at, query }) => {
    if (written || verb !== 'PATCH' || !at.includes('/agents/') || JSON.stringify(query ?? {}).includes('dryRun')) return;
    written = true;
    const patch = JSON.stringify({ spec: { custom: { http: { headers: [header] } } } });
    await kubectl(['patch', 'tool', name, '-n', org.name, '--type=merge', '-p', patch]);
  };
  const change = { welcome_message: 'x', llm: { tools: [{ tool_id: name, ...custom({ endpoint: 'https://b.example' }) }] } };
  const at = refusedAt(await org.call('PUT', path, change, { key: writer }));
  afterRequest = async () => undefined;
  expect([written, at]).toEqual([true, [`llm.tools.0.additional_tool_info.api.headers.${secret}`]]);
  const { spec } = await kubectlJson<Tool>(['get', 'tool', name, '-n', org.name]);
  expect(spec.custom?.http).toMatchObject({ url: 'https://a.example', headers: [header] });
});
