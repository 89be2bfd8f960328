/** References to other resources are checked when they are written, and stand in the way of a deletion. */
import { describe, expect, it } from 'vitest';

import { aKnowledgeBase, anAgent, anAgentRequest, aTool } from '../../support/builders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { kubectl, kubectlJson, organization, startFacade, type RestAnswer } from './facade.ts';

const agents = '/v2/ai-agents';
const bases = '/api/v1/knowledge-bases';
const numbers = '/v1/phone-numbers';
const hooks = '/v1/public/webhook/subscription';

/** The suite has two replicas. */
const facade = suiteFixture(startFacade);
const other = suiteFixture(() => startFacade({ database: facade.database }));
const ours = suiteFixture(() => organization(facade));
const theirs = suiteFixture(() => organization(facade));

let count = 0;
const aNumber = (): string => `+1999${Date.now() % 1_000_000}${++count % 1000}`;

async function made(path: string, body: unknown, org = ours): Promise<RestAnswer['body']> {
  const answer = await org.call('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}
const anOwnAgent = async (fields: object = {}, org = ours): Promise<string> =>
  (await made(agents, anAgentRequest(`Agent ${++count}`, fields as Record<string, unknown>), org)).ai_agent_id;
const aBase = async (org = ours): Promise<string> => (await made(bases, { name: `Base ${++count}` }, org)).id;
const failures = ({ status, body }: RestAnswer): unknown => [status, body.detail?.map(({ loc }: { loc: unknown[] }) => loc.join('.'))];

async function leaving(kind: string, manifest: object): Promise<string> {
  const { metadata } = manifest as { metadata: { name: string } };
  await kubectl(['apply', '-f', '-'], { ...manifest, metadata: { ...metadata, finalizers: ['example.com/held'] } });
  await kubectl(['delete', kind, metadata.name, '-n', ours.name, '--wait=false']);
  return metadata.name;
}
const letGo = (kind: string, name: string) =>
  kubectl(['patch', kind, name, '-n', ours.name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);

describe('a reference', () => {
  it('of an agent to a knowledge base has to lead to one', async () => {
    const [agent, foreign] = [await anOwnAgent(), await aBase(theirs)];
    const going = await leaving('knowledgebase', aKnowledgeBase('going', ours.name));
    for (const knowledge_base_id of ['kb-aaaaaaaaaaaaaaaa', foreign, going, 'not a name', '../x']) {
      const created = await ours.call('POST', agents, anAgentRequest('A', { knowledge_base_id }));
      expect(failures(created), knowledge_base_id).toEqual([422, ['body.knowledge_base_id']]);
      expect(created.body.detail[0].msg).toContain(JSON.stringify(knowledge_base_id));
      expect(failures(await ours.call('PUT', `${agents}/${agent}`, { knowledge_base_id }))).toEqual([422, ['body.knowledge_base_id']]);
      const dryRun = await ours.call('PUT', `${agents}/${agent}?dry_run=true`, { knowledge_base_id });
      expect(failures(dryRun)).toEqual([422, ['body.knowledge_base_id']]);
    }
    await letGo('knowledgebase', going);
    expect((await ours.call('GET', `${agents}/${agent}`)).body.knowledge_base_id).toBeUndefined();
  });

  it('is good at once when another replica has made what it names', async () => {
    for (let round = 0; round < 10; round += 1) {
      const knowledge_base_id = await aBase();
      const answer = await other.call('POST', agents, { key: ours.key, body: anAgentRequest('A', { knowledge_base_id }) });
      expect(answer.status, answer.text).toBe(201);
      await other.call('DELETE', `${bases}/${knowledge_base_id}?force=true`, { key: ours.key });
      expect((await ours.call('POST', agents, anAgentRequest('B', { knowledge_base_id }))).status).toBe(422);
    }
  });

  it('that leads nowhere any more is no fault of a request that leaves it as it is', async () => {
    const base = await aBase();
    const agent = await anOwnAgent({ knowledge_base_id: base });
    await kubectl(['delete', 'knowledgebase', base, '-n', ours.name]);
    const back = await ours.call('PUT', `${agents}/${agent}`, { knowledge_base_id: base, welcome_message: 'Hello' });
    expect([back.status, back.body.welcome_message, back.body.knowledge_base_id]).toEqual([200, 'Hello', base]);
    expect((await ours.call('PUT', `${agents}/${agent}`, { knowledge_base_id: null })).body.knowledge_base_id).toBeUndefined();
    expect((await ours.call('PUT', `${agents}/${agent}`, { knowledge_base_id: base })).status).toBe(422);
  });

  it('to a provider has to be one that this version knows', async () => {
    const unknown = await ours.call('POST', agents, anAgentRequest('A', { llm: { model_name: 'm', model_provider: 'mystery' } }));
    expect(failures(unknown)).toEqual([422, ['body.llm.model_provider']]);
    const agent = await anOwnAgent();
    const changes = { 'llm.model_provider': { llm: { model_provider: 'mystery' } }, 'stt.provider': { stt: { provider: 'x' } } };
    for (const [field, body] of Object.entries(changes))
      expect(failures(await ours.call('PUT', `${agents}/${agent}`, body))).toEqual([422, [`body.${field}`]]);
  });

  it('of an agent that takes over has to lead to another agent', async () => {
    const agent = await anOwnAgent();
    const handoffs = (...ids: readonly string[]) => ({ handoffs: ids.map((ai_agent_id) => ({ ai_agent_id, when: 'it suits' })) });
    for (const id of ['agent-aaaaaaaaaaaaaaaa', await anOwnAgent({}, theirs)])
      expect(failures(await ours.call('PUT', `${agents}/${agent}`, handoffs(id)))).toEqual([422, ['body.handoffs.0.ai_agent_id']]);
    const another = await anOwnAgent();
    for (const ids of [[agent], [another, another]])
      expect(failures(await ours.call('PUT', `${agents}/${agent}`, handoffs(...ids)))).toEqual([422, ['body.handoffs']]);
  });

  it('of a phone number, a subscription or a list of tools has to lead to something, too', async () => {
    const agent = await anOwnAgent();
    const going = await leaving('agent', anAgent('leaving', ours.name));
    const lame = await leaving('tool', aTool('lame', ours.name));
    for (const id of ['agent-aaaaaaaaaaaaaaaa', going, await anOwnAgent({}, theirs)]) {
      const number = { phone_number: aNumber(), inbound_agent_id: id, outbound_agent_id: id };
      expect(failures(await ours.call('POST', numbers, number))).toEqual([422, ['body.inbound_agent_id', 'body.outbound_agent_id']]);
      const hook = { name: `Hook ${++count}`, url: 'https://example.com', enable_signed_webhooks: false, agent_ids: [agent, id] };
      const refused = await ours.call('POST', hooks, hook);
      expect([refused.status, Object.keys(refused.body.details)]).toEqual([400, ['agent_ids.1']]);
    }
    for (const tool_id of ['tool-aaaaaaaaaaaaaaaa', lame])
      expect(failures(await ours.call('PUT', `${agents}/${agent}`, { llm: { tools: [{ tool_id }] } }))).toEqual([
        422,
        ['body.llm.tools.0.tool_id'],
      ]);
    await Promise.all([letGo('agent', going), letGo('tool', lame)]);
  });
});

describe('a knowledge base in use', () => {
  it('is not deleted, unless its agents are to let go of it', async () => {
    const base = await aBase();
    const users = [await anOwnAgent({ knowledge_base_id: base }), 'by-git'];
    await kubectl(
      ['apply', '--server-side', '--field-manager=gitops', '-f', '-'],
      anAgent('by-git', ours.name, { knowledgeBaseRef: { name: base } }),
    );
    const path = `${bases}/${base}`;
    const named = await ours.call('GET', `${agents}/by-git`);
    expect(named.body.knowledge_base_id).toBe(base);
    const refused = await ours.call('DELETE', path);
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict']);
    for (const user of users) expect(refused.body.message).toContain(user);
    expect((await ours.call('DELETE', `${path}?dry_run=true`)).status).toBe(409);
    expect((await ours.call('DELETE', `${path}?dry_run=true&force=true`)).status).toBe(200);
    for (const user of users) expect((await ours.call('GET', `${agents}/${user}`)).body.knowledge_base_id).toBe(base);
    const poor = await ours.keyWith('knowledge_bases:write');
    expect((await ours.call('DELETE', `${path}?force=true`, undefined, { key: poor })).status).toBe(403);
    expect((await ours.call('DELETE', `${path}?force=true`)).status).toBe(200);
    for (const user of users) expect((await ours.call('GET', `${agents}/${user}`)).body.knowledge_base_id).toBeUndefined();
    expect((await ours.call('GET', path)).status).toBe(404);
  });
});

describe('an agent in use', () => {
  it('is not deleted, unless all that name it are to let go of it', async () => {
    const [agent, second] = [await anOwnAgent(), await anOwnAgent()];
    const own = await made(`${agents}/${agent}/custom-tools`, {
      function_tool: { name: 'mine' },
      additional_tool_info: { api: { endpoint: 'https://example.com' } },
    });
    const hook = (name: string, agent_ids: readonly string[]) => ({
      name,
      url: 'https://example.com',
      enable_signed_webhooks: false,
      agent_ids,
    });
    const [inbound, outbound, shared, only] = [
      (await made(numbers, { phone_number: aNumber(), inbound_agent_id: agent, outbound_agent_id: second }))._id,
      (await made(numbers, { phone_number: aNumber(), outbound_agent_id: agent }))._id,
      (await made(hooks, hook('shared', [agent, second]))).id,
      (await made(hooks, hook('only', [agent]))).id,
    ];
    await kubectl(
      ['apply', '--server-side', '--field-manager=gitops', '-f', '-'],
      aTool('git-attached', ours.name, { agentRefs: [{ name: agent }, { name: second }] }),
    );
    const desk = await anOwnAgent({ handoffs: [agent, second].map((ai_agent_id) => ({ ai_agent_id, when: 'it suits' })) });
    const path = `${agents}/${agent}`;
    // The operator reports this before the agent is gone; no operator runs here that could judge it again.
    const Ready = { type: 'Ready', status: 'True', reason: 'Available', message: 'm', lastTransitionTime: '2026-06-01T00:00:00Z' };
    const status = JSON.stringify({ status: { observedGeneration: 1, conditions: [Ready] } });
    await kubectl(['patch', 'webhooksubscriptions', only, '-n', ours.name, '--subresource=status', '--type=merge', '-p', status]);
    const stateOfOnly = async () => (await ours.call('GET', `${hooks}/${only}`)).body.state;
    await expect.poll(stateOfOnly).toMatchObject({ ready: true });
    expect((await ours.call('GET', `${path}/custom-tools/git-attached`)).status).toBe(200);
    const refused = await ours.call('DELETE', path);
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict']);
    for (const user of [inbound, outbound, shared, only, 'git-attached', desk]) expect(refused.body.message).toContain(user);
    expect(refused.body.message).not.toContain(own.tool_id);
    const poor = await ours.keyWith('agents:write', 'phone_numbers:write');
    expect((await ours.call('DELETE', `${path}?force=true`, undefined, { key: poor })).status).toBe(403);
    expect((await ours.call('GET', `${numbers}/${inbound}`)).body.inbound_agent_id).toBe(agent);
    expect((await ours.call('DELETE', `${path}?force=true`)).status).toBe(200);
    expect((await ours.call('GET', path)).status).toBe(404);
    expect((await ours.call('GET', `${numbers}/${inbound}`)).body).toMatchObject({ inbound_agent_id: null, outbound_agent_id: second });
    expect((await ours.call('GET', `${numbers}/${outbound}`)).body.outbound_agent_id).toBeNull();
    expect((await ours.call('GET', `${hooks}/${shared}`)).body.agent_ids).toEqual([second]);
    expect((await ours.call('GET', `${agents}/${desk}`)).body.handoffs).toMatchObject([{ ai_agent_id: second, when: 'it suits' }]);
    // A subscription without agents would get the events of the whole organisation.
    expect((await ours.call('GET', `${hooks}/${only}`)).body).toMatchObject({ scope: 'AGENT', agent_ids: [agent] });
    expect(await stateOfOnly()).toMatchObject({ ready: false, reason: 'Reconciling' });
    const ready = await ours.call('GET', `${hooks}s?page_size=100&ready=true`);
    expect(ready.body.data).toEqual([]);
    const { spec } = await kubectlJson<{ spec: { agentRefs: unknown } }>(['get', 'tool', 'git-attached', '-n', ours.name]);
    expect(spec.agentRefs).toEqual([{ name: second }]);
  });
});
