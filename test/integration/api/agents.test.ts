import { beforeAll, describe, expect, it } from 'vitest';

import type { Agent } from '../../../crds/index.ts';
import { anAgentRequest } from '../../support/builders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { kubectl, kubectlJson, organization, startFacade } from './facade.ts';

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));

beforeAll(async () => {
  for (const name of ['kb-1', 'kb']) {
    const metadata = { name, namespace: org.name };
    await kubectl(['apply', '-f', '-'], {
      apiVersion: 'parley.dev/v1beta1',
      kind: 'KnowledgeBase',
      metadata,
      spec: { displayName: name },
    });
  }
});

const stored = (id: string): Promise<Agent> => kubectlJson<Agent>(['get', 'agent', id, '-n', org.name]);

/** Sets every field of the contract, none to its default. */
const everything = {
  agent_name: 'Receptionist ☎️',
  language_code: 'pt-BR',
  llm: {
    llm_type: 'simple',
    model_provider: 'anthropic',
    model_name: 'a-model',
    model_temperature: 0.7,
    llm_name: 'Main',
    llm_description: 'What it is for',
    base_url: 'https://llm.example.com/v1',
    max_tokens: 512,
    context_tokens: 65_536,
    required_dynamic_data: ['customer_name', 'order'],
    system_prompt: 'Be kind to {{customer_name}}.\n\nÄ"\\',
    tools: [],
  },
  stt: { provider: 'openai', model: 'whisper' },
  tts: { provider: 'cartesia', voice_id: 'v-1', voice_name: 'Ana', model_name: 'sonic', voice_temperature: 1.1 },
  knowledge_base_id: 'kb-1',
  enable_user_interruptions: false,
  minimum_speech_duration_for_interruptions: 1.25,
  minimum_words_before_interruption: 3,
  wait_time_before_detecting_end_of_speech: 0.3,
  ambient_sound: 'train_station',
  ambient_sound_volume: 0.4,
  webhook_url: 'https://hooks.example.com/x?y=1',
  end_call_after_silence_seconds: 33.5,
  enable_silence_reminder: false,
  silence_reminder_message: 'Está aí, {{customer_name}}?',
  max_call_duration_seconds: 90,
  welcome_message: 'Olá!',
  voicemail_detection_timeout_seconds: 0,
  dynamic_data_config: [
    {
      url: 'https://crm.example.com/{{phone}}',
      method: 'POST',
      timeout: 1500,
      headers: { 'X-Tenant': 't', Accept: 'application/json' },
      body: { a: [1, { b: null }], nested: { deep: true }, 'odd key': 'x' },
      query: { q: '1' },
      cache: true,
      response_data: [{ name: 'customer', data: '$.name', context: 'Who calls' }],
    },
    { url: 'http://plain.example.com', method: 'GET', timeout: 5000, headers: {}, body: {}, query: {}, cache: false, response_data: [] },
  ],
  post_call_analysis: [
    { type: 'string', name: 'summary', description: 'd', system_prompt: 'p', examples: ['e1', 'e2'] },
    { type: 'enum', name: 'mood', examples: [], choices: ['good', 'bad'] },
  ],
};

