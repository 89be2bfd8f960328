import { describe, expect, it } from 'vitest';

import { createSweeper } from '../../../api/app.ts';
import { stageMarks } from '../../../api/resources/staging.ts';
import type { Agent } from '../../../crds/index.ts';
import { KubeError } from '../../../kube/index.ts';
import { systemClock } from '../../../platform/clock.ts';
import { anAgent, anAgentRequest } from '../../support/builders.ts';
import { query } from '../../support/sql.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { aContext, canary, kubectl, kubectlJson, organization, startFacade } from './facade.ts';

interface Secret {
  readonly metadata: {
    readonly name: string;
    readonly labels?: unknown;
    readonly annotations?: unknown;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));

const secretsOf = async (id: string): Promise<Secret> => kubectlJson<Secret>(['get', 'secret', `agent-${id}`, '-n', org.name]);
const values = ({ data }: Secret): string[] => Object.values(data ?? {}).map((value) => Buffer.from(value, 'base64').toString());
const stored = (id: string): Promise<Agent> => kubectlJson<Agent>(['get', 'agent', id, '-n', org.name]);

describe('secrets of an agent', () => {
  it('stand in its Secret alone, are masked, and stay when the mask comes back', async () => {
    const [apiKey, header] = [canary(), canary()];
    const dynamic = (extra: object = {}) => [{ url: 'http://x', headers: { Authorization: `Bearer ${header}`, Accept: 'a', ...extra } }];
    const created = await org.call(
      'POST',
      '/v2/ai-agents',
      anAgentRequest('Secret', { llm: { model_name: 'm', api_key: apiKey }, dynamic_data_config: dynamic() }),
      {
        key: await org.keyWith('agents:write'),
      },
    );
    expect(created.status, created.text).toBe(201);
    expect(created.body.llm.api_key).toBe('********');
    expect(created.body.dynamic_data_config[0].headers).toEqual({ Authorization: '********', Accept: 'a' });
    const id = created.body.ai_agent_id as string;
    const path = `/v2/ai-agents/${id}`;
    const secret = await secretsOf(id);
    expect(values(secret).toSorted()).toEqual([apiKey, `Bearer ${header}`].toSorted());
    expect(secret.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([(await stored(id)).metadata.uid]);
    expect([secret.metadata.labels, secret.metadata.annotations]).toEqual([{ 'parley.dev/companion-of': 'agent' }, undefined]);

    const limited = await org.keyWith('agents:write');
    const back = await org.call('PUT', path, { ...created.body, agent_name: 'Renamed' }, { key: limited });
    expect(back.status, back.text).toBe(200);
    expect(await secretsOf(id).then(values)).toEqual(values(secret));
    expect((await org.call('GET', path)).body.llm.api_key).toBe('********');
    const reader = { key: await org.keyWith('agents:write', 'secrets:read') };
    const whole = await org.call('GET', path, undefined, reader);
    expect(whole.body.llm.api_key).toBe(apiKey);
    expect(whole.body.dynamic_data_config[0].headers.Authorization).toBe(`Bearer ${header}`);
    expect((await org.call('PUT', path, whole.body, reader)).headers.get('etag')).toBe(back.headers.get('etag'));

    const rotated = canary();
    const put = await org.call('PUT', path, { llm: { api_key: rotated } }, { key: limited });
    expect(put.body.llm.api_key).toBe('********');
    expect((await secretsOf(id).then(values)).toSorted()).toEqual([rotated, `Bearer ${header}`].toSorted());
    const cleared = await org.call('PUT', path, { llm: { api_key: null }, dynamic_data_config: null });
    expect(cleared.body.llm.api_key).toBeUndefined();
    expect(await secretsOf(id).then(values)).toEqual([]);
    expect((await stored(id)).spec.llm.apiKeySecretRef).toBeUndefined();

    const unknown = await org.call('PUT', path, { llm: { api_key: '********' } });
    expect(unknown.status).toBe(422);
    expect(unknown.body.detail[0].loc).toEqual(['body', 'llm', 'api_key']);
  });

  it('are left alone where somebody else refers to one', async () => {
    await kubectl(['create', '-f', '-'], {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'theirs', namespace: org.name },
      stringData: { key: 'their-own-value' },
    });
    await kubectl(
      ['apply', '--server-side', '--field-manager=gitops', '-f', '-'],
      anAgent('refers', org.name, { llm: { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'theirs', key: 'key' } } }),
    );
    const limited = await org.keyWith('agents:write');
    const { body } = await org.call('GET', '/v2/ai-agents/refers', undefined, { key: limited });
    expect(body.llm.api_key).toBe('********');
    expect((await org.call('PUT', '/v2/ai-agents/refers', { ...body, welcome_message: 'x' }, { key: limited })).status).toBe(200);
    const refused = await org.call('PUT', '/v2/ai-agents/refers', { llm: { api_key: canary() } });
    expect(refused.body.conflicts).toEqual([{ field: 'llm.api_key', manager: 'gitops' }]);
    const companions = await kubectlJson<{ items: Secret[] }>(['get', 'secrets', '-n', org.name]);
    expect(companions.items.map(({ metadata }) => metadata.name)).not.toContain('agent-refers');
    const taken = await org.call(
      'PUT',
      '/v2/ai-agents/refers?force=true',
      { llm: { api_key: 'taken' } },
      { key: await org.keyWith('agents:write', 'secrets:read') },
    );
    expect(taken.body.llm.api_key).toBe('taken');
    expect(values(await kubectlJson<Secret>(['get', 'secret', 'theirs', '-n', org.name]))).toEqual(['their-own-value']);
  });

  it('never go into, nor out of, a Secret or ConfigMap of somebody else that has the usual name', async () => {
    const metadata = { name: 'agent-namesake', namespace: org.name };
    await kubectl(['create', '-f', '-'], {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      stringData: { key: 'their-own-value', other: 'x' },
    });
    await kubectl(['create', '-f', '-'], { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { prompt: 'their own prompt' } });
    const secretBefore = await kubectlJson(['get', 'secret', metadata.name, '-n', org.name]);
    const mapBefore = await kubectlJson(['get', 'configmap', metadata.name, '-n', org.name]);
    const llm = {
      model: 'm',
      apiKeySecretRef: { name: metadata.name, key: 'key' },
      systemPromptFrom: { configMapKeyRef: { name: metadata.name, key: 'prompt' } },
    };
    await kubectl(['apply', '--server-side', '--field-manager=gitops', '-f', '-'], anAgent('namesake', org.name, { llm }));
    const path = '/v2/ai-agents/namesake?force=true';
    const key = await org.keyWith('agents:write', 'secrets:read');
    const longPrompt = 'p'.repeat(5000);
    for (const round of ['first', 'second']) {
      const { body } = await org.call('PUT', path, { llm: { api_key: round, system_prompt: longPrompt } }, { key });
      expect(body.llm).toMatchObject({ api_key: round, system_prompt: longPrompt });
    }
    const { items } = await kubectlJson<{ items: Secret[] }>(['get', 'secrets', '-n', org.name]);
    const own = items.filter((secret) => /^agent-namesake-[0-9a-f]{12}$/.test(secret.metadata.name));
    expect(own.map(values)).toEqual([['second']]);
    expect((await org.call('PUT', path, { llm: { api_key: null, system_prompt: null } }, { key })).status).toBe(200);
    const { items: left } = await kubectlJson<{ items: Secret[] }>(['get', 'secrets', '-n', org.name]);
    expect(left.filter(({ metadata: { name } }) => name === own[0]?.metadata.name).map(values)).toEqual([[]]);
    expect(await kubectlJson(['get', 'secret', metadata.name, '-n', org.name])).toEqual(secretBefore);
    expect(await kubectlJson(['get', 'configmap', metadata.name, '-n', org.name])).toEqual(mapBefore);
  });

  it('appear in no answer, no log line, no other object and no row', async () => {
    const mark = canary();
    const limited = await org.keyWith('*');
    const answers: string[] = [];
    const call = async (method: string, path: string, body?: unknown): Promise<{ ai_agent_id: string }> => {
      const answer = await org.call(method, path, body, { key: limited });
      answers.push(answer.text, JSON.stringify([...answer.headers]));
      return answer.body;
    };
    const tool = {
      function_tool: { name: 'f' },
      additional_tool_info: { api: { endpoint: 'http://x', headers: { 'X-Api-Key': `${mark}-tool` } } },
    };
    const request = anAgentRequest('Canary', {
      llm: { model_name: 'm', api_key: `${mark}-key`, tools: [tool] },
      dynamic_data_config: [{ url: 'http://x', headers: { cookie: `${mark}-cookie`, 'X-Secret': `${mark}-header` } }],
    });
    const { ai_agent_id: id } = await call('POST', '/v2/ai-agents', request);
    const path = `/v2/ai-agents/${id}`;
    await call('GET', path);
    await call('GET', '/v2/ai-agents?page_size=100');
    await call('PUT', path, { llm: { api_key: `${mark}-key-2` } });
    await call('PUT', `${path}?dry_run=true`, { llm: { api_key: `${mark}-key-3` } });
    await call('PUT', path, { llm: { api_key: `${mark}-key-4`, model_temperature: 9 } });
    await call('PUT', path, { llm: { api_key: `${mark}-${'x'.repeat(5000)}` } });
    await call('PUT', path, { dynamic_data_config: [{ url: 'http://x', headers: { authorization: `${mark}\n` } }] });
    await call('PUT', path, `{"llm": {"api_key": "${mark}-broken`);
    await call('PUT', `/v2/ai-agents/absent`, { llm: { api_key: `${mark}-absent` } });
    expect(answers.join('\n')).not.toContain(mark);
    expect(facade.log()).not.toContain(mark);
    expect(facade.log()).not.toContain(limited);
    const objects = await kubectl(['get', 'agents,tools,configmaps,events', '-n', org.name, '-o', 'json', '--show-managed-fields']);
    expect(objects).not.toContain(mark);
    expect(await facade.registry.metrics()).not.toContain(mark);
    const { url } = facade.database;
    const tables = "select table_name from information_schema.tables where table_schema = 'parley'";
    for (const { table_name: table } of await query<{ table_name: string }>(url, tables)) {
      const sql = `select 1 from parley.${table} as row where row::text like $1 or row::text like $2`;
      expect(await query(url, sql, [`%${mark}%`, `%${limited}%`]), table).toEqual([]);
    }
    const secrets = await kubectlJson<{ items: Secret[] }>(['get', 'secrets', '-n', org.name]);
    expect(
      secrets.items
        .flatMap(values)
        .filter((value) => value.startsWith(mark))
        .toSorted(),
    ).toEqual([`${mark}-cookie`, `${mark}-header`, `${mark}-key-2`, `${mark}-tool`]);
  });
});

