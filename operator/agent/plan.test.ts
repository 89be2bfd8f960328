import { describe, expect, it } from 'vitest';

import type { Agent, AgentTest, KnowledgeBase, Tool } from '../../crds/index.ts';
import { testDigest } from '../../crds/requested-test.ts';
import type { ServingBudget } from '../../store/index.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { countTurns } from '../../test/support/count-turns.ts';
import { memorySnapshot, type SnapshotContents } from '../references/memory-snapshot.ts';
import { findCondition } from '../../crds/kind.ts';
import { planTool } from '../tool/plan.ts';
import { degradationOf } from './degradation.ts';
import { planAgent, TOOLS_LIMIT, type StoreView } from './plan.ts';
import { prepareTools } from './prepare-tools.ts';
import { compileRevision } from './revision.ts';

const options = { now: Date.parse('2026-06-01T12:00:00Z'), deletionGraceMs: 60_000 };
const unavailable: StoreView = { state: 'unavailable', why: 'Postgres does not answer' };
const minimal = { llm: { model: 'm' }, speechToText: { provider: 'deepgram' }, textToSpeech: { provider: 'elevenlabs' } };

const agentWith = (spec: object = {}, metadata: Readonly<Record<string, unknown>> = {}): Agent =>
  storedObject('Agent', 'reception', { ...minimal, ...spec }, { metadata }) as Agent;
const hours = storedObject('AgentTest', 'hours', {
  agentRefs: [{ name: 'reception' }],
  required: true,
  type: 'Conversation',
  conversation: [{ type: 'User', user: 'Hi', expect: [{ type: 'Answer', answer: { contains: ['x'] } }] }],
}) as AgentTest;
const toolNamed = (name: string, spec: object = {}): Tool =>
  storedObject('Tool', name, {
    agentRefs: [{ name: 'reception' }],
    type: 'Custom',
    custom: { function: { name }, http: { url: 'https://api.example.com/' } },
    ...spec,
  }) as Tool;
const worldOf = (contents: Partial<SnapshotContents> = {}) => memorySnapshot({ organizations: ['acme'], ...contents });
const plan = (agent: Agent, contents: Partial<SnapshotContents> = {}, store: StoreView = { state: 'known' }) =>
  planAgent(agent, worldOf(contents), store, options);

describe('a webhook that may not be called', () => {
  it('is reported, and keeps no revision from serving', () => {
    const { revision } = compileRevision(agentWith({ webhookURL: 'http://169.254.169.254/' }), [], worldOf());
    const addresses = { web: (url: string) => `${url} is inside`, sip: () => undefined };
    const agent = agentWith({ webhookURL: 'http://169.254.169.254/' });
    expect(plan(agent, { addresses }).actions).toContainEqual(expect.objectContaining({ type: 'serve', revision }));
    const served = plan(agent, { addresses }, { state: 'known', serving: { revision, since: '2026-01-01T00:00:00Z' } });
    expect(findCondition(served, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'AddressForbidden',
      message: expect.stringContaining('spec.webhookURL: http://169.254.169.254/ is inside'),
    });
    expect(findCondition(served, 'Synced')?.status).toBe('True');
    expect(findCondition(plan(agentWith(), { addresses }), 'Accepted')?.status).toBe('True');
  });

  it('nor does a lookup, but a provider does', () => {
    const addresses = { web: (url: string) => (url.includes('169.254') ? `${url} is inside` : undefined), sip: () => undefined };
    const lookup = plan(agentWith({ dynamicData: [{ name: 'caller', url: 'http://169.254.169.254/{{id}}' }] }), { addresses });
    expect(lookup.actions.map(({ type }) => type)).toContain('serve');
    expect(findCondition(lookup, 'Accepted')?.message).toContain('spec.dynamicData[0].url: http://169.254.169.254 is inside');
    const { llm } = agentWith().spec;
    const provider = plan(agentWith({ llm: { ...llm, baseURL: 'http://169.254.169.254/v1' } }), { addresses });
    expect(provider.actions.map(({ type }) => type)).not.toContain('serve');
    expect(findCondition(provider, 'Accepted')).toMatchObject({
      reason: 'AddressForbidden',
      message: expect.stringContaining('spec.llm.baseURL: http://169.254.169.254 is inside'),
    });
  });

  it('nor does a forbidden transfer, which its tool reports', () => {
    const tool = toolNamed('desk', {
      type: 'TransferCall',
      custom: undefined,
      transferCall: { to: 'sip:10.0.0.1', mode: 'Cold', callerID: 'Agent' },
    });
    const snapshot = worldOf({
      agents: [agentWith()],
      tools: [tool],
      addresses: { web: () => undefined, sip: (uri) => `${uri} is inside` },
    });
    expect(planAgent(agentWith(), snapshot, { state: 'known' }, options).actions.map(({ type }) => type)).toContain('serve');
    expect(findCondition(planTool(tool, snapshot, 0), 'Ready')).toMatchObject({
      status: 'False',
      reason: 'AddressForbidden',
      message: expect.stringContaining('spec.transferCall.to: sip:10.0.0.1 is inside'),
    });
  });
});

