/** Nothing of one organisation can be seen, counted, guessed or touched with a key of another. */
import { randomBytes } from 'node:crypto';

import { beforeAll, expect, inject, it } from 'vitest';

import { anAgentRequest } from '../support/builders.ts';
import { stackClient, type StackClient } from '../support/stack.ts';

const stack = inject('stack');
const ours = stackClient(stack);
const other = `rival-${randomBytes(4).toString('hex')}`;
let theirs: StackClient;
let theirAgent: string;
let theirKey: string;
let theirTool: string;

beforeAll(async () => {
  await ours.createOrganization(other);
  const made = await ours.parley(['keys', 'create', '--org', other, '--name', 'theirs', '--permissions', '*', '--json']);
  expect(made.stderr).toBe('');
  theirs = stackClient(stack, (JSON.parse(made.stdout) as { api_key: string }).api_key);
  const agent = await theirs.rest<{ ai_agent_id: string; llm: { tools: { tool_id: string }[] } }>(
    'POST',
    '/v2/ai-agents',
    anAgentRequest('Secret project', {
      llm: {
        model_name: 'gpt-4o-mini',
        tools: [
          {
            function_tool: { name: 'look', description: 'd', parameters: { type: 'object', properties: {}, required: [] } },
            additional_tool_info: { tool_type: 'custom', api: { endpoint: 'https://rival.example.com', method: 'GET' } },
          },
        ],
      },
    }),
  );
  expect(agent.status, agent.text).toBe(201);
  theirAgent = agent.body.ai_agent_id;
  theirTool = agent.body.llm.tools[0]!.tool_id;
  const key = await theirs.rest<{ key_id: string }>('POST', '/v1/api-keys/', { name: 'k', permissions: ['agents:read'] });
  expect(key.status, key.text).toBe(201);
  theirKey = key.body.key_id;
});

/** Returns the answer without what differs from request to request. */
async function answer(method: string, path: string, body?: unknown): Promise<unknown> {
  const { status, text } = await ours.rest(method, path, body, { 'x-user-org-id': other, 'x-organization-id': other });
  return { status, text: text.replaceAll(/"traceId":"[^"]*"/g, '"traceId":"…"') };
}

it.each([
  ['GET', '/v2/ai-agents/ID', undefined],
  ['PUT', '/v2/ai-agents/ID', { welcome_message: 'mine now' }],
  ['PUT', '/v2/ai-agents/ID?force=true', { welcome_message: 'mine now' }],
  ['PUT', '/v2/ai-agents/ID?dry_run=true', { welcome_message: 'mine now' }],
  ['DELETE', '/v2/ai-agents/ID', undefined],
])('%s %s answers alike for a foreign, a missing and a malformed agent', async (method, path, body) => {
  const foreign = await answer(method, path.replace('ID', theirAgent), body);
  expect(foreign).toMatchObject({ status: 404 });
  for (const id of [
    'agent-aaaaaaaaaaaaaaaa',
    'NOT%20A%20NAME',
    '..%2F..%2Fsecrets',
    `${other}%2F${theirAgent}`,
    'x'.repeat(300),
    '%00',
    '-',
  ]) {
    expect(await answer(method, path.replace('ID', id), body), id).toEqual(foreign);
  }
  expect((await theirs.rest('GET', `/v2/ai-agents/${theirAgent}`)).body['welcome_message']).not.toBe('mine now');
});

it.each([
  ['GET', '/v1/api-keys/ID'],
  ['POST', '/v1/api-keys/ID/revoke'],
])('%s %s answers alike for a foreign, a missing and a malformed key', async (method, path) => {
  const foreign = await answer(method, path.replace('ID', theirKey));
  expect(foreign).toMatchObject({ status: 404 });
  for (const id of ['00000000-0000-7000-8000-000000000000', 'nonsense', "'%20OR%201=1--", '%00'])
    expect(await answer(method, path.replace('ID', id)), id).toEqual(foreign);
  expect((await theirs.rest('GET', `/v1/api-keys/${theirKey}`)).body['revoked']).toBe(false);
});

it('lists, counts and pages hold nothing of the other', async () => {
  for (const path of ['/v2/ai-agents?page_size=100', '/v1/api-keys/?page_size=100']) {
    const { text } = await ours.rest('GET', path, undefined, { 'x-user-org-id': other });
    expect(text).not.toContain(theirAgent);
    expect(text).not.toContain(theirKey);
    expect(text).not.toContain(other);
  }
});

it("can't page with the other's token", async () => {
  await theirs.rest('POST', '/v2/ai-agents', anAgentRequest('Second'));
  const page = await theirs.rest<{ next_page_token: string }>('GET', '/v2/ai-agents?page_size=1');
  expect(page.body.next_page_token).toBeTruthy();
  const stolen = await ours.rest('GET', `/v2/ai-agents?page_size=1&page_token=${encodeURIComponent(page.body.next_page_token)}`);
  expect(stolen.status).toBe(422);
});

it("can't attach the other's tool, and gets the same answer as for an unknown one", async () => {
  const attach = (tool: string) =>
    ours.rest('POST', '/v2/ai-agents', anAgentRequest('Thief', { llm: { model_name: 'm', tools: [{ tool_id: tool }] } }));
  const foreign = await attach(theirTool);
  const missing = await attach('tool-aaaaaaaaaaaaaaaa');
  expect(foreign.status).toBe(422);
  expect(foreign.text.replaceAll(theirTool, 'T')).toBe(missing.text.replaceAll('tool-aaaaaaaaaaaaaaaa', 'T'));
});

it("can't grant itself more than it holds", async () => {
  const weak = await ours.rest<{ api_key: string }>('POST', '/v1/api-keys/', { name: 'weak', permissions: ['api_keys:write'] });
  const client = stackClient(stack, weak.body.api_key);
  expect((await client.rest('POST', '/v1/api-keys/', { name: 'strong', permissions: ['*'] })).status).toBe(403);
  expect((await client.rest('GET', '/v2/ai-agents')).status).toBe(403);
});