describe('the agent object', () => {
  it('comes back as it was sent, from POST and from GET', async () => {
    const created = await org.call('POST', '/v2/ai-agents', everything);
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject(everything);
    expect(created.body.ai_agent_id).toMatch(/^receptionist-[a-z2-7]{8}$/);
    expect(created.body.created_by_user_id).toBe('user-1');
    const read = await org.call('GET', `/v2/ai-agents/${created.body.ai_agent_id}/`);
    expect(read.status).toBe(200);
    const { warnings, ...made } = created.body;
    expect(read.body).toEqual(made);
    expect(warnings).toEqual([
      'tts.voice_temperature has no effect with cartesia',
      'silence_reminder_message has no effect: the agent never asks',
      expect.stringMatching(/^dynamic_data_config\[0\]\.url holds "{{phone}}".*list it in required_dynamic_data;/),
      expect.stringMatching(/^dynamic_data_config\[1\] takes nothing/),
    ]);
    expect(read.headers.get('etag')).toBe(`"${(await stored(created.body.ai_agent_id)).metadata.resourceVersion}"`);
  });

  it('is unchanged, down to its resourceVersion, when it is sent back whole', async () => {
    const { body, headers } = await org.call('POST', '/v2/ai-agents', everything);
    const { warnings: _, ...agent } = body;
    const again = await org.call('PUT', `/v2/ai-agents/${agent.ai_agent_id}`, agent);
    expect(again.status, again.text).toBe(200);
    expect(again.body).toEqual(agent);
    expect(again.headers.get('etag')).toBe(headers.get('etag'));
  });

  it('has its defaults when only what is required is sent', async () => {
    const { body, status } = await org.call('POST', '/v2/ai-agents/', anAgentRequest('Small'));
    expect(status).toBe(201);
    expect(body).toMatchObject({
      agent_name: 'Small',
      language_code: 'en-US',
      llm: {
        llm_type: 'simple',
        model_provider: 'openai',
        tools: [],
        required_dynamic_data: [],
      },
      tts: { voice_temperature: 0.5 },
      enable_user_interruptions: true,
      minimum_speech_duration_for_interruptions: 0.5,
      minimum_words_before_interruption: 0,
      wait_time_before_detecting_end_of_speech: 0.5,
      ambient_sound: 'none',
      ambient_sound_volume: 1,
      end_call_after_silence_seconds: 30,
      enable_silence_reminder: true,
      max_call_duration_seconds: 1800,
      voicemail_detection_timeout_seconds: 90,
      dynamic_data_config: [],
      post_call_analysis: [],
    });
    // The model's own temperature counts.
    expect(body.llm).not.toHaveProperty('model_temperature');
  });

  it('keeps what is absent and loses what is null', async () => {
    const { warnings: _, ...agent } = (await org.call('POST', '/v2/ai-agents', everything)).body;
    const path = `/v2/ai-agents/${agent.ai_agent_id}`;
    const one = await org.call('PUT', path, { llm: { model_temperature: 1.5 }, tts: { voice_name: null }, future_field: { any: 'thing' } });
    expect(one.status, one.text).toBe(200);
    const { warnings, ...first } = one.body;
    expect(warnings).toEqual(['unknown field "future_field"']);
    expect(first).toEqual({ ...agent, llm: { ...agent.llm, model_temperature: 1.5 }, tts: { ...agent.tts, voice_name: undefined } });
    const cleared = {
      welcome_message: null,
      webhook_url: null,
      knowledge_base_id: null,
      ambient_sound: null,
      max_call_duration_seconds: null,
      dynamic_data_config: null,
      post_call_analysis: null,
    };
    const two = await org.call('PUT', path, {
      ...cleared,
      llm: { base_url: null, max_tokens: null, required_dynamic_data: null, system_prompt: null, model_provider: null },
    });
    expect(two.body).toEqual({
      ...first,
      warnings: [expect.stringMatching(/^silence_reminder_message holds "{{customer_name}}"/)],
      welcome_message: undefined,
      webhook_url: undefined,
      knowledge_base_id: undefined,
      ambient_sound: 'none',
      max_call_duration_seconds: 1800,
      dynamic_data_config: [],
      post_call_analysis: [],
      llm: {
        ...first.llm,
        base_url: undefined,
        max_tokens: undefined,
        required_dynamic_data: [],
        system_prompt: undefined,
        model_provider: 'openai',
      },
    });
    const { warnings: _lost, ...left } = two.body;
    expect((await org.call('GET', path)).body).toEqual(left);
  });

  it('refuses null for what an agent can not be without', async () => {
    const { body: agent } = await org.call('POST', '/v2/ai-agents', anAgentRequest('x'));
    const answer = await org.call('PUT', `/v2/ai-agents/${agent.ai_agent_id}`, {
      agent_name: null,
      llm: null,
      stt: { provider: null },
      tts: { provider: 'absent' },
    });
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({
      detail: [
        { type: 'string_type', loc: ['body', 'agent_name'], msg: 'Input should be a valid string' },
        { type: 'model_attributes_type', loc: ['body', 'llm'], msg: 'Input should be a valid dictionary or object to extract fields from' },
        {
          type: 'literal_error',
          loc: ['body', 'stt', 'provider'],
          msg: "Input should be 'deepgram', 'openai', 'azure', 'google', 'elevenlabs', 'cartesia', 'assemblyai' or 'openai_compatible'",
        },
        {
          type: 'literal_error',
          loc: ['body', 'tts', 'provider'],
          msg: "Input should be 'deepgram', 'openai', 'azure', 'google', 'elevenlabs', 'cartesia' or 'openai_compatible'",
        },
      ],
    });
  });

  it.each([1, 5000])('refuses U+0000 in a prompt of %i characters', async (length) => {
    const { status, body } = await org.call(
      'POST',
      '/v2/ai-agents',
      anAgentRequest('Nul', { llm: { model_name: 'm', system_prompt: `${'x'.repeat(length)}\0` } }),
    );
    expect([status, body.detail]).toEqual([
      422,
      [expect.objectContaining({ loc: ['body', 'llm', 'system_prompt'], msg: expect.stringContaining('holds the character U+0000') })],
    ]);
  });

  it('keeps a prompt of up to 128 KiB in a ConfigMap that goes with the agent', async () => {
    const long = 'Réponds. '.repeat(5000);
    const {
      body: agent,
      status,
      text,
    } = await org.call('POST', '/v2/ai-agents', anAgentRequest('Long', { llm: { model_name: 'm', system_prompt: long } }));
    expect(status, text).toBe(201);
    expect(agent.llm.system_prompt).toBe(long);
    const path = `/v2/ai-agents/${agent.ai_agent_id}`;
    expect((await org.call('GET', path)).body.llm.system_prompt).toBe(long);
    const object = await stored(agent.ai_agent_id);
    const { name, key } = object.spec.llm.systemPromptFrom!.configMapKeyRef;
    const map = await kubectlJson<{ data: Record<string, string>; metadata: { ownerReferences: { uid: string }[]; labels?: unknown } }>([
      'get',
      'configmap',
      name,
      '-n',
      org.name,
    ]);
    expect(map.data[key]).toBe(long);
    expect(map.metadata.ownerReferences.map(({ uid }) => uid)).toEqual([object.metadata.uid]);
    expect(map.metadata.labels).toEqual({ 'parley.dev/companion-of': 'agent' });

    const same = await org.call('PUT', path, { llm: { system_prompt: long } });
    expect(same.headers.get('etag')).toBe(`"${object.metadata.resourceVersion}"`);
    const longer = await org.call('PUT', path, { llm: { system_prompt: `${long}!` } });
    expect(longer.body.llm.system_prompt).toBe(`${long}!`);
    const short = await org.call('PUT', path, { llm: { system_prompt: 'short' } });
    expect(short.body.llm.system_prompt).toBe('short');
    expect((await stored(agent.ai_agent_id)).spec.llm).toMatchObject({ systemPrompt: 'short' });
    const after = await kubectlJson<{ data?: Record<string, string> }>(['get', 'configmap', name, '-n', org.name]);
    expect(after.data ?? {}).toEqual({});

    const most = 'x'.repeat(128 * 1024);
    expect((await org.call('PUT', path, { llm: { system_prompt: most } })).status).toBe(200);
    expect((await org.call('GET', path)).body.llm.system_prompt).toBe(most);
    expect((await org.call('PUT', path, { llm: { system_prompt: `${most}x` } })).body.detail[0]).toEqual({
      type: 'string_too_long',
      loc: ['body', 'llm', 'system_prompt'],
      msg: 'String should have at most 131072 characters',
    });
  });

  it('is deleted', async () => {
    const { body: agent } = await org.call('POST', '/v2/ai-agents', anAgentRequest('Gone'));
    const path = `/v2/ai-agents/${agent.ai_agent_id}`;
    expect((await org.call('DELETE', `${path}?dry_run=true`)).status).toBe(200);
    expect((await org.call('GET', path)).status).toBe(200);
    const answer = await org.call('DELETE', path);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ data: {}, message: 'The AI agent was deleted' });
    for (const method of ['GET', 'DELETE'])
      expect((await org.call(method, path)).body).toEqual({ error: 'not_found', message: 'AI agent not found' });
    expect((await org.call('PUT', path, {})).status).toBe(404);
    expect(
      (await org.call('GET', '/v2/ai-agents?page_size=100')).body.data.map((each: { ai_agent_id: string }) => each.ai_agent_id),
    ).not.toContain(agent.ai_agent_id);
  });
});

