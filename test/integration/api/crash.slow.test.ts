import { randomInt } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { createSweeper } from '../../../api/app.ts';
import type { Agent, PhoneNumber, Tool, WebhookSubscription } from '../../../crds/index.ts';
import { KubeError, type KubeRequest, type Transport } from '../../../kube/index.ts';
import { systemClock } from '../../../platform/clock.ts';
import { anAgentRequest } from '../../support/builders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { aContext, kubectlJson, organization, startFacade, type RestAnswer } from './facade.ts';

/** Answers `left` more writes and reads; the next one is the last (carried out or not), and from then on the process is dead. */
class Mortal implements Transport {
  readonly server: string;
  readonly #inner: Transport;
  #left = Number.POSITIVE_INFINITY;
  #lastIsCarriedOut = false;

  constructor(inner: Transport) {
    this.#inner = inner;
    this.server = inner.server;
  }

  die(after: number, lastIsCarriedOut: boolean): void {
    this.#left = after;
    this.#lastIsCarriedOut = lastIsCarriedOut;
  }

  /** @returns whether a request has failed meanwhile */
  revive(): boolean {
    const died = this.#left < 0;
    this.#left = Number.POSITIVE_INFINITY;
    return died;
  }

  async request<T>(request: KubeRequest): Promise<T> {
    // The client asks whether the server is there: it is.
    if (request.path === '/version') return this.#inner.request<T>(request);
    this.#left -= 1;
    if (this.#left >= 0) return this.#inner.request<T>(request);
    if (this.#left === -1 && this.#lastIsCarriedOut) await this.#inner.request(request);
    throw new KubeError({ code: 0, reason: 'Unreachable', message: 'the process is dead' });
  }

  stream(request: KubeRequest) {
    return this.#inner.stream(request);
  }

  close() {
    return this.#inner.close();
  }
}

interface Companion {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

const facade = suiteFixture(() => startFacade({ wrap: (transport) => (mortal = new Mortal(transport)) }));
let mortal: Mortal;

async function sweep(org: string): Promise<void> {
  const clock = { ...systemClock, now: () => Date.now() + 180_000 };
  const context = aContext({ store: facade.store, transport: mortal, clock });
  await createSweeper(context, facade.store.organizations).sweepOrganization(org);
  await context.stop();
}

/** Returns every secret value that stands anywhere, after checking that nothing is orphaned, marked or dangling. */
async function requireWhole(org: string): Promise<readonly string[]> {
  const list = async <T>(kind: string): Promise<readonly T[]> => (await kubectlJson<{ items: T[] }>(['get', kind, '-n', org])).items;
  const [agents, tools, secrets, maps] = await Promise.all([
    list<Agent>('agents'),
    list<Tool>('tools'),
    list<Companion>('secrets'),
    list<Companion>('configmaps'),
  ]);
  const companions = [...secrets, ...maps.filter(({ metadata }) => metadata.name.startsWith('agent-'))];
  const uids = new Set([...agents, ...tools].map(({ metadata }) => metadata.uid));
  for (const { metadata } of [...companions, ...(tools as unknown as Companion[])]) {
    expect(metadata.labels ?? {}, metadata.name).not.toHaveProperty(['parley.dev/staged']);
    expect(
      (metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid)),
      metadata.name,
    ).toEqual([]);
    expect(metadata.ownerReferences, metadata.name).toHaveLength(1);
  }
  const values = new Map(
    companions.flatMap(({ kind, metadata, data }) =>
      Object.entries(data ?? {}).map(([key, value]) => [`${kind}/${metadata.name}/${key}`, value] as const),
    ),
  );
  const used = new Set<string>();
  const use = (id: string): void => {
    expect([...values.keys()]).toContain(id);
    used.add(id);
  };
  for (const { spec } of agents) {
    if (spec.llm.apiKeySecretRef) use(`Secret/${spec.llm.apiKeySecretRef.name}/${spec.llm.apiKeySecretRef.key}`);
    if (spec.llm.systemPromptFrom)
      use(`ConfigMap/${spec.llm.systemPromptFrom.configMapKeyRef.name}/${spec.llm.systemPromptFrom.configMapKeyRef.key}`);
  }
  for (const { spec } of tools)
    for (const header of spec.custom?.http.headers ?? [])
      if (header.valueFrom) use(`Secret/${header.valueFrom.secretKeyRef.name}/${header.valueFrom.secretKeyRef.key}`);
  expect([...values.keys()].filter((id) => !used.has(id))).toEqual([]);
  for (const { metadata } of agents)
    expect(tools.filter(({ spec }) => spec.agentRefs?.some(({ name }) => name === metadata.name))).toHaveLength(1);
  expect(tools).toHaveLength(agents.length);
  return secrets.flatMap(({ data }) => Object.values(data ?? {}).map((value) => Buffer.from(value, 'base64').toString()));
}

const body = anAgentRequest('Crash', {
  llm: {
    model_name: 'm',
    api_key: 'first',
    system_prompt: 'p'.repeat(5000),
    tools: [
      { function_tool: { name: 'f' }, additional_tool_info: { api: { endpoint: 'http://x', headers: { 'x-api-key': 'tool-key' } } } },
    ],
  },
});

describe.each([false, true])('a process that dies at any request to the API server (the last one carried out: %s)', (carriedOut) => {
  it('leaves a whole agent or none', async () => {
    const outcomes = new Set<number>();
    for (let after = 0; ; after += 1) {
      const org = await organization(facade);
      mortal.die(after, carriedOut);
      const answer = await org.call('POST', '/v2/ai-agents', body);
      const died = mortal.revive();
      expect(died ? [201, 503] : [201]).toContain(answer.status);
      await sweep(org.name);
      const secrets = await requireWhole(org.name);
      outcomes.add(secrets.length);
      if (answer.status === 201) expect(secrets.toSorted()).toEqual(['first', 'tool-key']);
      if (!died) {
        expect(after).toBeGreaterThan(8);
        break;
      }
    }
    expect(outcomes).toEqual(new Set([0, 2]));
  });

  it('leaves the old secret or the new one, and never both', async () => {
    const org = await organization(facade);
    const { body: agent } = await org.call('POST', '/v2/ai-agents', body);
    for (let after = 0; ; after += 1) {
      mortal.die(after, carriedOut);
      const answer = await org.call('PUT', `/v2/ai-agents/${agent.ai_agent_id}`, {
        agent_name: `Round ${after}`,
        llm: { api_key: `secret-${after}`, system_prompt: `${after}`.repeat(5000) },
      });
      mortal.revive();
      await sweep(org.name);
      const secrets = await requireWhole(org.name);
      const { body: now } = await org.call('GET', `/v2/ai-agents/${agent.ai_agent_id}`, undefined, {
        key: await org.keyWith('agents:read', 'secrets:read'),
      });
      expect(secrets).toContain(now.llm.api_key);
      if (now.agent_name === `Round ${after}`)
        expect(now.llm).toMatchObject({ api_key: `secret-${after}`, system_prompt: `${after}`.repeat(5000) });
      if (answer.status === 200) break;
      expect(answer.status).toBe(503);
    }
    for (let after = 0; ; after += 1) {
      await org.call('PUT', `/v2/ai-agents/${agent.ai_agent_id}`, { llm: { api_key: 'again', system_prompt: 'q'.repeat(5000) } });
      mortal.die(after, carriedOut);
      const answer = await org.call('PUT', `/v2/ai-agents/${agent.ai_agent_id}`, { llm: { api_key: null, system_prompt: 'short' } });
      mortal.revive();
      await sweep(org.name);
      await requireWhole(org.name);
      if (answer.status === 200) break;
    }
  });

  it('leaves the agent its tools, and no tool without an agent', async () => {
    const org = await organization(facade);
    const { body: agent } = await org.call('POST', '/v2/ai-agents', body);
    const give = (name: string) =>
      org.call('PUT', `/v2/ai-agents/${agent.ai_agent_id}`, {
        llm: { tools: [{ function_tool: { name }, additional_tool_info: { api: { endpoint: 'http://x', headers: { token: 't' } } } }] },
      });
    for (let after = 0; ; after += 1) {
      expect((await give('before')).status).toBe(200);
      mortal.die(after, carriedOut);
      const answer = await give('after');
      mortal.revive();
      await sweep(org.name);
      const { items: tools } = await kubectlJson<{ items: Tool[] }>(['get', 'tools', '-n', org.name]);
      const names = tools.map(({ spec }) => spec.custom?.function.name);
      for (const tool of tools) expect(tool.spec.agentRefs, tool.metadata.name).toEqual([{ name: agent.ai_agent_id }]);
      if (answer.status === 200) {
        expect(names).toEqual(['after']);
        expect(after).toBeGreaterThan(5);
        break;
      }
      expect(answer.status).toBe(503);
      expect(['after', 'before', 'after,before']).toContain(['after', 'before'].filter((name) => names.includes(name)).join());
      expect(names.length).toBeLessThanOrEqual(2);
    }
  });

  it('leaves whole tools and phone numbers or none, and of a secret the old value or the new one', async () => {
    const org = await organization(facade);
    const { body: agent } = await org.call('POST', '/v2/ai-agents', anAgentRequest('Tools'));
    const reader = { key: await org.keyWith('*', 'secrets:read') };
    const customTool = (n: number) => ({
      function_tool: { name: `f_${n}` },
      additional_tool_info: { api: { endpoint: 'http://x', headers: { token: `secret-${n}` } } },
    });
    const kinds = [
      { path: `/v2/ai-agents/${agent.ai_agent_id}/custom-tools`, bodyOf: customTool, method: 'PUT' },
      {
        path: '/v1/phone-numbers',
        bodyOf: (n: number) => ({ phone_number: aNumber(), sip_trunk_password: `secret-${n}` }),
        method: 'PATCH',
      },
    ];
    const secretOf = (read: RestAnswer['body']): string => read.sip_trunk_password ?? read.additional_tool_info.api.headers.token;
    for (const { path, bodyOf, method } of kinds) {
      let made: RestAnswer;
      let died: boolean;
      let steps = 0;
      do {
        mortal.die(steps, carriedOut);
        made = await org.call('POST', path, bodyOf(steps));
        died = mortal.revive();
        expect(died ? [201, 503] : [201], made.text).toContain(made.status);
        steps += 1;
      } while (died);
      expect(steps).toBeGreaterThan(3);
      await sweep(org.name);
      expect(await secretsInUse(org.name)).toContain(`secret-${steps - 1}`);

      const id = `${path}/${made.body.tool_id ?? made.body._id}`;
      for (let changed: RestAnswer | undefined, n = 1000; changed?.status !== 200; n += 1) {
        const before = secretOf((await org.call('GET', id, undefined, reader)).body);
        mortal.die(n - 1000, carriedOut);
        const { phone_number: _number, function_tool: _name, ...change } = bodyOf(n) as Readonly<Record<string, unknown>>;
        changed = await org.call(method, id, change);
        mortal.revive();
        expect([200, 503], changed.text).toContain(changed.status);
        await sweep(org.name);
        const now = secretOf((await org.call('GET', id, undefined, reader)).body);
        expect(changed.status === 200 ? [`secret-${n}`] : [before, `secret-${n}`]).toContain(now);
        expect(await secretsInUse(org.name)).toContain(now);
      }
    }
  });

  it('leaves whole webhook subscriptions or none, each with one signing secret and the values of its headers', async () => {
    const org = await organization(facade);
    const all = '/v1/public/webhook/subscription';
    const dieing = async (path: string, method: string, sent: (n: number) => object, fewest: number): Promise<RestAnswer> => {
      for (let n = 0; ; n += 1) {
        mortal.die(n, carriedOut);
        const answer = await org.call(method, path, sent(n));
        const died = mortal.revive();
        await sweep(org.name);
        await requireWholeSubscriptions(org.name);
        expect(died ? [200, 201, 503] : [200, 201], answer.text).toContain(answer.status);
        if (!died) {
          expect(n).toBeGreaterThanOrEqual(fewest);
          return answer;
        }
      }
    };
    const common = { url: 'https://x.example', enable_signed_webhooks: true };
    const { body: made } = await dieing(all, 'POST', (n) => ({ ...common, name: `Hook ${n}`, headers: { 'X-Tenant': `${n}` } }), 3);
    const path = `${all}/${made.id}`;
    await dieing(path, 'PATCH', (n) => ({ headers: { 'X-Tenant': `changed ${n}` } }), 4);
    expect((await org.call('GET', path)).body.headers).toEqual({ 'X-Tenant': expect.stringMatching(/^changed \d+$/) });
    const rotated = await dieing(`${path}/rotate-secret`, 'POST', () => ({}), 2);
    expect(await requireWholeSubscriptions(org.name)).toContain(rotated.body.secret);
    await dieing(path, 'PATCH', () => ({ enable_signed_webhooks: false }), 3);
    const on = await dieing(path, 'PATCH', () => ({ enable_signed_webhooks: true }), 3);
    if (on.body.secret !== undefined) expect(await requireWholeSubscriptions(org.name)).toContain(on.body.secret);
  });
});

/** Returns the signing secrets, after checking that every Secret is used by its owner, and that nothing is missing. */
async function requireWholeSubscriptions(org: string): Promise<readonly string[]> {
  const list = async <T>(kind: string): Promise<readonly T[]> => (await kubectlJson<{ items: T[] }>(['get', kind, '-n', org])).items;
  const [subscriptions, secrets] = await Promise.all([list<WebhookSubscription>('webhooksubscriptions'), list<Companion>('secrets')]);
  const isFormer = (key: string): boolean => key.startsWith('previous-');
  const wanted = subscriptions.flatMap(({ metadata: { uid = '' }, spec }) => {
    const values = (spec.headers ?? []).map(({ valueFrom }) => `${uid} ${valueFrom?.secretKeyRef.key}`);
    return spec.signing?.mode === 'None' ? values : values.concat(`${uid} current`);
  });
  const there = secrets.flatMap(({ metadata, data }) => {
    expect(metadata.labels ?? {}, metadata.name).not.toHaveProperty(['parley.dev/staged']);
    const owners = (metadata.ownerReferences ?? []).map(({ uid }) => uid).join();
    return Object.keys(data ?? {}).flatMap((key) => (isFormer(key) ? [] : [`${owners} ${key}`]));
  });
  expect(there.toSorted()).toEqual(wanted.toSorted());
  return secrets.map(({ data }) => Buffer.from(data?.['current'] ?? '', 'base64').toString());
}

const aNumber = (): string => `+1${randomInt(1e12, 1e13)}`;

/** Returns the secrets of tools and phone numbers, after checking that each is used by its owner, and that none is missing. */
async function secretsInUse(org: string): Promise<readonly string[]> {
  const list = async <T>(kind: string): Promise<readonly T[]> => (await kubectlJson<{ items: T[] }>(['get', kind, '-n', org])).items;
  const [tools, numbers, secrets] = await Promise.all([list<Tool>('tools'), list<PhoneNumber>('phonenumbers'), list<Companion>('secrets')]);
  const wanted = [
    ...tools.flatMap((tool) =>
      (tool.spec.custom?.http.headers ?? []).map(({ valueFrom }) => ({ owner: tool, ref: valueFrom?.secretKeyRef })),
    ),
    ...numbers.map((number) => ({ owner: number, ref: number.spec.sip?.passwordSecretRef })),
  ].map(({ owner, ref }) => `${owner.metadata.uid ?? ''} ${ref?.name ?? ''} ${ref?.key ?? ''}`);
  const there = secrets.flatMap(({ metadata, data }) => {
    expect(metadata.labels ?? {}, metadata.name).not.toHaveProperty(['parley.dev/staged']);
    const owners = (metadata.ownerReferences ?? []).map(({ uid }) => uid).join();
    return Object.keys(data ?? {}).map((key) => `${owners} ${metadata.name} ${key}`);
  });
  expect(there.toSorted()).toEqual(wanted.toSorted());
  return secrets.flatMap(({ data }) => Object.values(data ?? {}).map((value) => Buffer.from(value, 'base64').toString()));
}
