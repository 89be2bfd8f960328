import { describe, expect, it } from 'vitest';

import { updatePartially } from '../../../api/partial/partial-update.ts';
import { shapeOf } from '../../../api/partial/shape.ts';
import { agentKind, type Agent, type Tool, type WebhookSubscription } from '../../../crds/index.ts';
import { ResourceClient } from '../../../kube/index.ts';
import { aTool, aWebhookSubscription, anAgent, anAgentRequest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { kubectl, kubectlJson, organization, startFacade } from './facade.ts';

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));

const apply = (object: unknown, manager = 'gitops'): Promise<string> =>
  kubectl(['apply', '--server-side', `--field-manager=${manager}`, '-f', '-'], object);
const stored = (id: string): Promise<Agent> => kubectlJson<Agent>(['get', 'agent', id, '-n', org.name]);

describe('an agent that somebody applies with kubectl', () => {
  it('is read over REST by its name, and its durations stay as they were typed', async () => {
    await apply(
      anAgent('receptionist', org.name, {
        call: { maxDuration: '1h30m', endAfterSilence: '0m30s' },
        interruptions: { minSpeechDuration: '250ms' },
      }),
    );
    const { body, status } = await org.call('GET', '/v2/ai-agents/receptionist');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ai_agent_id: 'receptionist',
      agent_name: 'receptionist',
      max_call_duration_seconds: 5400,
      end_call_after_silence_seconds: 30,
      minimum_speech_duration_for_interruptions: 0.25,
    });

    const updated = await org.call('PUT', '/v2/ai-agents/receptionist', { ...body, welcome_message: 'Hello' });
    expect(updated.status, updated.text).toBe(200);
    const { spec, metadata } = await stored('receptionist');
    expect(spec).toMatchObject({
      welcomeMessage: 'Hello',
      call: { maxDuration: '1h30m', endAfterSilence: '0m30s' },
      interruptions: { minSpeechDuration: '250ms' },
    });
    const ours = metadata.managedFields?.find(({ manager }) => manager === 'parley-api');
    expect(ours?.fieldsV1).toEqual({ 'f:spec': { 'f:welcomeMessage': {} } });
    await apply(
      anAgent('receptionist', org.name, {
        call: { maxDuration: '1h', endAfterSilence: '0m30s' },
        interruptions: { minSpeechDuration: '250ms' },
      }),
    );
    // Writes of others come by the watch.
    await eventually(async () =>
      expect((await org.call('GET', '/v2/ai-agents/receptionist')).body).toMatchObject({
        max_call_duration_seconds: 3600,
        welcome_message: 'Hello',
      }),
    );
  });

  it('answers 409 with every field and its manager, changes nothing, and lets go with force', async () => {
    const dynamicData = [{ name: 'crm', url: 'http://crm', method: 'POST', headers: [{ name: 'Accept', value: 'a' }] }];
    await apply(anAgent('owned', org.name, { displayName: 'From Git', welcomeMessage: 'Git says hi', language: 'de', dynamicData }));
    const before = await stored('owned');
    const change = {
      agent_name: 'From REST',
      welcome_message: null,
      llm: { model_name: 'other', max_tokens: 7 },
      dynamic_data_config: [{ url: 'http://crm2', method: 'POST', headers: { Accept: 'a' } }],
    };
    for (const query of ['', '?dry_run=true']) {
      const refused = await org.call('PUT', `/v2/ai-agents/owned${query}`, change);
      expect(refused.status).toBe(409);
      expect(refused.body.error).toBe('conflict');
      const conflicts = refused.body.conflicts.toSorted((a: { field: string }, b: { field: string }) => (a.field < b.field ? -1 : 1));
      expect(conflicts).toEqual([
        { field: 'agent_name', manager: 'gitops' },
        { field: 'dynamic_data_config.url', manager: 'gitops' },
        { field: 'llm.model_name', manager: 'gitops' },
        { field: 'welcome_message', manager: 'gitops' },
      ]);
      expect(refused.body.message).toContain('agent_name is owned by "gitops"');
    }
    expect(await stored('owned')).toEqual(before);

    const dryRun = await org.call('PUT', '/v2/ai-agents/owned?force=true&dry_run=true', change);
    expect(dryRun.status, dryRun.text).toBe(200);
    expect(dryRun.body).toMatchObject({ agent_name: 'From REST' });
    expect(dryRun.body).not.toHaveProperty('welcome_message');
    expect(await stored('owned')).toEqual(before);

    const taken = await org.call('PUT', '/v2/ai-agents/owned?force=true', change);
    expect(taken.status, taken.text).toBe(200);
    expect(taken.body).toMatchObject({
      agent_name: 'From REST',
      llm: { model_name: 'other', max_tokens: 7 },
      language_code: 'de',
    });
    expect(taken.body.dynamic_data_config[0].url).toBe('http://crm2');
    const again = await org.call('PUT', '/v2/ai-agents/owned', { welcome_message: 'REST says hi', agent_name: 'Second' });
    expect(again.status, again.text).toBe(200);
    expect(again.body).toMatchObject({ welcome_message: 'REST says hi', agent_name: 'Second' });
  });

  it('gives back a default that was taken by force, and takes it again', async () => {
    await apply(anAgent('defaults', org.name, { language: 'de' }));
    expect((await org.call('PUT', '/v2/ai-agents/defaults', { language_code: null })).status).toBe(409);
    const cleared = await org.call('PUT', '/v2/ai-agents/defaults?force=true', { language_code: null });
    expect(cleared.body.language_code).toBe('en-US');
    const refused = await org.call('PUT', '/v2/ai-agents/defaults', { language_code: 'fr', llm: { model_name: 'other' } });
    expect(refused.body.conflicts).toEqual([{ field: 'llm.model_name', manager: 'gitops' }]);
    const set = await org.call('PUT', '/v2/ai-agents/defaults', { language_code: 'fr' });
    expect(set.status, set.text).toBe(200);
    expect(set.body.language_code).toBe('fr');
  });

  it('takes what is valid only as a whole in one step', async () => {
    const llm = { provider: 'openai_compatible', model: 'm', baseURL: 'http://llm/v1' };
    const postCallAnalysis = [{ name: 'mood', type: 'Enum', description: 'How it went', choices: ['good', 'bad'] }];
    const headers = [{ name: 'Authorization', value: 'Bearer plain' }];
    await apply(anAgent('whole', org.name, { llm, postCallAnalysis, dynamicData: [{ name: 'crm', url: 'http://crm', headers }] }));
    const before = await stored('whole');
    const path = '/v2/ai-agents/whole?force=true';

    const change = {
      llm: { model_provider: 'openai', model_name: 'gpt-4o-mini', base_url: null },
      post_call_analysis: [{ name: 'mood', type: 'string', description: 'How it went' }],
      dynamic_data_config: [{ url: 'http://crm', method: 'GET', headers: { Authorization: 'Bearer secret' } }],
    };
    const dryRun = await org.call('PUT', `${path}&dry_run=true`, change);
    expect(dryRun.status, dryRun.text).toBe(200);
    expect(dryRun.body.llm).not.toHaveProperty('base_url');
    expect(await stored('whole')).toEqual(before);

    const taken = await org.call('PUT', path, change);
    expect(taken.status, taken.text).toBe(200);
    const { spec, metadata } = await stored('whole');
    expect(spec.llm).toEqual({ ...before.spec.llm, provider: 'openai', model: 'gpt-4o-mini', baseURL: undefined });
    expect(spec.postCallAnalysis).toEqual([{ name: 'mood', type: 'String', description: 'How it went' }]);
    const valueFrom = { secretKeyRef: expect.anything() };
    expect(spec.dynamicData?.[0]?.headers).toEqual([{ name: 'Authorization', valueFrom }]);
    expect(metadata.generation).toBe((before.metadata.generation ?? 0) + 1);
    const owned = (metadata.managedFields ?? []).map(({ manager, operation, fieldsV1 }) => [manager, operation, fieldsV1?.['f:spec']]);
    expect(owned).toContainEqual([
      'parley-api',
      'Apply',
      {
        'f:dynamicData': expect.anything(),
        'f:llm': { 'f:model': {}, 'f:provider': {} },
        'f:postCallAnalysis': { 'k:{"name":"mood"}': { '.': {}, 'f:name': {}, 'f:type': {} } },
      },
    ]);
    expect(owned).toContainEqual([
      'gitops',
      'Apply',
      expect.objectContaining({
        'f:postCallAnalysis': { 'k:{"name":"mood"}': { '.': {}, 'f:description': {}, 'f:name': {} } },
        'f:speechToText': { 'f:provider': {} },
      }),
    ]);
    expect(owned.filter(([manager]) => manager === 'parley-api')).toHaveLength(1);
  });

  it('stays as it is, and with its owners, where the API server refuses what force asks for', async () => {
    const llm = { provider: 'openai_compatible', model: 'm', baseURL: 'http://llm/v1' };
    await apply(anAgent('refused', org.name, { llm }));
    const before = await stored('refused');
    const client = new ResourceClient<Agent>({ transport: facade.transport, descriptor: agentKind.descriptor, fieldManager: 'parley-api' });
    const refused = updatePartially({
      client,
      stored: await client.get(before.metadata),
      desired: { ...before.spec, llm: { ...before.spec.llm, baseURL: undefined } },
      shape: shapeOf(agentKind.spec),
      force: true,
      dryRun: false,
      nameOf: (path) => path,
    });
    await expect(refused).rejects.toThrow('baseURL is required');
    expect(await stored('refused')).toEqual(before);
  });

  it('conflicts likewise with what client-side apply and edits left behind', async () => {
    await kubectl(['create', '-f', '-', '--field-manager=kubectl-create'], anAgent('created', org.name, { displayName: 'By create' }));
    const refused = await org.call('PUT', '/v2/ai-agents/created', { agent_name: 'x' });
    expect(refused.body.conflicts).toEqual([{ field: 'agent_name', manager: 'kubectl-create' }]);
  });

  it('keeps what others own where it is changed with what the facade once wrote in another way', async () => {
    await kubectl(['create', '-f', '-', '--field-manager=parley-api'], anAgent('mixed', org.name, { displayName: 'Ours' }));
    await apply(anAgent('mixed', org.name, { welcomeMessage: 'Git says hi' }));
    const both = { agent_name: 'Still ours', welcome_message: 'REST says hi' };
    const refused = await org.call('PUT', '/v2/ai-agents/mixed', both);
    expect([refused.status, refused.body.conflicts]).toEqual([409, [{ field: 'welcome_message', manager: 'gitops' }]]);
    const renamed = await org.call('PUT', '/v2/ai-agents/mixed', { agent_name: both.agent_name });
    expect(renamed.status, renamed.text).toBe(200);
    expect((await stored('mixed')).spec).toMatchObject({ displayName: 'Still ours', welcomeMessage: 'Git says hi' });
  });

  it('is seen as made over REST is seen by kubectl', async () => {
    const { body } = await org.call('POST', '/v2/ai-agents', anAgentRequest('Seen', { max_call_duration_seconds: 600 }));
    const agent = await stored(body.ai_agent_id);
    expect(agent.spec).toMatchObject({ displayName: 'Seen', call: { maxDuration: '600s' } });
    await apply({
      apiVersion: agent.apiVersion,
      kind: 'Agent',
      metadata: { name: agent.metadata.name, namespace: org.name },
      spec: {
        language: 'fr',
        llm: { model: 'gpt-4o-mini' },
        speechToText: { provider: 'deepgram' },
        textToSpeech: { provider: 'elevenlabs' },
      },
    });
    // The facade reads from a watch: a write of somebody else shows with the next event.
    await expect
      .poll(async () => (await org.call('GET', `/v2/ai-agents/${body.ai_agent_id}`)).body)
      .toMatchObject({ agent_name: 'Seen', language_code: 'fr' });
  });
});