describe('putting a revision into service', () => {
  it('sets the finalizer before anything is stored, once', () => {
    expect(plan(agentWith()).actions.map(({ type }) => type)).toEqual(['addFinalizer', 'serve']);
    expect(plan(agentWith({}, { finalizers: ['parley.dev/finalizer'] })).actions.map(({ type }) => type)).toEqual(['serve']);
  });

  it('has calls counted against the budget of the spec, whatever revision serves, and stores each once', () => {
    const budget = { daily: '25.00', currency: 'EUR' };
    const state = {
      version: 1,
      revision: 'b'.repeat(64),
      configHash: 'former',
      activeSince: new Date(0),
      canary: null,
      rolledBack: [],
      retiredAt: null,
      promoted: null,
    };
    const { revision } = state;
    const serving = (stored?: ServingBudget): StoreView => ({
      state: 'known',
      serving: { revision, since: '2026-01-01T00:00:00Z' },
      release: { state: { ...state, budget: stored } },
    });
    const actions = (spec: object, store?: StoreView) =>
      plan(agentWith({ release: { pin: { revision } }, ...spec }), {}, store).actions.filter(({ type }) => type === 'budget');
    const utc = { ...budget, timeZone: 'UTC' };
    expect(actions({ budget }, serving())).toEqual([{ type: 'budget', budget: utc }]);
    expect(actions({ budget, timeZone: 'Europe/Berlin' }, serving(utc))).toEqual([
      { type: 'budget', budget: { ...budget, timeZone: 'Europe/Berlin' } },
    ]);
    expect(actions({ budget }, serving({ timeZone: 'UTC', ...budget }))).toEqual([]);
    expect(actions({}, serving(utc))).toEqual([{ type: 'budget', budget: undefined }]);
    expect(actions({}, serving())).toEqual([]);
    expect(actions({ budget, timeZone: 'Europe/Berln' }, serving(utc))).toEqual([]);
    expect(actions({ timeZone: 'Europe/Berln' }, serving(utc))).toEqual([{ type: 'budget', budget: undefined }]);
    expect(actions({ budget }, unavailable)).toEqual([]);
    expect(plan(agentWith({ budget })).actions.map(({ type }) => type)).toEqual(['addFinalizer', 'serve', 'budget']);
    const hashes = [{}, { budget }].map((spec) => compileRevision(agentWith(spec), [], worldOf()).revision);
    expect(new Set(hashes).size).toBe(1);
  });

  it('does nothing when it serves already', () => {
    const { revision } = compileRevision(agentWith(), [], worldOf());
    const result = plan(agentWith(), {}, { state: 'known', serving: { revision, since: '2026-01-01T00:00:00Z' } });
    expect(result.actions).toEqual([]);
    expect(result.status).toMatchObject({ desiredRevision: revision, servingRevision: revision, servingSince: '2026-01-01T00:00:00Z' });
  });

  it('follows changes of a suspended tool', () => {
    const revisions = ['Opens the door.', 'Opens the gate.'].map((description) => {
      const tools = [toolNamed('door', { suspend: true, description })];
      return plan(agentWith(), { tools }).status?.desiredRevision;
    });
    expect(new Set(revisions).size).toBe(2);
  });

  it('does not touch Postgres for a revision that it turned down', () => {
    const { revision } = compileRevision(agentWith(), [], worldOf());
    const result = plan(agentWith(), {}, { state: 'known', rejected: { revision, message: 'the revision cannot be stored: too large' } });
    expect(result.actions).toEqual([]);
    expect(findCondition(result, 'Stalled')).toMatchObject({
      reason: 'RevisionRejected',
      message: 'the revision cannot be stored: too large',
    });
  });

  it('believes the status while Postgres is unavailable', () => {
    const { revision } = compileRevision(agentWith(), [], worldOf());
    const served = { ...agentWith(), status: { servingRevision: revision, servingSince: '2026-01-01T00:00:00Z' } } as Agent;
    expect(findCondition(plan(served, {}, unavailable), 'Ready')?.status).toBe('True');
    const changed = { ...served, spec: { ...served.spec, welcomeMessage: 'Hello' } };
    const result = plan(changed, {}, unavailable);
    expect(result.actions).toEqual([]);
    expect(findCondition(result, 'Reconciling')?.status).toBe('True');
    expect(findCondition(result, 'Synced')?.reason).toBe('StoreUnavailable');
    expect(result.status).toMatchObject({ servingRevision: revision });
  });

  it('refuses more tools than a model can be offered', () => {
    const tools = Array.from({ length: TOOLS_LIMIT + 1 }, (_, index) => toolNamed(`tool_${index}`));
    const result = plan(agentWith(), { tools });
    expect(findCondition(result, 'Accepted')?.reason).toBe('TooManyTools');
    expect(result.status?.tools?.total).toBe(TOOLS_LIMIT + 1);
    expect(result.status?.tools?.names).toHaveLength(64);
  });

  it('compiles no more tools than one revision takes, and each of them once', async () => {
    let read = 0;
    const tools = Array.from({ length: 40 }, (_, index) => {
      const tool = toolNamed(`tool_${index + 10}`);
      const http = Object.defineProperty({ ...tool.spec.custom?.http }, 'fixedParams', {
        enumerable: true,
        get: () => ((read += 1), { text: { value: 'x'.repeat(32_000) } }),
      });
      return { ...tool, spec: { ...tool.spec, custom: { ...tool.spec.custom, http } } } as Tool;
    });
    await prepareTools(tools, worldOf({ tools }));
    const prepared = read;
    const result = plan(agentWith(), { tools });
    expect(findCondition(result, 'Accepted')).toMatchObject({
      reason: 'TooManyTools',
      message: expect.stringContaining('1048576 characters'),
    });
    const readOnce = read;
    plan(agentWith(), { tools });
    expect([readOnce, read]).toEqual([prepared, prepared]);
    expect(readOnce).toBeLessThan(5 * tools.length);
    expect(plan(agentWith(), { tools: tools.slice(0, 30) }).actions.map(({ type }) => type)).toEqual(['addFinalizer', 'serve']);
  });

  it('has its tools checked and serialised in slices', async () => {
    const tools = Array.from({ length: 40 }, (_, index) => toolNamed(`tool_${index + 10}`));
    expect(await countTurns(() => prepareTools(tools, worldOf({ tools })))).toBeGreaterThanOrEqual(tools.length);
  });

  it('serves without a tool whose parameters are nested too deeply, and names it', () => {
    let parameters: object = { type: 'object' };
    for (let level = 0; level < 9_000; level += 1) parameters = { not: parameters };
    const tools = [
      toolNamed('sound'),
      toolNamed('deep', { custom: { function: { name: 'deep', parameters }, http: { url: 'https://a.example/' } } }),
    ];
    const before = plan(agentWith(), { tools: tools.slice(0, 1) });
    const serving = { revision: before.status?.desiredRevision ?? '', since: '2026-01-01T00:00:00Z' };
    const result = plan(agentWith(), { tools }, { state: 'known', serving });
    expect(findCondition(result, 'ResolvedRefs')).toMatchObject({
      reason: 'ToolNotUsable',
      message: expect.stringContaining('Tool acme/deep is not usable: spec.custom.function.parameters is nested more than 32 levels deep'),
    });
    expect(result.actions).toEqual([]);
    expect(result.status).toMatchObject({ servingRevision: serving.revision, tools: { total: 2, names: ['deep', 'sound'] } });
  });

  it('names a request body that is nested too deeply', () => {
    let body: object = {};
    for (let level = 0; level < 9_000; level += 1) body = { a: body };
    const result = plan(agentWith({ dynamicData: [{ name: 'crm', url: 'https://a.example/', body, response: [] }] }));
    expect(findCondition(result, 'Accepted')).toMatchObject({ reason: 'InvalidSpec', message: expect.stringContaining('levels deep') });
  });

  it('names the field that Postgres could not keep, and stores nothing', () => {
    const result = plan(agentWith({ welcomeMessage: 'Hello\0' }));
    expect(result.actions).toEqual([]);
    expect(findCondition(result, 'Stalled')).toMatchObject({
      reason: 'InvalidSpec',
      message: 'spec.welcomeMessage holds the character U+0000; take it out',
    });
  });

  it('names a time zone that does not exist, also where a budget counts days in it', () => {
    const agent = agentWith({ timeZone: 'Europe/Berln', budget: { daily: '25.00', currency: 'EUR' } });
    const budget = { spent: 0n, pricesIn: 'EUR' };
    const result = planAgent(agent, worldOf(), { state: 'known' }, { ...options, budget });
    expect(findCondition(result, 'Accepted')).toMatchObject({ status: 'False', reason: 'InvalidTimeZone' });
    expect(findCondition(result, 'BudgetExceeded')).toBeUndefined();
  });

  it.each([
    ['larger than 128 KiB', { data: { prompt: 'x'.repeat(128 * 1024 + 1) } }],
    ['not text', { data: {} }],
    ['without the character U+0000', { data: { prompt: 'You are\0' } }],
  ])('refuses a prompt that is %s', (words, { data }) => {
    const agent = agentWith({ llm: { model: 'm', systemPromptFrom: { configMapKeyRef: { name: 'texts', key: 'prompt' } } } });
    const result = plan(agent, {
      configMaps: [{ namespace: 'acme', name: 'texts', uid: 'u', resourceVersion: '1', keys: ['prompt'], data }],
    });
    expect(findCondition(result, 'ResolvedRefs')).toMatchObject({ reason: 'PromptTooLarge', message: expect.stringContaining(words) });
  });
});

