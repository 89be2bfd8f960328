/** Writes at random to one organisation: each answer and each state is predicted from the requests so far. */
import { expect } from 'vitest';

import type { AgentView } from '../../../api/agents/fields.ts';
import type { AgentRevisionConfig } from '../../../crds/agent-revision.ts';
import { anAgentRequest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import type { RestAnswer, Facade } from '../api/facade.ts';
import type { Cluster } from '../operator/harness.ts';
import { shownOfAnswer, shownOfRevision } from './shown.ts';

const agentsPath = '/v2/ai-agents';
const basesPath = '/api/v1/knowledge-bases';
const numbersPath = '/v1/phone-numbers';
const hookPath = '/v1/public/webhook/subscription';

interface State {
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
}

export interface ModelOptions {
  readonly cluster: Cluster;
  readonly facade: Facade;
  readonly name: string;
  readonly key: string;
  /** Number that distinguishes the organisation's phone numbers from those of others. */
  readonly index: number;
  readonly random: () => number;
}

/** Counts how often each kind of step and answer was seen. */
export const seen = new Map<string, number>();
const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

export class ModelOrganization {
  readonly #options: ModelOptions;
  readonly #agents = new Set<string>();
  readonly #bases = new Set<string>();
  /** Knowledge bases that kubectl deleted, and that agents still name. */
  readonly #lostBases = new Set<string>();
  readonly #numbers = new Set<string>();
  readonly #hooks = new Set<string>();
  /** Tools, each with its agent. */
  readonly #tools = new Map<string, string>();
  /** Tools whose Secret is gone. */
  readonly #lame = new Set<string>();
  readonly #suspended = new Set<string>();
  #made = 0;

  constructor(options: ModelOptions) {
    this.#options = options;
  }

  /** Makes one random write, and checks what the next answers say of it. */
  async step(): Promise<void> {
    const steps: readonly (readonly [number, string, () => Promise<void>])[] = [
      [this.#agents.size < 5 ? 3 : 0.3, 'make agent', () => this.#makeAgent()],
      [10, 'change agent', () => this.#changeAgent()],
      [1, 'delete agent', () => this.#deleteAgent()],
      [this.#tools.size < 6 ? 3 : 0.3, 'make tool', () => this.#makeTool()],
      [4, 'change tool', () => this.#changeTool()],
      [1, 'delete tool', () => this.#deleteTool()],
      [this.#bases.size < 4 ? 2 : 0.3, 'make base', () => this.#makeBase()],
      [2, 'change base', () => this.#changeBase()],
      [1.5, 'delete base', () => this.#deleteBase()],
      [this.#numbers.size < 4 ? 2 : 0.2, 'make number', () => this.#makeNumber()],
      [3, 'change number', () => this.#changeNumber()],
      [1, 'delete number', () => this.#delete(numbersPath, this.#numbers)],
      [this.#hooks.size < 3 ? 2 : 0.2, 'make subscription', () => this.#makeHook()],
      [3, 'change subscription', () => this.#changeHook()],
      [1, 'delete subscription', () => this.#delete(hookPath, this.#hooks)],
      [0.7, 'kubectl deletes a base', () => this.#loseBase()],
      [1, 'kubectl restores a base', () => this.#restoreBase()],
      [0.7, 'kubectl deletes the Secret of a tool', () => this.#loseSecret()],
      [1, 'kubectl edits an agent', () => this.#editByKubectl()],
      [0.5, 'kubectl suspends an agent or lets it go on', () => this.#suspend()],
    ];
    let point = this.#options.random() * steps.reduce((sum, [weight]) => sum + weight, 0);
    const [, what, run] = steps.find(([weight]) => (point -= weight) < 0) ?? steps[0]!;
    count(what);
    await run();
  }

  /** Checks that lists by state name what is ready, and nothing else. */
  async checkLists(): Promise<void> {
    for (const [path, ids, field] of [
      [agentsPath, this.#agents, 'ai_agent_id'],
      [numbersPath, this.#numbers, '_id'],
      [basesPath, this.#bases, 'id'],
    ] as const) {
      const found = await Promise.all(
        [true, false].map(async (ready) => {
          const { body } = await this.#ask('GET', `${path}?page_size=100&ready=${ready}`, 200);
          expect(body.data.every(({ state }: { state: State }) => state.ready === ready)).toBe(true);
          return body.data.map((item: Record<string, string>) => item[field]) as string[];
        }),
      );
      expect(found.flat().toSorted()).toEqual([...ids].toSorted());
    }
  }

  /** Checks every object, at the end. */
  async checkEverything(): Promise<void> {
    for (const id of this.#agents) await this.#checkAgent(id);
    for (const id of this.#tools.keys()) await this.#checkTool(id);
    for (const id of this.#numbers) await this.#checkNamed(`${numbersPath}/${id}`);
    for (const id of this.#hooks) await this.#checkNamed(`${hookPath}/${id}`);
    for (const id of this.#bases) await this.#checkBase(id);
  }

  async #makeAgent(): Promise<void> {
    const { fields, sound } = this.#agentFields();
    const answer = await this.#ask('POST', agentsPath, sound ? 201 : 422, anAgentRequest(this.#aName(), fields));
    if (!sound) return;
    this.#agents.add(answer.body.ai_agent_id);
    this.#learnTools(answer);
    await this.#checkAgent(answer.body.ai_agent_id, answer.body.state);
  }

  async #changeAgent(): Promise<void> {
    const id = this.#pick(this.#agents);
    if (id === undefined) return this.#makeAgent();
    const { body: before } = await this.#ask('GET', `${agentsPath}/${id}`, 200);
    const { fields, sound } = this.#agentFields(before);
    const answer = await this.#ask('PUT', `${agentsPath}/${id}?force=true`, sound ? 200 : 422, fields);
    if (sound) this.#learnTools(answer);
    await this.#checkAgent(id, sound ? answer.body.state : undefined);
  }

  /** Returns random fields of an agent, and whether everything that they name is there. */
  #agentFields(before?: AgentView): { fields: Record<string, unknown>; sound: boolean } {
    const { random } = this.#options;
    let sound = true;
    const fields: Record<string, unknown> = {};
    const llm: Record<string, unknown> = before === undefined ? { model_name: 'm' } : {};
    if (random() < 0.5) fields['welcome_message'] = random() < 0.2 ? null : this.#aName();
    if (random() < 0.3) fields['language_code'] = random() < 0.5 ? 'de-DE' : 'bn';
    if (random() < 0.3) llm['system_prompt'] = random() < 0.3 ? `${this.#aName()} ${'x'.repeat(5_000)}` : this.#aName();
    if (random() < 0.2) llm['model_temperature'] = Math.round(random() * 20) / 10;
    if (random() < 0.2) fields['max_call_duration_seconds'] = 60 + Math.floor(random() * 600);
    if (random() < 0.2) fields['post_call_analysis'] = [{ name: this.#aName(), type: 'string', description: 'd' }];
    if (random() < 0.15)
      fields['dynamic_data_config'] = [
        {
          url: 'https://crm.example.com/',
          response_data: [{ name: 'customer', data: '$.name' }],
          headers: { Authorization: this.#aName() },
        },
      ];
    if (random() < 0.35) {
      const base = random() < 0.3 ? null : random() < 0.25 ? this.#unknown('kb') : (this.#pick(this.#bases) ?? null);
      fields['knowledge_base_id'] = base;
      sound &&= base === null || this.#bases.has(base) || base === before?.knowledge_base_id;
    }
    if (random() < 0.05) {
      llm['model_provider'] = 'mystery';
      sound = false;
    }
    if (random() < 0.2) {
      const tools: object[] = ((before?.llm.tools ?? []) as { tool_id: string }[]).flatMap(({ tool_id }) =>
        random() < 0.7 ? [{ tool_id }] : [],
      );
      if (tools.length < 4 && random() < 0.7) tools.push(this.#customTool());
      if (random() < 0.2) {
        tools.push({ tool_id: this.#unknown('tool') });
        sound = false;
      }
      llm['tools'] = tools;
    }
    if (Object.keys(llm).length > 0) fields['llm'] = llm;
    return { fields, sound };
  }

  async #deleteAgent(): Promise<void> {
    const id = this.#pick(this.#agents);
    if (id === undefined) return;
    const users = await this.#usersOf(id);
    const force = this.#options.random() < 0.5;
    const refused = users.length > 0 && !force;
    const answer = await this.#ask('DELETE', `${agentsPath}/${id}${force ? '?force=true' : ''}`, refused ? 409 : 200);
    if (refused) {
      for (const path of users) expect(answer.body.message).toContain(path.split('/').at(-1));
      return;
    }
    this.#agents.delete(id);
    this.#suspended.delete(id);
    for (const [tool, agent] of this.#tools) if (agent === id) this.#tools.delete(tool);
    await this.#ask('GET', `${agentsPath}/${id}`, 404);
    // A subscription of this agent alone still names it, and says so when the operator has looked at it.
    for (const path of users) await eventually(() => this.#checkNamed(path), 10);
  }

  async #usersOf(agent: string): Promise<readonly string[]> {
    const paths = [...[...this.#numbers].map((id) => `${numbersPath}/${id}`), ...[...this.#hooks].map((id) => `${hookPath}/${id}`)];
    const named = await Promise.all(paths.map(async (path) => namesIn((await this.#ask('GET', path, 200)).body)));
    return paths.filter((_, index) => named[index]?.includes(agent));
  }

  async #makeTool(): Promise<void> {
    const agent = this.#pick(this.#agents);
    if (agent === undefined) return this.#makeAgent();
    const { body } = await this.#ask('POST', `${agentsPath}/${agent}/custom-tools`, 201, this.#customTool());
    this.#tools.set(body.tool_id, agent);
    await this.#checkTool(body.tool_id, body.state);
    await this.#checkAgent(agent);
  }

  #customTool(): object {
    return {
      function_tool: { name: `f${++this.#made}` },
      additional_tool_info: { api: { endpoint: 'https://api.example.com/', headers: { Authorization: this.#aName() } } },
    };
  }

  async #changeTool(): Promise<void> {
    const id = this.#pick(this.#tools.keys());
    if (id === undefined) return this.#makeTool();
    const path = `${agentsPath}/${this.#tools.get(id)}/custom-tools/${id}`;
    const mended = this.#options.random() < 0.5;
    const { body } = await this.#ask('PUT', path, 200, {
      tool_start_message: this.#aName(),
      ...(mended && { additional_tool_info: { api: { headers: { Authorization: this.#aName() } } } }),
    });
    if (mended) this.#lame.delete(id);
    await this.#checkTool(id, body.state);
    await this.#checkAgent(this.#tools.get(id)!);
  }

  async #deleteTool(): Promise<void> {
    const id = this.#pick(this.#tools.keys());
    if (id === undefined) return;
    const agent = this.#tools.get(id)!;
    await this.#ask('DELETE', `${agentsPath}/${agent}/custom-tools/${id}`, 200);
    this.#tools.delete(id);
    await this.#checkAgent(agent);
  }

  async #makeBase(): Promise<void> {
    const { body } = await this.#ask('POST', basesPath, 201, { name: this.#aName() });
    this.#bases.add(body.id);
    await this.#checkBase(body.id, body.state);
  }

  async #changeBase(): Promise<void> {
    const id = this.#pick(this.#bases);
    if (id === undefined) return this.#makeBase();
    const { body } = await this.#ask('PATCH', `${basesPath}/${id}?force=true`, 200, {
      description: this.#aName(),
      document_language: this.#options.random() < 0.5 ? 'de' : 'en',
    });
    await this.#checkBase(id, body.state);
  }

  async #deleteBase(): Promise<void> {
    const id = this.#pick(this.#bases);
    if (id === undefined) return;
    const agents = await Promise.all([...this.#agents].map(async (agent) => (await this.#ask('GET', `${agentsPath}/${agent}`, 200)).body));
    const users = agents.filter(({ knowledge_base_id: base }) => base === id).map(({ ai_agent_id: agent }) => agent as string);
    const force = this.#options.random() < 0.5;
    const refused = users.length > 0 && !force;
    const answer = await this.#ask('DELETE', `${basesPath}/${id}${force ? '?force=true' : ''}`, refused ? 409 : 200);
    if (refused) {
      for (const user of users) expect(answer.body.message).toContain(user);
      return;
    }
    this.#bases.delete(id);
    for (const user of users) await this.#checkAgent(user);
  }

  async #makeNumber(): Promise<void> {
    const { fields, sound } = this.#numberFields();
    const phone_number = `+1${this.#options.index + 200}${String(++this.#made).padStart(7, '0')}`;
    const { body } = await this.#ask('POST', numbersPath, sound ? 201 : 422, { phone_number, ...fields });
    if (!sound) return;
    this.#numbers.add(body._id);
    await this.#checkNamed(`${numbersPath}/${body._id}`, body.state);
  }

  async #changeNumber(): Promise<void> {
    const id = this.#pick(this.#numbers);
    if (id === undefined) return this.#makeNumber();
    const { body: before } = await this.#ask('GET', `${numbersPath}/${id}`, 200);
    const { fields, sound } = this.#numberFields(before);
    const { body } = await this.#ask('PATCH', `${numbersPath}/${id}`, sound ? 200 : 422, fields);
    await this.#checkNamed(`${numbersPath}/${id}`, sound ? body.state : undefined);
  }

  #numberFields(before: Record<string, unknown> = {}): { fields: Record<string, unknown>; sound: boolean } {
    const { random } = this.#options;
    const fields: Record<string, unknown> = { friendly_name: this.#aName() };
    let sound = true;
    for (const field of ['inbound_agent_id', 'outbound_agent_id']) {
      if (random() < 0.4) continue;
      const agent = random() < 0.2 ? null : random() < 0.2 ? this.#unknown('agent') : (this.#pick(this.#agents) ?? null);
      fields[field] = agent;
      sound &&= agent === null || this.#agents.has(agent) || agent === before[field];
    }
    return { fields, sound };
  }

  async #makeHook(): Promise<void> {
    const { agent_ids, sound } = this.#hookAgents();
    const request = { name: this.#aName(), url: 'https://hooks.example.com/', enable_signed_webhooks: this.#options.random() < 0.5 };
    const { body } = await this.#ask('POST', hookPath, sound ? 201 : 400, { ...request, ...(agent_ids.length > 0 && { agent_ids }) });
    if (!sound) return;
    this.#hooks.add(body.id);
    await this.#checkNamed(`${hookPath}/${body.id}`, body.state);
  }

  async #changeHook(): Promise<void> {
    const id = this.#pick(this.#hooks);
    if (id === undefined) return this.#makeHook();
    const { agent_ids, sound } = this.#hookAgents();
    const fields = { description: this.#aName(), ...(agent_ids.length > 0 && { agent_ids }) };
    const { body } = await this.#ask('PATCH', `${hookPath}/${id}`, sound ? 200 : 400, fields);
    await this.#checkNamed(`${hookPath}/${id}`, sound ? body.state : undefined);
  }

  #hookAgents(): { agent_ids: readonly string[]; sound: boolean } {
    const { random } = this.#options;
    const agent_ids = [...this.#agents].filter(() => random() < 0.3);
    const sound = random() > 0.15;
    return { agent_ids: sound ? agent_ids : [...agent_ids, this.#unknown('agent')], sound };
  }

  async #delete(path: string, ids: Set<string>): Promise<void> {
    const id = this.#pick(ids);
    if (id === undefined) return;
    await this.#ask('DELETE', `${path}/${id}`, 200);
    ids.delete(id);
    await this.#ask('GET', `${path}/${id}`, 404);
  }

  async #loseBase(): Promise<void> {
    const id = this.#pick(this.#bases);
    if (id === undefined) return;
    await this.#options.cluster.remove('KnowledgeBase', this.#options.name, id);
    await eventually(async () => expect((await this.#call('GET', `${basesPath}/${id}`)).status).toBe(404), 10);
    this.#bases.delete(id);
    this.#lostBases.add(id);
    for (const agent of this.#agents) await this.#checkAgent(agent);
  }

  async #restoreBase(): Promise<void> {
    const id = this.#pick(this.#lostBases);
    if (id === undefined) return;
    const { cluster, name } = this.#options;
    await eventually(() => expect(cluster.get('KnowledgeBase', name, id)).rejects.toThrow('not found'), 10);
    await cluster.apply({ apiVersion: 'parley.dev/v1beta1', kind: 'KnowledgeBase', metadata: { namespace: name, name: id }, spec: {} });
    await eventually(async () => expect((await this.#call('GET', `${basesPath}/${id}`)).status).toBe(200), 10);
    this.#lostBases.delete(id);
    this.#bases.add(id);
    for (const agent of this.#agents) await this.#checkAgent(agent);
  }

  /** Deletes a tool's Secret. The tool is of no use then: its agent goes on without. */
  async #loseSecret(): Promise<void> {
    const id = this.#pick(this.#tools.keys());
    if (id === undefined || this.#lame.has(id)) return;
    const { cluster, name } = this.#options;
    const agent = this.#tools.get(id)!;
    const desired = (await cluster.get('Agent', name, agent)).status?.['desiredRevision'];
    await cluster.remove('Secret', name, `tool-${id}`);
    // The facade doesn't watch which Secrets there are: it knows when the operator has said so.
    await cluster.reason('Tool', name, id, 'ResolvedRefs', 'SecretNotFound');
    this.#lame.add(id);
    if (!this.#suspended.has(agent)) {
      const changed = await cluster.until('Agent', name, agent, ({ status }) => status?.['desiredRevision'] !== desired);
      await this.#facadeKnows(agent, changed.metadata.resourceVersion);
    }
    await this.#checkTool(id);
    await this.#checkAgent(agent);
  }

  async #editByKubectl(): Promise<void> {
    const id = this.#pick(this.#agents);
    if (id === undefined) return;
    await this.#patchByKubectl(id, { welcomeMessage: this.#aName() });
    await this.#checkAgent(id);
  }

  async #suspend(): Promise<void> {
    const id = this.#pick(this.#agents);
    if (id === undefined) return;
    const suspend = !this.#suspended.has(id);
    await this.#patchByKubectl(id, { suspend });
    if (suspend) this.#suspended.add(id);
    else this.#suspended.delete(id);
    await this.#checkAgent(id);
  }

  /** Patches as `kubectl apply --server-side --force-conflicts` does; the facade has seen it when this resolves. */
  async #patchByKubectl(id: string, spec: object): Promise<void> {
    const { cluster, name } = this.#options;
    const before = await cluster.get('Agent', name, id);
    const { managedFields: _fields, ...metadata } = before.metadata;
    const after = await cluster.client('Agent').update({ ...before, metadata, spec: { ...before.spec, ...spec } });
    await this.#facadeKnows(id, after.metadata.resourceVersion);
  }

  /** Waits until the watch has delivered another's write to the facade. */
  async #facadeKnows(id: string, version: string): Promise<void> {
    await eventually(async () => {
      const etag = (await this.#call('GET', `${agentsPath}/${id}`)).headers.get('etag') ?? '""';
      expect(Number(JSON.parse(etag))).toBeGreaterThanOrEqual(Number(version));
    }, 10);
  }

  /**
   * Checks that the agent that GET shows is served, or that `state` says why not; at once, and when the operator has acted upon it. Then
   * the model knows which of the two it has to be, and everything but what is lost is served either way.
   */
  async #checkAgent(id: string, answered?: State): Promise<void> {
    if (answered !== undefined) this.#says(answered);
    const path = `${agentsPath}/${id}`;
    const now = await this.#ask('GET', path, 200);
    this.#says(now.body.state);
    if (now.body.state.ready) await this.#isServed(id, now.body, { base: false, tools: new Set() });
    else count('not ready in the next GET');
    const { body } = await this.#settled(path);
    const lost = {
      base: body.knowledge_base_id !== undefined && !this.#bases.has(body.knowledge_base_id),
      tools: new Set((body.llm.tools as { tool_id: string }[]).map(({ tool_id: tool }) => tool).filter((tool) => this.#lame.has(tool))),
    };
    const ready = !lost.base && lost.tools.size === 0 && !this.#suspended.has(id);
    expect(body.state.ready, JSON.stringify(body.state)).toBe(ready);
    if (!ready) count(`not ready for good: ${body.state.reason}`);
    if (this.#suspended.has(id)) return;
    await this.#isServed(id, body, lost);
    expect(body.state.desired_revision === body.state.serving_revision).toBe(ready);
  }

  async #isServed(id: string, body: AgentView, lost: Parameters<typeof shownOfAnswer>[1]): Promise<void> {
    const { facade, name } = this.#options;
    const serving = await facade.store.agentRevisions.servingByName({ org: name, agentName: id });
    expect(serving === undefined ? undefined : shownOfRevision(serving.config as AgentRevisionConfig)).toEqual(shownOfAnswer(body, lost));
    count('served as shown');
  }

  async #checkTool(id: string, answered?: State): Promise<void> {
    if (answered !== undefined) this.#says(answered);
    const agent = this.#tools.get(id)!;
    const path = `${agentsPath}/${agent}/custom-tools/${id}`;
    const ready = !this.#lame.has(id) && !this.#suspended.has(agent);
    await eventually(async () => {
      const { body } = await this.#ask('GET', path, 200);
      this.#says(body.state);
      if (body.state.ready) await this.#isOffered(agent, body);
      expect(body.state.ready, JSON.stringify(body.state)).toBe(ready);
    }, 10);
  }

  async #isOffered(agentName: string, body: Record<string, unknown>): Promise<void> {
    const { facade, name } = this.#options;
    const serving = await facade.store.agentRevisions.servingByName({ org: name, agentName });
    const offered = shownOfRevision(serving?.config as AgentRevisionConfig).llm.tools as readonly { tool_id: string }[];
    const { created_at: _made, updated_at: _updated, state: _state, ...shown } = body;
    expect(offered.find(({ tool_id: id }) => id === shown['tool_id'])).toEqual(shown);
    count('tool offered as shown');
  }

  /** Checks that a number or a subscription is ready when the agents that it names are there. */
  async #checkNamed(path: string, answered?: State): Promise<void> {
    if (answered !== undefined) this.#says(answered);
    const { body } = await this.#settled(path);
    const ready = namesIn(body).every((agent) => this.#agents.has(agent));
    expect(body.state.ready, JSON.stringify(body)).toBe(ready);
    if (!ready) expect(body.state.reason).toBe('AgentNotFound');
  }

  async #checkBase(id: string, answered?: State): Promise<void> {
    if (answered !== undefined) this.#says(answered);
    const { facade, name } = this.#options;
    const served = async (body: Record<string, unknown>): Promise<void> => {
      const collection = await facade.store.knowledge.collections.byName({ org: name, name: id });
      expect(collection?.language).toBe(body['document_language']);
    };
    const now = await this.#ask('GET', `${basesPath}/${id}`, 200);
    this.#says(now.body.state);
    if (now.body.state.ready) await served(now.body);
    const { body } = await this.#settled(`${basesPath}/${id}`);
    expect(body.state.ready, JSON.stringify(body.state)).toBe(true);
    await served(body);
  }

  #says({ ready, reason, message }: State): void {
    expect([ready, reason, message]).toEqual([expect.any(Boolean), expect.stringMatching(/^[A-Z]/), expect.stringMatching(/./)]);
  }

  #settled(path: string): Promise<RestAnswer> {
    return eventually(async () => {
      const answer = await this.#ask('GET', path, 200);
      if (answer.body.state.reason === 'Reconciling') throw new Error(`${path} is ${JSON.stringify(answer.body.state)}`);
      if (['Retrying', 'RevisionPending', 'CollectionPending'].includes(answer.body.state.reason)) throw new Error(`${path} is on its way`);
      return answer;
    }, 10);
  }

  #learnTools({ body }: RestAnswer): void {
    const agent = body.ai_agent_id as string;
    const attached = (body.llm.tools as { tool_id: string }[]).map(({ tool_id: id }) => id);
    for (const [tool, of] of this.#tools) if (of === agent && !attached.includes(tool)) this.#tools.delete(tool);
    for (const tool of attached) this.#tools.set(tool, agent);
  }

  async #ask(method: string, path: string, expected: number, body?: unknown): Promise<RestAnswer> {
    const answer = await this.#call(method, path, body);
    expect(answer.status, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`).toBe(expected);
    if (method !== 'GET') count(`${method} ${expected}`);
    return answer;
  }

  #call(method: string, path: string, body?: unknown): Promise<RestAnswer> {
    const { facade, key } = this.#options;
    return facade.call(method, path, { key, ...(body !== undefined && { body }) });
  }

  #pick(ids: Iterable<string>): string | undefined {
    const all = [...ids];
    return all[Math.floor(this.#options.random() * all.length)];
  }

  #unknown(prefix: string): string {
    return `${prefix}-aaaaaaaa${String(++this.#made)
      .replaceAll(/[0189]/g, 'b')
      .padStart(8, 'a')}`;
  }

  #aName(): string {
    return `name ${++this.#made}`;
  }
}

/** Returns the agents that a number or a subscription names. */
function namesIn(body: Record<string, unknown>): readonly string[] {
  const ids = [body['inbound_agent_id'], body['outbound_agent_id'], ...((body['agent_ids'] as string[] | undefined) ?? [])];
  return ids.filter((id) => typeof id === 'string');
}
