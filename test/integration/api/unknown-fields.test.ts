/** Fields of a request that nothing reads are refused where they would narrow, and named everywhere else. */
import { beforeAll, describe, expect, it } from 'vitest';

import { fullAgent, smallAgent } from '../../../api/agents/examples.ts';
import { builtinToolBodies, customToolBody } from '../../../api/tools/examples.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { serveAgent, realMediaServer } from './calls-support.ts';
import { organization, startFacade } from './facade.ts';
import { knowledgeMeans } from './knowledge-means.ts';

const means = suiteFixture(knowledgeMeans);
const facade = suiteFixture(async () => startFacade({ knowledge: means.knowledge, calls: { mediaServer: await realMediaServer() } }));
const org = suiteFixture(() => organization(facade));
let agent: string;

beforeAll(async () => {
  agent = (await org.call('POST', '/v2/ai-agents', smallAgent)).body.ai_agent_id;
});

const subscription = { name: 'All', url: 'https://hooks.example.com', enable_signed_webhooks: false };
let last = 0;
const aNumber = (): string => `+49305550${String(Date.now() % 10_000).padStart(4, '0')}${String((last += 1)).padStart(2, '0')}`;

/** Says for each kind where it is made and changed, and has a body with unknown fields. */
const kinds = [
  {
    kind: 'agents',
    at: () => '/v2/ai-agents',
    id: 'ai_agent_id',
    method: 'PUT',
    body: () => ({
      ...fullAgent,
      llm: { ...fullAgent.llm, sytem_prompt: 'x' },
      dynamic_data_config: [{ url: 'https://x.example.com', response_data: [{ name: 'plan', data: '$.plan' }], cashe: true }],
    }),
    unread: { nonsense: 1 },
    warnings: [
      'unknown field "llm.sytem_prompt": did you mean "system_prompt"?',
      'unknown field "dynamic_data_config[0].cashe": did you mean "cache"?',
    ],
  },
  {
    kind: 'custom tools',
    at: () => `/v2/ai-agents/${agent}/custom-tools`,
    id: 'tool_id',
    method: 'PUT',
    body: () => ({ ...customToolBody, additional_tool_info: { api: { ...customToolBody.additional_tool_info.api, header: {} } } }),
    unread: { nonsense: 1 },
    warnings: ['unknown field "additional_tool_info.api.header": did you mean "headers"?'],
  },
  {
    kind: 'built-in tools',
    at: () => `/v2/ai-agents/${agent}/builtin-tools`,
    id: 'tool_id',
    method: 'PUT',
    body: () => ({ ...Object.values(builtinToolBodies)[0], description: 'x' }),
    unread: { tool_name: Object.values(builtinToolBodies)[0]?.tool_name, nonsense: 1 },
    warnings: ['unknown field "description"'],
  },
  {
    kind: 'phone numbers',
    at: () => '/v1/phone-numbers',
    id: '_id',
    method: 'PATCH',
    body: () => ({ phone_number: aNumber(), friendlyName: 'Front desk' }),
    unread: { nonsense: 1 },
    warnings: ['unknown field "friendlyName": did you mean "friendly_name"?'],
  },
  {
    kind: 'knowledge bases',
    at: () => '/api/v1/knowledge-bases',
    id: 'id',
    method: 'PATCH',
    body: () => ({ name: 'Manuals', document_langauge: 'de' }),
    unread: { nonsense: 1 },
    warnings: ['unknown field "document_langauge": did you mean "document_language"?'],
  },
  {
    kind: 'webhook subscriptions',
    at: () => '/v1/public/webhook/subscription',
    id: 'id',
    method: 'PUT',
    body: () => ({ ...subscription, retry_policy: { maxAttempts: 0 } }),
    unread: { retry_policy: { nonsense: 1 } },
    warnings: ['unknown field "retry_policy.maxAttempts"'],
  },
] as const;

describe.each(kinds)('$kind', ({ at, id, method, body, unread, warnings }) => {
  it('are written, and the answer names the unknown fields', async () => {
    const made = await org.call('POST', at(), body());
    expect([made.status, made.body.warnings]).toEqual([201, warnings]);
    expect(made.headers.get('warning')).toBe(warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', '));

    const address = `${at()}/${made.body[id]}`;
    const read = await org.call('GET', address);
    expect([read.body.warnings, read.headers.get('warning')]).toEqual([undefined, null]);
    for (const sent of [read.body, made.body]) {
      const written = await org.call(method, address, sent);
      expect([written.status, written.body.warnings, written.headers.get('warning')]).toEqual([200, undefined, null]);
    }
    const changed = await org.call(method, address, unread);
    expect([changed.status, changed.body.warnings]).toEqual([200, [expect.stringContaining('nonsense"')]]);
  });
});

