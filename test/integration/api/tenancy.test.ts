import { randomInt } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { describedRoutes } from '../../../api/openapi/described-routes.ts';
import { customToolBody } from '../../../api/tools/examples.ts';
import { aTool, anAgentRequest } from '../../support/builders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { kubectl, organization, startFacade, type RestAnswer, type TestOrganization } from './facade.ts';

const facade = suiteFixture(startFacade);
const ours = suiteFixture(() => organization(facade));
const theirs = suiteFixture(() => organization(facade));

/** Returns what a client can tell answers apart by. A failure of the webhook group also has its time and path, which may differ. */
function visible({ status, text, body, headers }: RestAnswer): unknown {
  const kept = [...headers].filter(([name]) => !['date', 'x-trace-id'].includes(name));
  if (body?.trace_id === undefined) return { status, text, headers: kept };
  const { timestamp: _, path: __, trace_id: ___, ...rest } = body as Readonly<Record<string, unknown>>;
  return { status, text: JSON.stringify(rest), headers: kept.filter(([name]) => name !== 'content-length') };
}

function aFile(): FormData {
  const form = new FormData();
  form.set('file', new Blob(['text']), 'a.txt');
  return form;
}

describe('two organisations', () => {
  it("another's, unknown and impossible agents are one and the same 404", async () => {
    const { body: agent } = await theirs.call('POST', '/v2/ai-agents', anAgentRequest('Theirs'));
    const ids = [
      agent.ai_agent_id,
      'agent-aaaaaaaaaaaaaaaa',
      'UPPER',
      'a_b',
      '..',
      '%2e%2e',
      'a%2Fb',
      '%00',
      '%ZZ',
      '%',
      '-',
      'é',
      '%F0%9F%98%80',
      `${theirs.name}%2F${agent.ai_agent_id}`,
      'x'.repeat(300),
      '%20',
      '{}',
      "'",
    ];
    for (const [method, body] of [['GET'], ['PUT', { agent_name: 'Mine' }], ['DELETE']] as const) {
      const answers = new Map<string, unknown>();
      for (const id of ids) answers.set(id, visible(await ours.call(method, `/v2/ai-agents/${id}`, body)));
      const expected = answers.get('agent-aaaaaaaaaaaaaaaa');
      expect(expected).toMatchObject({ status: 404, text: '{"error":"not_found","message":"AI agent not found"}' });
      // A client resolves dots itself: the request is then for the list.
      for (const [id, answer] of answers) if (!['..', '%2e%2e'].includes(id)) expect(answer, `${method} ${id}`).toEqual(expected);
    }
    expect((await theirs.call('GET', `/v2/ai-agents/${agent.ai_agent_id}`)).body.agent_name).toBe('Theirs');
  });

  it("nothing distinguishes another's ids from unknown and impossible ones, on any route with ids", async () => {
    const make = async (org: TestOrganization): Promise<Readonly<Record<string, string>>> => {
      const { body: agent } = await org.call('POST', '/v2/ai-agents', anAgentRequest('Walked'));
      const id = agent.ai_agent_id as string;
      const { body: tool } = await org.call('POST', `/v2/ai-agents/${id}/custom-tools`, customToolBody);
      const { body: number } = await org.call('POST', '/v1/phone-numbers', { phone_number: `+1${randomInt(1e12, 1e13)}` });
      const { body: key } = await org.call('POST', '/v1/api-keys', { name: 'walked', permissions: ['calls:read'] });
      const { body: base } = await org.call('POST', '/api/v1/knowledge-bases', { name: 'Walked' });
      const documents = `/api/v1/knowledge-bases/${base.id}/documents`;
      const { body: subscription } = await org.call('POST', '/v1/public/webhook/subscription', {
        name: 'Walked',
        url: 'https://example.com',
        enable_signed_webhooks: true,
      });
      const { body: document } = await org.call('POST', `${documents}/website`, { page_urls: ['https://example.com/'] });
      return {
        kb_id: base.id,
        document_id: document.document_id,
        agent_id: id,
        ai_agent_id: id,
        tool_id: tool.tool_id,
        phone_number_id: number._id,
        key_id: key.key_id,
        subscription_id: subscription.id,
      };
    };
    const [own, foreign] = [await make(ours), await make(theirs)];
    const strange = ['agent-aaaaaaaaaaaaaaaa', 'UPPER', 'a%2Fb', '%00', '%ZZ', 'é', 'x'.repeat(300)];
    for (const { method, path, bodyExamples = {}, streamed } of describedRoutes()) {
      const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
      for (const name of names) {
        const answers: unknown[] = [];
        for (const id of [foreign[name] ?? 'absent', ...strange]) {
          // The other parameters are one's own: a tool is asked for under an agent that is there.
          const address = path.replaceAll(/:(\w+)/g, (_, other: string) => (other === name ? id : (own[other] ?? 'x')));
          const [example] = Object.values(bodyExamples);
          const body = path.endsWith('/file') ? aFile() : streamed === undefined ? example : '{"name": "a.md", "content": "# A"}\n';
          const headers = streamed === undefined ? {} : { headers: { 'content-type': 'application/x-ndjson' } };
          answers.push(visible(await ours.call(method, address, body, headers)));
        }
        const [first, ...others] = answers;
        expect(first, `${method} ${path}`).toMatchObject({ status: 404 });
        for (const other of others) expect(other, `${method} ${path}`).toEqual(first);
      }
    }
    // The objects that were asked for in vain are there, and as they were.
    for (const [org, ids] of [
      [ours, own],
      [theirs, foreign],
    ] as const) {
      const paths = [
        `/v2/ai-agents/${ids['agent_id']}`,
        `/v2/ai-agents/${ids['agent_id']}/custom-tools/${ids['tool_id']}`,
        `/v1/phone-numbers/${ids['phone_number_id']}`,
        `/v1/api-keys/${ids['key_id']}`,
        `/v1/public/webhook/subscription/${ids['subscription_id']}`,
      ];
      for (const path of paths) expect((await org.call('GET', path)).status, path).toBe(200);
    }
  });

  it('the organisation comes from the key, whatever else a request says', async () => {
    const { body: agent } = await theirs.call('POST', '/v2/ai-agents', anAgentRequest('Theirs'));
    const headers = {
      'x-user-org-id': theirs.name,
      'x-org-id': theirs.name,
      'x-organization-id': theirs.name,
      'x-user-id': 'admin',
      'x-tenant-id': theirs.name,
    };
    expect((await ours.call('GET', `/v2/ai-agents/${agent.ai_agent_id}`, undefined, { headers })).status).toBe(404);
    expect((await ours.call('POST', `/v2/ai-agents?org=${theirs.name}`, anAgentRequest('Ours'), { headers })).status).toBe(422);
    const asked = { ...anAgentRequest('Ours'), organization_id: theirs.name, namespace: theirs.name };
    expect((await ours.call('POST', '/v2/ai-agents', { ...asked, created_by_user_id: 'admin' }, { headers })).status).toBe(422);
    const { body: mine } = await ours.call('POST', '/v2/ai-agents', asked, { headers });
    expect(mine.created_by_user_id).toBe('user-1');
    expect(await kubectl(['get', 'agent', mine.ai_agent_id, '-n', ours.name, '-o', 'name'])).toContain(mine.ai_agent_id);
    const { body: list } = await ours.call('GET', '/v2/ai-agents?page_size=100', undefined, { headers });
    expect(list.data.map((each: { agent_name: string }) => each.agent_name)).not.toContain('Theirs');
  });

  it("another's tool can't be attached, and another's agent of the same name isn't meant", async () => {
    await kubectl(['create', '-f', '-'], aTool('their-tool', theirs.name));
    const answer = await ours.call(
      'POST',
      '/v2/ai-agents',
      anAgentRequest('x', { llm: { model_name: 'm', tools: [{ tool_id: 'their-tool' }] } }),
    );
    const invented = await ours.call(
      'POST',
      '/v2/ai-agents',
      anAgentRequest('x', { llm: { model_name: 'm', tools: [{ tool_id: 'no-tool-at-all' }] } }),
    );
    expect(answer.status).toBe(422);
    expect(answer.text.replace('their-tool', 'no-tool-at-all')).toBe(invented.text);
  });

  it("another's keys are unknown, uncounted, and stay valid", async () => {
    const { body: key } = await theirs.call('POST', '/v1/api-keys/', { name: 'theirs', permissions: ['*'] });
    const unknown = visible(await ours.call('GET', '/v1/api-keys/key_00000000-0000-7000-8000-000000000000'));
    expect(unknown).toMatchObject({ status: 404, text: '{"error":"not_found","message":"API key not found"}' });
    for (const id of [key.key_id, 'nonsense', '%00', 'x'.repeat(500)]) {
      expect(visible(await ours.call('GET', `/v1/api-keys/${id}`))).toEqual(unknown);
      expect(visible(await ours.call('POST', `/v1/api-keys/${id}/revoke`))).toEqual(unknown);
    }
    expect((await facade.call('GET', '/v2/ai-agents', { key: key.api_key })).status).toBe(200);
    const { body: list } = await ours.call('GET', '/v1/api-keys/?page_size=100');
    expect(list.data.map((each: { name: string }) => each.name)).not.toContain('theirs');
  });

  it("another's page tokens open nothing", async () => {
    for (const name of ['1', '2', '3']) await theirs.call('POST', '/v2/ai-agents', anAgentRequest(name));
    const { body } = await theirs.call('GET', '/v2/ai-agents?page_size=1');
    const token = body.next_page_token as string;
    expect((await theirs.call('GET', `/v2/ai-agents?page_token=${token}`)).status).toBe(200);
    for (const bad of [
      token.slice(0, -1),
      `${token}A`,
      token.replace(/./, (first) => (first === 'A' ? 'B' : 'A')),
      'x',
      'x'.repeat(6000),
    ]) {
      const answer = await theirs.call('GET', `/v2/ai-agents?page_token=${bad}`);
      expect(answer.status, bad).toBe(422);
      expect(answer.body.detail[0].loc).toEqual(['query', 'page_token']);
    }
    expect((await ours.call('GET', `/v2/ai-agents?page_token=${token}`)).status).toBe(422);
    expect((await theirs.call('GET', `/v1/api-keys?page_token=${token}`)).status).toBe(422);
  });
});