describe('writes under a condition', () => {
  it('happen when the state is the one that was read, and answer 412 otherwise', async () => {
    const { body: agent, headers } = await org.call('POST', '/v2/ai-agents', anAgentRequest('Conditional'));
    const path = `/v2/ai-agents/${agent.ai_agent_id}`;
    const etag = headers.get('etag') ?? '';
    const first = await org.call('PUT', path, { welcome_message: '1' }, { headers: { 'if-match': etag } });
    expect(first.status, first.text).toBe(200);
    const second = await org.call('PUT', path, { welcome_message: '2' }, { headers: { 'if-match': etag } });
    expect(second.status).toBe(412);
    expect(second.body.error).toBe('precondition_failed');
    expect((await org.call('DELETE', path, undefined, { headers: { 'if-match': `W/${first.headers.get('etag')}` } })).status).toBe(412);
    expect((await org.call('PUT', path, { welcome_message: '3' }, { headers: { 'if-match': '*' } })).status).toBe(200);
    expect((await org.call('DELETE', path, undefined, { headers: { 'if-match': etag } })).status).toBe(412);
  });

  it('change nothing at all with dry_run, secrets and long prompts included', async () => {
    const names = async (): Promise<string> =>
      JSON.stringify(await kubectlJson(['get', 'agents,tools,secrets,configmaps', '-n', org.name]));
    const before = await names();
    const request = anAgentRequest('Rehearsed', {
      llm: { model_name: 'm', api_key: 'sk-dryRun', system_prompt: 'p'.repeat(5000), tools: [aTool('dryRun')] },
    });
    const created = await org.call('POST', '/v2/ai-agents?dry_run=true', request);
    expect(created.status, created.text).toBe(201);
    expect(created.headers.get('etag')).toBeNull();
    expect(created.body.llm).toMatchObject({ api_key: '********', system_prompt: 'p'.repeat(5000), tools: [aTool('dryRun')] });
    expect(await names()).toBe(before);
    expect([created.body.ai_agent_id, created.body.state.reason]).toEqual(['', 'DryRun']);

    const { body: agent } = await org.call('POST', '/v2/ai-agents', anAgentRequest('Real', { llm: { model_name: 'm', api_key: 'sk-1' } }));
    const now = await names();
    const updated = await org.call('PUT', `/v2/ai-agents/${agent.ai_agent_id}?dry_run=1`, { ...request, agent_name: 'Other' });
    expect(updated.status, updated.text).toBe(200);
    expect(updated.body).toMatchObject({ agent_name: 'Other', llm: { system_prompt: 'p'.repeat(5000), tools: [aTool('dryRun')] } });
    expect(await names()).toBe(now);
    expect((await org.call('POST', '/v2/ai-agents?dry_run=perhaps', {})).body.detail[0]).toEqual({
      type: 'bool_parsing',
      loc: ['query', 'dry_run'],
      msg: 'Input should be a valid boolean, unable to interpret input',
    });
  });

  it('say which quota of the namespace refuses them, and leave nothing behind', async () => {
    const limited = await organization(facade);
    const hard = { secrets: '0' };
    const metadata = { name: 'tight', namespace: limited.name };
    await kubectl(['create', '-f', '-'], { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } });
    const status = JSON.stringify({ status: { hard, used: { secrets: '0' } } });
    await kubectl(['patch', 'resourcequota/tight', '-n', limited.name, '--subresource=status', '--type=merge', '-p', status]);
    const { body: agent } = await limited.call('POST', '/v2/ai-agents', anAgentRequest('Real'));
    const secret = { llm: { model_name: 'm', api_key: 'sk-1' } };
    const refused = { status: 400, body: { error: 'bad_request', message: expect.stringContaining('exceeded quota: tight') } };
    await expect.poll(() => limited.call('POST', '/v2/ai-agents', anAgentRequest('Other', secret))).toMatchObject(refused);
    expect(await limited.call('PUT', `/v2/ai-agents/${agent.ai_agent_id}`, secret)).toMatchObject(refused);
    const left: { items: readonly { metadata: { name: string } }[] } = await kubectlJson(['get', 'agents,secrets', '-n', limited.name]);
    expect(left.items.map(({ metadata: { name } }) => name)).toEqual([agent.ai_agent_id]);
  });

  it('all survive when 50 of different fields come at once, over two replicas', async () => {
    const replica = await startFacade({ database: facade.database });
    try {
      const { body: agent } = await org.call('POST', '/v2/ai-agents', anAgentRequest('Busy'));
      const path = `/v2/ai-agents/${agent.ai_agent_id}`;
      const changes: Record<string, unknown>[] = [
        { agent_name: 'Busier' },
        { language_code: 'de' },
        { enable_user_interruptions: false },
        { minimum_speech_duration_for_interruptions: 1 },
        { minimum_words_before_interruption: 2 },
        { wait_time_before_detecting_end_of_speech: 2 },
        { ambient_sound: 'cafe' },
        { ambient_sound_volume: 0.5 },
        { webhook_url: 'http://w' },
        { end_call_after_silence_seconds: 20 },
        { max_call_duration_seconds: 60 },
        { welcome_message: 'hi' },
        { voicemail_detection_timeout_seconds: 5 },
        { knowledge_base_id: 'kb' },
        { dynamic_data_config: [{ url: 'http://d' }] },
        { post_call_analysis: [{ name: 'n', type: 'string' }] },
        { stt: { model: 's' } },
        { tts: { model_name: 't' } },
        { tts: { voice_id: 'i' } },
        { tts: { voice_name: 'n' } },
        { tts: { voice_temperature: 1 } },
        { llm: { model_name: 'mm' } },
        { llm: { model_temperature: 1 } },
        { llm: { llm_name: 'ln' } },
        { llm: { max_tokens: 9 } },
      ];
      const all = [...changes, ...changes].slice(0, 50);
      const answers = await Promise.all(
        all.map((change, index) => (index % 2 ? facade : replica).call('PUT', path, { body: change, key: org.key })),
      );
      expect(answers.map(({ status, text }) => (status === 200 ? 200 : text))).toEqual(all.map(() => 200));
      const { body } = await org.call('GET', path);
      for (const change of changes) expect(body).toMatchObject(change);
    } finally {
      await replica.close();
    }
  });
});