const sweep = async (minutesLater: number): Promise<void> => {
  const clock = { ...systemClock, now: () => Date.now() + minutesLater * 60_000 };
  const context = aContext({ store: facade.store, transport: facade.transport, clock });
  await createSweeper(context, facade.store.organizations).sweep();
  await context.stop();
};
const staged = (name: string, agent: string, keys: string[]) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: org.name, ...stageMarks({ for: { kind: 'Agent', name: agent }, at: new Date().toISOString(), keys }) },
  stringData: Object.fromEntries(keys.map((key) => [key, key])),
});
const exists = async (kind: string, name: string): Promise<boolean> =>
  (await kubectl(['get', kind, name, '-n', org.name, '--ignore-not-found', '-o', 'name'])) !== '';

/** Makes a replica whose merge patches of one resource fail. */
const replicaWithout = (plural: string, failure: KubeError) =>
  startFacade({
    database: facade.database,
    wrap: (transport) => ({
      server: transport.server,
      request: (request) =>
        request.contentType === 'application/merge-patch+json' && request.path.includes(`/${plural}/`)
          ? Promise.reject(failure)
          : transport.request(request),
      stream: (request) => transport.stream(request),
      close: () => transport.close(),
    }),
  });

describe('a new object', () => {
  it.each(['secrets', 'configmaps', 'tools'])('leaves nothing behind where what makes its %s its own is refused', async (plural) => {
    const replica = await replicaWithout(plural, new KubeError({ code: 403, reason: 'Forbidden', message: 'may not' }));
    const { name, key } = await organization(facade);
    const tool = {
      function_tool: { name: 'f' },
      additional_tool_info: { api: { endpoint: 'http://x', headers: { 'X-Api-Key': 'k' } } },
    };
    const llm = { model_name: 'm', api_key: 'k', system_prompt: 'p'.repeat(5000), tools: [tool] };
    const { status } = await replica.call('POST', '/v2/ai-agents', { key, body: anAgentRequest('Refused', { llm }) });
    await replica.close();
    expect(status).toBeGreaterThanOrEqual(400);
    const left = async () =>
      (await kubectl(['get', 'agents,tools,secrets,configmaps', '-n', name, '-o', 'name']))
        .split('\n')
        .filter((line) => !/kube-root-ca/.test(line));
    await expect.poll(left).toEqual(['']);
  });

  it('is answered as made where only what follows it fails, and finished later', async () => {
    const replica = await replicaWithout('secrets', new KubeError({ code: 0, reason: 'Timeout', message: 'took too long' }));
    const [apiKey, url] = [canary(), 'https://example.com'];
    const agent = anAgentRequest('Unmarked', { llm: { model_name: 'm', api_key: apiKey } });
    const made = await replica.call('POST', '/v2/ai-agents', { key: org.key, body: agent });
    const subscription = { name: 'Unmarked', url, enable_signed_webhooks: true };
    const signed = await replica.call('POST', '/v1/public/webhook/subscription', { key: org.key, body: subscription });
    await replica.close();
    expect([made.status, signed.status, signed.body.secret]).toEqual([201, 201, expect.stringMatching(/^whsec_/)]);
    await sweep(3);
    const id = made.body.ai_agent_id as string;
    const secret = await secretsOf(id);
    expect([values(secret), secret.metadata.labels]).toEqual([[apiKey], { 'parley.dev/companion-of': 'agent' }]);
    expect(secret.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([(await stored(id)).metadata.uid]);
  });
});

describe('writes that a crash interrupted', () => {
  it('leave no Secret, text or tool behind when the object was never made', async () => {
    await kubectl(['create', '-f', '-'], staged('agent-never', 'never', ['llm-api-key-1']));
    const marks = stageMarks({ for: { kind: 'Agent', name: 'never' }, at: new Date().toISOString(), keys: [] });
    await kubectl(['create', '-f', '-'], {
      apiVersion: 'parley.dev/v1beta1',
      kind: 'Tool',
      metadata: { name: 'tool-never', namespace: org.name, ...marks },
      spec: { agentRefs: [{ name: 'never' }], type: 'TransferCall', transferCall: { to: '+15550100' } },
    });
    await sweep(1);
    expect([await exists('secret', 'agent-never'), await exists('tool', 'tool-never')]).toEqual([true, true]);
    await sweep(3);
    expect([await exists('secret', 'agent-never'), await exists('tool', 'tool-never')]).toEqual([false, false]);
  });

  it('are finished when it was made, and lose what it does not refer to', async () => {
    const ref = { name: 'agent-interrupted', key: 'llm-api-key-1' };
    await kubectl(['create', '-f', '-'], staged(ref.name, 'interrupted', ['llm-api-key-1', 'llm-api-key-2']));
    await kubectl(
      ['create', '-f', '-'],
      anAgent('interrupted', org.name, { llm: { provider: 'openai', model: 'm', apiKeySecretRef: ref } }),
    );
    await sweep(3);
    const secret = await kubectlJson<Secret>(['get', 'secret', ref.name, '-n', org.name]);
    expect(Object.keys(secret.data ?? {})).toEqual(['llm-api-key-1']);
    expect([secret.metadata.labels, secret.metadata.annotations]).toEqual([undefined, undefined]);
    expect(secret.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([(await stored('interrupted')).metadata.uid]);
  });

  it('go with the agent when it is deleted', async () => {
    const { body } = await org.call(
      'POST',
      '/v2/ai-agents',
      anAgentRequest('Short-lived', { llm: { model_name: 'm', api_key: 'k', system_prompt: 'p'.repeat(5000) } }),
    );
    expect(await exists('secret', `agent-${body.ai_agent_id}`)).toBe(true);
    await org.call('DELETE', `/v2/ai-agents/${body.ai_agent_id}`);
    await expect
      .poll(async () => [await exists('secret', `agent-${body.ai_agent_id}`), await exists('configmap', `agent-${body.ai_agent_id}`)])
      .toEqual([false, false]);
  });
});