const deleting = (secondsAgo: number, spec: object = {}): Agent =>
  agentWith(spec, { finalizers: ['parley.dev/finalizer'], deletionTimestamp: new Date(options.now - secondsAgo * 1_000).toISOString() });

it.each([
  ['cartesia', '1', 'the spec is consistent; spec.textToSpeech.temperature has no effect with cartesia'],
  ['cartesia', '0.50', 'the spec is consistent'],
  ['elevenlabs', '1', 'the spec is consistent'],
])('says which setting does nothing: %s with a temperature of %s', (provider, temperature, message) => {
  expect(findCondition(plan(agentWith({ textToSpeech: { provider, temperature } })), 'Accepted')).toMatchObject({ message });
});

describe('an agent that lacks something it can do without', () => {
  const withBase = agentWith({ knowledgeBaseRef: { name: 'faq' } });
  const base = storedObject('KnowledgeBase', 'faq', {}) as KnowledgeBase;
  const serving = { revision: 'an earlier one', since: '2026-01-01T00:00:00Z' };
  const served = { state: 'known', serving } as const;
  const configOf = ({ actions }: ReturnType<typeof plan>) =>
    actions.flatMap((action) => (action.type === 'serve' ? [action.config] : []))[0];

  it('waits for it until it has served', () => {
    const result = plan(withBase);
    expect(result.actions).toEqual([]);
    expect(findCondition(result, 'Synced')?.reason).toBe('RevisionWithheld');
  });

  it('goes on without its knowledge base, and says so', () => {
    expect(configOf(plan(withBase, {}, served))).toMatchObject({ name: 'reception', knowledgeBase: null });
    const { rest } = degradationOf(withBase, [], worldOf());
    const { revision } = compileRevision(rest.agent, rest.tools, worldOf());
    const result = plan(withBase, {}, { state: 'known', serving: { ...serving, revision } });
    expect(result.actions).toEqual([]);
    expect(findCondition(result, 'Synced')).toMatchObject({ status: 'False', reason: 'RevisionReduced' });
    expect(findCondition(result, 'Ready')).toMatchObject({
      reason: 'KnowledgeBaseNotFound',
      message: expect.stringMatching(/\(calls continue without it\)$/),
    });
    expect(result.status?.desiredRevision).not.toBe(result.status?.servingRevision);
  });

  it('goes on without an agent that it hands over to, and keeps the others', () => {
    const handoffs = ['gone', 'billing'].map((name) => ({ agentRef: { name }, when: 'it suits' }));
    const desk = agentWith({ handoffs });
    const billing = storedObject('Agent', 'billing', agentWith().spec) as Agent;
    expect(plan(desk, { agents: [billing] }).actions).toEqual([]);
    const result = plan(desk, { agents: [billing] }, served);
    expect(configOf(result)?.agent.handoffs).toEqual(handoffs.slice(1));
    expect(findCondition(result, 'ResolvedRefs')).toMatchObject({
      reason: 'AgentNotFound',
      message: 'Agent acme/gone does not exist; create it or change spec.handoffs[0].agentRef',
    });
    const leaving = { ...billing, metadata: { ...billing.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(configOf(plan(desk, { agents: [leaving] }, served))?.agent.handoffs).toEqual([]);
  });

  it('goes on without it only where its tests have passed without it', () => {
    const newest = { verdict: 'passed', message: null, runId: 'run_1', finishedAt: new Date(0), errors: 0 } as const;
    const { rest } = degradationOf(withBase, [], worldOf());
    const actionsAfter = (tested: Agent) => {
      const { configHash } = compileRevision(tested, [], worldOf());
      const evidence = [{ configHash, testName: 'hours', digest: testDigest(hours.spec), newest }];
      return plan(withBase, { agentTests: [hours] }, { ...served, evidence }).actions.map(({ type }) => type);
    };
    expect(actionsAfter(withBase)).toEqual(['addFinalizer', 'test']);
    expect(actionsAfter(rest.agent)).toEqual(['addFinalizer', 'serve']);
  });

  it('has it again when it is back', () => {
    expect(configOf(plan(withBase, { knowledgeBases: [base] }, served))).toMatchObject({ knowledgeBase: 'faq' });
  });

  it('goes on without a tool that cannot be used, and with the others', () => {
    const headers = [{ name: 'x', valueFrom: { secretKeyRef: { name: 'gone', key: 'k' } } }];
    const lame = toolNamed('lame', { custom: { function: { name: 'lame' }, http: { url: 'https://api.example.com/', headers } } });
    expect(configOf(plan(agentWith(), { tools: [lame, toolNamed('sound')] }, served))?.tools.map(({ name }) => name)).toEqual(['sound']);
  });

  it('serves a rotated Secret at once meanwhile, also where new revisions are tried first', () => {
    const release = { canary: { percent: 10, for: '30m', deadline: '168h', minCalls: 20 } };
    const agent = agentWith({ release, llm: { model: 'm', apiKeySecretRef: { name: 'keys', key: 'k' } } });
    const lame = toolNamed('lame', { custom: { function: { name: 'lame', parameters: { type: 'string' } }, http: { url: 'https://a' } } });
    const before = compileRevision(agent, [], worldOf({ secrets: [secret('1')] }));
    const state = { version: 1, ...before, activeSince: new Date(0), canary: null, rolledBack: [], retiredAt: null, promoted: null };
    const result = plan(agent, { tools: [lame], secrets: [secret('2')] }, { ...served, release: { state } });
    const { revision, configHash } = compileRevision(agent, [], worldOf({ secrets: [secret('2')] }));
    expect(result.actions).toContainEqual(expect.objectContaining({ type: 'serve', revision, configHash }));
  });

  it('keeps a lookup whose header is missing: one that fails keeps no call from beginning', () => {
    const headers = [{ name: 'x', valueFrom: { secretKeyRef: { name: 'gone', key: 'k' } } }];
    const result = plan(agentWith({ dynamicData: [{ name: 'crm', url: 'https://crm.example.com', headers }] }), {}, served);
    expect(configOf(result)?.agent.dynamicData).toHaveLength(1);
  });

  it.each(['llm', 'speechToText', 'textToSpeech'] as const)('goes on without the key of a fallback of %s, and says so', (part) => {
    const { spec } = agentWith();
    const fallbacks = [{ provider: 'openai', model: 'm', apiKeySecretRef: { name: 'gone', key: 'k' } }];
    const agent = agentWith({ [part]: { ...spec[part], fallbacks } });
    expect(configOf(plan(agent, {}, served))?.agent[part].fallbacks).toHaveLength(1);
    const { revision } = compileRevision(agent, [], worldOf());
    const result = plan(agent, {}, { state: 'known', serving: { ...serving, revision } });
    expect(findCondition(result, 'Synced')?.status).toBe('True');
    expect(findCondition(result, 'Ready')).toMatchObject({
      reason: 'SecretNotFound',
      message: `Secret acme/gone does not exist; create it or change spec.${part}.fallbacks[0].apiKeySecretRef (calls continue without it)`,
    });
    const secrets = [{ ...secret('1'), name: 'gone' }];
    expect(compileRevision(agent, [], worldOf({ secrets })).revision).not.toBe(revision);
  });

  it.each([
    ['the key of a provider', { llm: { model: 'm', apiKeySecretRef: { name: 'gone', key: 'k' } } }],
    ['the system prompt', { llm: { model: 'm', systemPromptFrom: { configMapKeyRef: { name: 'gone', key: 'k' } } } }],
  ])('keeps its last sound revision without %s', (_what, spec) => {
    const result = plan(agentWith({ ...spec, knowledgeBaseRef: { name: 'faq' } }), {}, served);
    expect(result.actions).toEqual([]);
    expect(findCondition(result, 'Synced')?.reason).toBe('RevisionWithheld');
    expect(findCondition(result, 'Ready')?.message).toContain('(calls continue with the last valid revision)');
  });
});

describe('how a release goes', () => {
  const { revision, configHash } = compileRevision(agentWith(), [], worldOf());
  const since = '2026-01-01T00:00:00Z';
  const state = {
    version: 1,
    revision: 'b'.repeat(64),
    configHash: 'former',
    activeSince: new Date(0),
    canary: null,
    rolledBack: [],
    retiredAt: null,
    promoted: null,
  };
  const canary = { revision, configHash, percent: 10, since: new Date(0) };
  const rolledBack = [{ revision, configHash, changed: null, aborted: false, reason: 'rude', by: 'ada', at: '2026-01-01T00:00:00.000Z' }];
  const serves = (serving: string, more: object = {}): StoreView => ({
    state: 'known',
    serving: { revision: serving, since },
    release: { state: { ...state, revision: serving, ...more } },
  });
  const withCanary = { release: { canary: { percent: 10, for: '30m', deadline: '168h', minCalls: 20 } } };
  const lost = { knowledgeBaseRef: { name: 'gone' } };

  it.each([
    ['what the spec asks for serves', {}, serves(revision, { configHash }), 'False', 'RevisionServed'],
    ['a canary runs', withCanary, serves(state.revision, { canary }), 'True', 'CanaryRunning'],
    ['it was rolled back', {}, serves(state.revision, { rolledBack }), 'False', 'RolledBack'],
    ['a pin decides', { release: { pin: { revision: state.revision } } }, serves(state.revision), 'False', 'RevisionPinned'],
    ['something optional is missing', lost, serves(revision, { configHash }), 'False', 'RevisionReduced'],
    ['the spec is not accepted', { language: 'en-US-oxendict-x' }, serves(state.revision), 'False', 'RevisionWithheld'],
    ['it is suspended', { suspend: true }, serves(revision), 'Unknown', 'Suspended'],
    ['it is suspended with a canary', { ...withCanary, suspend: true }, serves(state.revision, { canary }), 'True', 'CanaryRunning'],
  ] as const)('is said in Progressing: %s', (_when, spec, store, status, reason) => {
    expect(findCondition(plan(agentWith(spec), {}, store), 'Progressing')).toMatchObject({ status, reason });
  });

  it('is said of no agent that has never served', () => {
    expect(findCondition(plan(agentWith()), 'Progressing')).toBeUndefined();
    expect(findCondition(plan(agentWith({ suspend: true })), 'Progressing')).toBeUndefined();
  });

  it('is said as it was while Postgres is unavailable', () => {
    const reported = (reason: string) => {
      const conditions = [{ type: 'Progressing', status: 'True', reason, message: 'm', lastTransitionTime: since } as const];
      return { ...agentWith(), status: { servingRevision: revision, conditions } } as Agent;
    };
    expect(findCondition(plan(reported('CanaryRunning'), {}, unavailable), 'Progressing')).toMatchObject({ status: 'True', message: 'm' });
    expect(findCondition(plan(reported('RolledBack'), {}, unavailable), 'Progressing')?.reason).toBe('RolledBack');
    expect(findCondition(plan(reported('Suspended'), {}, unavailable), 'Progressing')?.reason).toBe('RevisionServed');
  });

  it('leaves Ready and Synced True while a canary runs', () => {
    const result = plan(agentWith(withCanary), {}, serves(state.revision, { canary }));
    expect(findCondition(result, 'Ready')?.status).toBe('True');
    expect(findCondition(result, 'Synced')).toMatchObject({ status: 'True', reason: 'CanaryRunning' });
  });

  it('is held by a pin that names nothing, whatever the tests say', () => {
    const agent = agentWith({ release: { pin: { revision: 'c'.repeat(64) } } });
    const result = plan(agent, { agentTests: [hours] }, { ...serves(state.revision), evidence: [] } as StoreView);
    expect(findCondition(result, 'Synced')).toMatchObject({ status: 'False', reason: 'PinNotFound' });
    expect(result.actions.map(({ type }) => type)).not.toContain('serve');
  });
});

describe('deletion', () => {
  it('takes the agent out of service, then lets it go', () => {
    expect(plan(deleting(0)).actions.map(({ type }) => type)).toEqual(['retire', 'dropFinalizer']);
    expect(plan(agentWith({}, { deletionTimestamp: '2026-06-01T00:00:00Z' })).actions).toEqual([]);
  });

  it('waits for Postgres for a bounded time, and says until when', () => {
    const result = plan(deleting(20), {}, unavailable);
    expect(result).toMatchObject({ actions: [], requeueAfterMs: 40_000 });
    expect(findCondition(result, 'Ready')).toMatchObject({ reason: 'Deleting', message: expect.stringContaining('2026-06-01T12:00:40Z') });
  });

  it.each([
    ['the time is up', deleting(61)],
    ['its policy is Orphan', deleting(1, { deletionPolicy: 'Orphan' })],
  ])('lets go when %s, and says what stays behind', (_when, agent) => {
    const result = plan(agent, {}, unavailable);
    expect(result.actions.map(({ type }) => type)).toEqual(['dropFinalizer']);
    expect(result.notices).toMatchObject([{ type: 'Warning', reason: 'Retained' }]);
  });
});

const secret = (value: string, resourceVersion = '1') => ({
  namespace: 'acme',
  name: 'keys',
  uid: 'u',
  resourceVersion,
  keys: ['k', 'other'],
  values: { k: value, other: resourceVersion },
});

describe('the revision', () => {
  const withSecret = agentWith({ llm: { model: 'm', apiKeySecretRef: { name: 'keys', key: 'k' } } });

  it('changes with the value of a Secret, its configHash does not; another key and metadata change nothing', () => {
    const [one, two, touched] = [secret('1'), secret('2'), { ...secret('1', '2'), uid: 'again' }].map((each) =>
      compileRevision(withSecret, [], worldOf({ secrets: [each] })),
    );
    expect(one?.revision).not.toBe(two?.revision);
    expect(one?.configHash).toBe(two?.configHash);
    expect(touched).toEqual(one);
  });

  it('changes with the name that people see, its configHash does not', () => {
    const [one, two] = ['Desk', 'Front desk'].map((displayName) => compileRevision(agentWith({ displayName }), [], worldOf()));
    expect(one?.revision).not.toBe(two?.revision);
    expect(one?.configHash).toBe(two?.configHash);
  });

  it('is the same in another workspace: a label is no part of what calls do', () => {
    const agent = agentWith();
    const labelled = { ...agent, metadata: { ...agent.metadata, labels: { 'parley.dev/workspace': 'sales' } } };
    const [without, within] = [agent, labelled].map((each) => compileRevision(each, [], worldOf()));
    expect(within?.revision).toBe(without?.revision);
  });

  it('is the same for the same prompt, inline or from a ConfigMap', () => {
    const configMaps = [
      { namespace: 'acme', name: 'texts', uid: 'u', resourceVersion: '1', keys: ['prompt'], data: { prompt: 'Be kind.' } },
    ];
    const from = agentWith({ llm: { model: 'm', systemPromptFrom: { configMapKeyRef: { name: 'texts', key: 'prompt' } } } });
    const inline = agentWith({ llm: { model: 'm', systemPrompt: 'Be kind.' } });
    expect(compileRevision(from, [], worldOf({ configMaps })).revision).toBe(compileRevision(inline, [], worldOf()).revision);
  });

  it('does not change when a tool is attached to another agent too, or an owner adds to a list in another order', () => {
    const narrow = toolNamed('find');
    const wide = toolNamed('find', { agentRefs: [{ name: 'other' }, { name: 'reception' }] });
    expect(compileRevision(agentWith(), [wide], worldOf()).revision).toBe(compileRevision(agentWith(), [narrow], worldOf()).revision);
    const lookups = [
      { name: 'a', url: 'https://a.example.com' },
      { name: 'b', url: 'https://b.example.com' },
    ];
    expect(compileRevision(agentWith({ dynamicData: lookups }), [], worldOf()).revision).toBe(
      compileRevision(agentWith({ dynamicData: lookups.toReversed() }), [], worldOf()).revision,
    );
    const replacements = [
      { written: 'a', spoken: 'A' },
      { written: 'b', spoken: 'B' },
    ];
    expect(compileRevision(agentWith({ speech: { replacements } }), [], worldOf()).revision).toBe(
      compileRevision(agentWith({ speech: { replacements: replacements.toReversed() } }), [], worldOf()).revision,
    );
    for (const set of ['acknowledgements', 'stopWords'])
      expect(compileRevision(agentWith({ interruptions: { [set]: ['a', 'b'] } }), [], worldOf()).revision).toBe(
        compileRevision(agentWith({ interruptions: { [set]: ['b', 'a'] } }), [], worldOf()).revision,
      );
  });
});