function aTool(name: string, more: object = {}) {
  return {
    function_tool: {
      name,
      description: 'Does it',
      parameters: {
        type: 'object',
        properties: { id: { type: 'string', description: 'which' } },
        required: ['id'],
        additionalProperties: false,
      },
    },
    additional_tool_info: {
      tool_type: 'custom',
      api: {
        endpoint: 'https://api.example.com/orders/{id}',
        headers: { Accept: 'text/plain' },
        method: 'POST',
        parameters: { fixed_params: { tenant: { description: 'who', value: 7 } }, runtime_params: {} },
      },
    },
    tool_start_message: 'One moment',
    tool_complete_message: 'Done',
    ...more,
  };
}

const ids = (body: { llm: { tools: { tool_id: string }[] } }): string[] => body.llm.tools.map(({ tool_id: id }) => id);
const withTools = (name: string, tools: unknown[]) => anAgentRequest(name, { llm: { model_name: 'm', tools } });

describe('the tools of an agent', () => {
  it('are made with it, listed, changed, shared, detached and gone with the last agent', async () => {
    const { body: a, status, text } = await org.call('POST', '/v2/ai-agents', withTools('A', [aTool('one'), aTool('two')]));
    expect(status, text).toBe(201);
    expect(a.llm.tools).toMatchObject([aTool('one'), aTool('two')]);
    const path = `/v2/ai-agents/${a.ai_agent_id}`;
    expect((await org.call('GET', path)).body).toEqual(a);
    const [one, two] = ids(a);

    const whole = await org.call('PUT', path, a);
    expect(whole.status, whole.text).toBe(200);
    expect(whole.body).toEqual(a);

    const { body: b } = await org.call('POST', '/v2/ai-agents', withTools('B', [{ tool_id: one }]));
    expect(ids(b)).toEqual([one]);

    const changed = await org.call('PUT', path, {
      llm: { tools: [{ ...a.llm.tools[0], tool_start_message: 'New words' }, aTool('three')] },
    });
    expect(changed.status, changed.text).toBe(200);
    // Both are of the same second: which of the two comes first is not said.
    const tools = changed.body.llm.tools as (ReturnType<typeof aTool> & { tool_id: string })[];
    const [first, third] = tools.toSorted((left, right) => (left.function_tool.name < right.function_tool.name ? -1 : 1));
    expect(first).toMatchObject({ ...aTool('one', { tool_start_message: 'New words' }), tool_id: one });
    expect(third).toMatchObject(aTool('three'));
    const names = async (): Promise<string[]> =>
      (await kubectlJson<{ items: { metadata: { name: string } }[] }>(['get', 'tools', '-n', org.name])).items.map(
        ({ metadata }) => metadata.name,
      );
    expect(await names()).not.toContain(two);

    const replaced = await org.call('PUT', path, { llm: { tools: [aTool('three', { tool_complete_message: 'Ready' })] } });
    expect(ids(replaced.body)).toEqual([third?.tool_id]);
    expect(replaced.body.llm.tools[0].tool_complete_message).toBe('Ready');
    expect(await names()).toContain(one);

    expect((await org.call('DELETE', path)).status).toBe(200);
    expect(await names()).not.toContain(third?.tool_id);
    expect((await org.call('GET', `/v2/ai-agents/${b.ai_agent_id}`)).body.llm.tools).toHaveLength(1);
    expect((await org.call('PUT', `/v2/ai-agents/${b.ai_agent_id}`, { llm: { tools: null } })).body.llm.tools).toEqual([]);
    expect(await names()).not.toContain(one);
  });

  it('keep function names distinct at the other agents of a shared tool, too', async () => {
    const { body: a } = await org.call('POST', '/v2/ai-agents', withTools('A', [aTool('one'), aTool('two')]));
    const [one, two] = ids(a);
    const { body: b } = await org.call('POST', '/v2/ai-agents', withTools('B', [{ tool_id: one }, { tool_id: two }, aTool('x')]));
    const rename = (names: readonly string[]) =>
      org.call('PUT', `/v2/ai-agents/${a.ai_agent_id}`, {
        llm: { tools: [one, two].map((id, index) => ({ tool_id: id, function_tool: { name: names[index] } })) },
      });

    const taken = await rename(['x', 'two']);
    expect(taken.status, taken.text).toBe(409);
    expect(taken.text).toContain(b.ai_agent_id);
    expect((await org.call('GET', `/v2/ai-agents/${a.ai_agent_id}`)).body).toEqual(a);

    const swapped = await rename(['two', 'one']);
    expect(swapped.status, swapped.text).toBe(200);
    expect(swapped.body.llm.tools).toMatchObject([aTool('two'), aTool('one')]);
  });

  it('have to exist, with different function names and sound definitions, all failures at once', async () => {
    const tools = [{ tool_id: 'tool-absent' }, { tool_id: 'NOT/a name' }, aTool('same'), aTool('same'), { tool_start_message: 'x' }];
    const answer = await org.call('POST', '/v2/ai-agents', anAgentRequest('Bad', { llm: { model_name: 'm', tools } }));
    expect(answer.status).toBe(422);
    expect(answer.body.detail.map(({ type, loc }: { type: string; loc: unknown[] }) => `${loc.join('.')} ${type}`)).toEqual([
      'body.llm.tools.4.function_tool missing',
      'body.llm.tools.4.additional_tool_info missing',
    ]);
    const second = await org.call('POST', '/v2/ai-agents', anAgentRequest('Bad', { llm: { model_name: 'm', tools: tools.slice(0, 4) } }));
    expect(second.body.detail.map(({ type, loc }: { type: string; loc: unknown[] }) => `${loc.join('.')} ${type}`)).toEqual([
      'body.llm.tools.0.tool_id value_error',
      'body.llm.tools.1.tool_id value_error',
      'body.llm.tools.3 value_error',
    ]);
    const wrongSchema = aTool('schema');
    wrongSchema.function_tool.parameters.type = 'nonsense';
    const third = await org.call('POST', '/v2/ai-agents', anAgentRequest('Bad', { llm: { model_name: 'm', tools: [wrongSchema] } }));
    expect(third.body.detail[0].loc.slice(0, 6)).toEqual(['body', 'llm', 'tools', 0, 'function_tool', 'parameters']);
  });
});