describe('a tool that Git attaches', () => {
  it('is listed, not detached without force, and stays attached to what Git says', async () => {
    await apply(anAgent('with-tools', org.name));
    await apply(aTool('orders', org.name, { agentRefs: [{ name: 'with-tools' }, { name: 'somebody-else' }] }));
    const path = '/v2/ai-agents/with-tools';
    await expect
      .poll(async () => (await org.call('GET', path)).body.llm.tools.map((tool: { tool_id: string }) => tool.tool_id))
      .toEqual(['orders']);

    const refused = await org.call('PUT', path, { welcome_message: 'not written', llm: { tools: [] } });
    expect(refused.status).toBe(409);
    expect(refused.body.conflicts).toEqual([{ field: 'llm.tools', manager: 'gitops' }]);
    const { body: shown } = await org.call('GET', path);
    expect(shown).not.toHaveProperty('welcome_message');
    expect(shown).toMatchObject({ llm: { tools: [{ tool_id: 'orders' }] } });

    const { body: other } = await org.call(
      'POST',
      '/v2/ai-agents',
      anAgentRequest('Other', { llm: { model_name: 'm', tools: [{ tool_id: 'orders' }] } }),
    );
    expect(other.llm.tools).toHaveLength(1);
    const tool = await kubectlJson<Tool>(['get', 'tool', 'orders', '-n', org.name]);
    expect(tool.spec.agentRefs?.map(({ name }) => name)).toEqual(['with-tools', 'somebody-else', other.ai_agent_id]);
    await apply(aTool('orders', org.name, { agentRefs: [{ name: 'with-tools' }] }));
    expect((await org.call('GET', `/v2/ai-agents/${other.ai_agent_id}`)).body.llm.tools).toHaveLength(1);
    expect((await org.call('PUT', `/v2/ai-agents/${other.ai_agent_id}`, { llm: { tools: null } })).body.llm.tools).toEqual([]);
    expect((await org.call('PUT', `${path}?force=true`, { llm: { tools: [] } })).body.llm.tools).toEqual([]);
    expect((await kubectlJson<Tool>(['get', 'tool', 'orders', '-n', org.name])).spec.agentRefs ?? []).toEqual([]);
  });
});

describe('a subscription that Git restricts to agents', () => {
  it('is at no moment for all calls while force restricts it to workspaces', async () => {
    await apply(anAgent('restricted', org.name));
    await apply(aWebhookSubscription('crm', org.name, { scope: { type: 'AgentRefs', agentRefs: [{ name: 'restricted' }] } }));
    const read = () => kubectlJson<WebhookSubscription>(['get', 'webhooksubscription', 'crm', '-n', org.name]);
    const before = await read();
    const path = '/v1/public/webhook/subscription/crm?force=true';
    const taken = await org.call('PATCH', path, { workspace_ids: ['default'] });
    expect(taken.status, taken.text).toBe(200);
    const { spec, metadata } = await read();
    expect(spec.scope).toEqual({ type: 'Workspaces', workspaces: ['default'] });
    expect(metadata.generation).toBe((before.metadata.generation ?? 0) + 1);
  });
});