describe('a field that only answers have', () => {
  const only = (name: string, cure: string) => ({
    type: 'value_error',
    loc: ['body', ...name.split('.')],
    msg: expect.stringContaining(cure),
  });

  it.each([
    ['/v2/ai-agents', { ...smallAgent, ai_agent_id: 'mine' }, only('ai_agent_id', 'leave it out')],
    ['/v2/ai-agents', { ...smallAgent, llm: { ...smallAgent.llm, llm_id: 'gpt-5' } }, only('llm.llm_id', 'send model_name')],
    [
      '/v1/api-keys/',
      { name: 'ci', permissions: ['agents:read'], expiration_date: '2027-01-01T00:00:00Z' },
      only('expiration_date', 'send expiration_days'),
    ],
    ['/v1/phone-numbers', { phone_number: '+493055501', _id: 'mine' }, only('_id', 'leave it out')],
  ])('is refused where something is made: %s', async (path, body, issue) => {
    const { status, body: refused } = await org.call('POST', path, body);
    expect([status, refused]).toEqual([422, { detail: [issue] }]);
  });

  it('may be sent back as it is; as something else it is refused where it would switch signing, and named elsewhere', async () => {
    const { body: made } = await org.call('POST', '/v1/public/webhook/subscription', { ...subscription, name: 'Read only' });
    const at = `/v1/public/webhook/subscription/${made.id}`;
    expect((await org.call('PATCH', at, { signing_enabled: false })).status).toBe(200);
    const refused = await org.call('PATCH', at, { signing_enabled: true });
    expect([refused.status, refused.body.details]).toEqual([
      400,
      { signing_enabled: expect.stringContaining('send enable_signed_webhooks') },
    ]);
    const named = await org.call('PATCH', at, { created_at: '2020-01-01T00:00:00Z', updated_at: '2020-01-01T00:00:00Z' });
    expect([named.status, named.body.warnings]).toEqual([200, [`"created_at" can't be changed: it stays as it is`]]);
  });
});

it('keys, calls and uploads name them as well', async () => {
  const key = await org.call('POST', '/v1/api-keys/', { name: 'ci', permissions: ['agents:read'], expires_days: 1 });
  expect([key.status, key.body.warnings?.length]).toEqual([201, 1]);
  await serveAgent(facade.store, org.name, 'served');
  const call = await org.call('POST', '/v1/calls/create-web-call', {
    ai_agent_id: 'served',
    meta_data: { a: 1 },
    metadata: { free: { x: 1 } },
  });
  expect([call.status, call.body.warnings]).toEqual([201, ['unknown field "meta_data": did you mean "metadata"?']]);
  const base = await org.call('POST', '/api/v1/knowledge-bases', { name: 'Uploads' });
  const form = new FormData();
  form.set('file', new Blob(['text']), 'a.txt');
  form.set('metdata', '{}');
  const upload = await org.call('POST', `/api/v1/knowledge-bases/${base.body.id}/documents/file`, form);
  expect([upload.status, upload.body.warnings]).toEqual([202, ['unknown field "metdata": did you mean "metadata"?']]);
});

describe('what would narrow is refused', () => {
  const extra = (...loc: string[]) => ({ type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted' });

  it.each(['filters', 'where', 'metadata_filter', 'Filter'])('a search with %s', async (name) => {
    const answer = await org.call('POST', '/api/v1/vector/search', { query: 'x', knowledge_base_id: 'kb', [name]: { a: { $eq: 1 } } });
    expect([answer.status, answer.body]).toEqual([422, { detail: [extra('body', name)] }]);
  });

  it.each(['agentIds', 'agents', 'workspaces', 'event_types', 'filter'])('a subscription with %s', async (name) => {
    const answer = await org.call('POST', '/v1/public/webhook/subscription', { ...subscription, name, [name]: ['a'] });
    expect([answer.status, answer.body.details]).toEqual([400, { [name]: 'Extra inputs are not permitted' }]);
    const list = await org.call('GET', '/v1/public/webhook/subscriptions?page_size=100');
    expect(list.body.data.map((each: { name: string }) => each.name)).not.toContain(name);
  });

  it.each([
    ['GET', '/v1/calls?agent_id=a', 'agent_id'],
    ['GET', '/v2/ai-agents?limit=1', 'limit'],
    ['POST', '/v2/ai-agents?dryRun=true', 'dryRun'],
    ['DELETE', '/v2/ai-agents/a?dryrun=1', 'dryrun'],
    // These routes take no rehearsal.
    ['DELETE', '/api/v1/knowledge-bases/a/documents/b?dry_run=true', 'dry_run'],
    ['POST', '/v1/api-keys/a/revoke?dry_run=true', 'dry_run'],
    ['DELETE', '/v1/calls/a?dry_run=true', 'dry_run'],
  ])('%s %s', async (method, path, name) => {
    const answer = await org.call(method, path, method === 'POST' ? smallAgent : undefined);
    expect([answer.status, answer.body]).toEqual([422, { detail: [extra('query', name)] }]);
  });
});

/** Drops the tokens, because each answer signs its own. */
const withoutTokens = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body, (name, value: unknown) => (name === 'access_token' ? undefined : value)));

describe('leniences', () => {
  it('an empty page_token is the first page', async () => {
    for (const path of ['/v2/ai-agents?', '/v1/calls?', '/v1/api-keys/?', '/v1/public/webhook/subscriptions?page_size=20&']) {
      const [first, empty] = await Promise.all([org.call('GET', path), org.call('GET', `${path}page_token=`)]);
      expect([empty.status, withoutTokens(empty.body)]).toEqual([200, withoutTokens(first.body)]);
    }
  });

  it('a body without Content-Type is JSON', async () => {
    const send = (body: string) =>
      fetch(`${facade.url}/v2/ai-agents`, {
        method: 'POST',
        headers: { authorization: `Bearer ${org.key}` },
        body: new TextEncoder().encode(body),
      });
    expect((await send(JSON.stringify(smallAgent))).status).toBe(201);
    expect((await send('{')).status).toBe(422);
  });
});
