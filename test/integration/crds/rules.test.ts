/** An object breaks each CEL rule of the schemas, and the API server says exactly what is expected. */
import { describe, expect, it } from 'vitest';

import { checkSpec, testedKinds } from '../../../cli/agent-files/check-object.ts';
import { llmProviders, speechProviders, ttsProviders } from '../../../crds/providers.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { agent, custom, manifestOf, openCluster, schemaNodes, webhook, type ManifestFields } from './support.ts';

interface Row {
  /** Node that has the rule. */
  readonly rule: string;
  readonly spec: ManifestFields;
  /** Spec that is applied first: for rules that compare with what is stored. */
  readonly before?: ManifestFields;
  /** The server's answer, `field: message`. */
  readonly answer: string;
}

const secret = { name: 'n', key: 'k' };
const header = { name: 'X-A', value: 'v' };
const twoSpellings = [header, { name: 'x-a', value: 'w' }];
const sameHeader = 'must not name a header twice: upper and lower case are the same';
const mcp = (fields: ManifestFields): ManifestFields => ({ type: 'MCP', mcp: { url: 'https://example.com/mcp', ...fields } });
const dynamicData = (fields: ManifestFields): ManifestFields =>
  agent({ dynamicData: [{ name: 'a', url: 'https://example.com', ...fields }] });
const agentTest = (fields: ManifestFields): ManifestFields => ({
  agentRefs: [{ name: 'a' }],
  type: 'Conversation',
  conversation: [{ type: 'User', user: 'Hi' }],
  ...fields,
});
/** Each type of a union lacks its member once. */
const withoutMembers = (rule: string, types: readonly string[], spec: (item: ManifestFields) => ManifestFields): readonly Row[] =>
  types.map((type) => ({
    rule,
    spec: spec({ type }),
    answer: `${rule.replace(/^\w+\./, '').replaceAll('[]', '[0]')}: set ${type.charAt(0).toLowerCase()}${type.slice(1)} with type ${type}, and with no other type`,
  }));
const source = (fields: ManifestFields): ManifestFields => ({ sources: [{ name: 'a', ...fields }] });
const configMap = { type: 'ConfigMap', configMap: secret };
const longKey = 'k'.repeat(129);

const between = (
  rule: string,
  min: string,
  max: string,
  under: string,
  over: string,
  spec: (value: string) => ManifestFields,
  field = rule.replace(/^\w+\./, '').replaceAll('[]', '[0]'),
): readonly Row[] => [under, over].map((value) => ({ rule, spec: spec(value), answer: `${field}: must be between ${min} and ${max}` }));

const decimals = (rule: string, spec: (value: string) => ManifestFields) => between(rule, '0', '2', '-0.1', '2.01', spec);

const oneOfHeader = 'set exactly one of value and valueFrom';
const reserved =
  'name is reserved: it can be none of host, connection, content-length, expect, keep-alive, te, trailer, transfer-encoding, upgrade, content-type, user-agent, nor begin with proxy- or webhook-';
const sendEmail = { sendEmail: { from: 'a@example.com', passwordSecretRef: secret } };
const sipMember = 'set sip with type SIP, and with no other type';
const keys = 'keys may have at most 128 characters';

const rows: readonly Row[] = [
  {
    rule: 'Agent.spec.llm',
    spec: agent({ llm: { model: 'm', systemPrompt: 'p', systemPromptFrom: { configMapKeyRef: secret } } }),
    answer: 'spec.llm: set at most one of systemPrompt and systemPromptFrom',
  },
  {
    rule: 'Agent.spec.llm',
    spec: agent({ llm: { model: 'm', provider: 'openai_compatible' } }),
    answer: 'spec.llm.baseURL: Required value: baseURL is required for provider openai_compatible',
  },
  {
    rule: 'Agent.spec.llm.fallbacks[]',
    spec: agent({ llm: { model: 'm', fallbacks: [{ model: 'm', provider: 'openai_compatible' }] } }),
    answer: 'spec.llm.fallbacks[0].baseURL: Required value: baseURL is required for provider openai_compatible',
  },
  {
    rule: 'Agent.spec.handoffs',
    spec: agent({ handoffs: ['all day', 'at night'].map((when) => ({ agentRef: { name: 'b' }, when })) }),
    answer: 'spec.handoffs: must not name an agent twice',
  },
  {
    rule: 'Agent.spec.handoffs[].carry',
    spec: agent({ handoffs: [{ agentRef: { name: 'b' }, when: 'all day', carry: ['order', 'order'] }] }),
    answer: 'spec.handoffs[0].carry: must not name anything twice',
  },
  ...between('Agent.spec.interruptions.minSpeechDuration', '0s', '15s', '0s', '15001ms', (minSpeechDuration) =>
    agent({ interruptions: { minSpeechDuration } }),
  ).slice(1),
  ...between('Agent.spec.turnDetection.endOfSpeechDelay', '0s', '15s', '0s', '1m', (endOfSpeechDelay) =>
    agent({ turnDetection: { endOfSpeechDelay } }),
  ).slice(1),
  ...between('Agent.spec.call.endAfterSilence', '10s', '600s', '9999ms', '601s', (endAfterSilence) => agent({ call: { endAfterSilence } })),
  ...between('Agent.spec.call.silenceReminder.reminders[].after', '1s', '600s', '999ms', '601s', (after) =>
    agent({ call: { silenceReminder: { reminders: [{ after }] } } }),
  ),
  ...between('Agent.spec.call.maxDuration', '30s', '7200s', '29s', '2h1ms', (maxDuration) => agent({ call: { maxDuration } })),
  ...between('Agent.spec.call.voicemailDetection.timeout', '1s', '300s', '999ms', '6m', (timeout) =>
    agent({ call: { voicemailDetection: { timeout } } }),
  ),
  ...between('Agent.spec.recording.retention', '24h', '87600h', '23h', '87601h', (retention) => agent({ recording: { retention } })),
  {
    rule: 'Agent.spec.redaction',
    spec: agent({ redaction: { byModel: true } }),
    answer: 'spec.redaction: set kinds or patterns, or remove redaction',
  },
  {
    rule: 'Agent.spec.redaction',
    spec: agent({ redaction: { kinds: ['Card', 'Address'] } }),
    answer: 'spec.redaction.kinds: Address and Name have no shape: set byModel to true, or remove them',
  },
  ...between('Agent.spec.dynamicData[].cache', '1s', '24h', '999ms', '25h', (cache) => dynamicData({ cache })),
  ...between('Agent.spec.textToSpeech.speed', '0.5', '2', '0.49', '2.1', (speed) =>
    agent({ textToSpeech: { provider: 'elevenlabs', speed } }),
  ),
  ...decimals('Agent.spec.textToSpeech.volume', (volume) => agent({ textToSpeech: { provider: 'elevenlabs', volume } })),
  ...decimals('Agent.spec.llm.temperature', (temperature) => agent({ llm: { model: 'm', temperature } })),
  ...decimals('Agent.spec.llm.fallbacks[].temperature', (temperature) =>
    agent({ llm: { model: 'm', fallbacks: [{ provider: 'openai', model: 'm', temperature }] } }),
  ),
  ...decimals('Agent.spec.textToSpeech.temperature', (temperature) => agent({ textToSpeech: { provider: 'cartesia', temperature } })),
  ...decimals('Agent.spec.ambientSound.volume', (volume) => agent({ ambientSound: { volume } })),
  ...between('Agent.spec.release.canary.for', '1s', '168h', '999ms', '169h', (time) =>
    agent({ release: { canary: { percent: 10, for: time } } }),
  ),
  ...between('Agent.spec.release.canary.deadline', '1m', '720h', '59s', '721h', (time) =>
    agent({ release: { canary: { percent: 10, deadline: time } } }),
  ),
  ...between('Agent.spec.release.canary.abortOn.p95VoiceToVoice', '1ms', '60s', '0ms', '61s', (p95VoiceToVoice) =>
    agent({ release: { canary: { percent: 10, abortOn: { p95VoiceToVoice } } } }),
  ),
  ...between('Agent.spec.release.canary.abortOn.analysis.below', '-1000000', '1000000', '-1000000.5', '1000001', (below) =>
    agent({ release: { canary: { percent: 10, abortOn: { analysis: { name: 'a', below } } } } }),
  ),
  {
    rule: 'Agent.spec.release.canary.abortOn',
    spec: agent({ release: { canary: { percent: 10, abortOn: {} } } }),
    answer: 'spec.release.canary.abortOn: set at least one of errorPercent, p95VoiceToVoice and analysis, or remove abortOn',
  },
  ...between('Agent.spec.dynamicData[].timeout', '1ms', '30s', '0ms', '31s', (timeout) => dynamicData({ timeout })),
  {
    rule: 'Agent.spec.dynamicData[].headers[]',
    spec: dynamicData({ headers: [{ name: 'X-A' }] }),
    answer: `spec.dynamicData[0].headers[0]: ${oneOfHeader}`,
  },
  {
    rule: 'Agent.spec.dynamicData[].headers[]',
    spec: dynamicData({ headers: [{ ...header, valueFrom: { secretKeyRef: secret } }] }),
    answer: `spec.dynamicData[0].headers[0]: ${oneOfHeader}`,
  },
  {
    rule: 'Agent.spec.postCallAnalysis[]',
    spec: agent({ postCallAnalysis: [{ name: 'a', type: 'Enum' }] }),
    answer: 'spec.postCallAnalysis[0]: set choices with type Enum, and with no other type',
  },
  {
    rule: 'Agent.spec.postCallAnalysis[]',
    spec: agent({ postCallAnalysis: [{ name: 'a', type: 'String', choices: ['b'] }] }),
    answer: 'spec.postCallAnalysis[0]: set choices with type Enum, and with no other type',
  },
  ...Object.entries({
    Custom: 'custom',
    MCP: 'mcp',
    SendEmail: 'sendEmail',
    TransferCall: 'transferCall',
    BookCalendar: 'bookCalendar',
    CheckCalendarAvailability: 'checkCalendarAvailability',
  }).map(([type, field]) => ({
    rule: 'Tool.spec',
    spec: { type },
    answer: `spec: set ${field} with type ${type}, and with no other type`,
  })),
  {
    rule: 'Tool.spec',
    spec: { ...custom({}), ...sendEmail },
    answer: 'spec: set sendEmail with type SendEmail, and with no other type',
  },
  {
    rule: 'Tool.spec',
    before: custom({}),
    spec: { type: 'SendEmail', ...sendEmail },
    answer: 'spec.type: type is immutable: delete the object and make a new one',
  },
  {
    rule: 'Tool.spec.custom.http.headers[]',
    spec: custom({ headers: [{ name: 'X-A' }] }),
    answer: `spec.custom.http.headers[0]: ${oneOfHeader}`,
  },
  {
    rule: 'Tool.spec.mcp',
    spec: mcp({ updatePolicy: 'Follow', digest: `sha256:${'a'.repeat(64)}` }),
    answer: 'spec.mcp.digest: digest pins the list of tools: remove it, or the updatePolicy that follows the server',
  },
  {
    rule: 'Agent.spec.dynamicData[].headers',
    spec: dynamicData({ headers: twoSpellings }),
    answer: `spec.dynamicData[0].headers: ${sameHeader}`,
  },
  { rule: 'Tool.spec.custom.http.headers', spec: custom({ headers: twoSpellings }), answer: `spec.custom.http.headers: ${sameHeader}` },
  { rule: 'Tool.spec.mcp.headers', spec: mcp({ headers: twoSpellings }), answer: `spec.mcp.headers: ${sameHeader}` },
  { rule: 'Tool.spec.mcp.headers[]', spec: mcp({ headers: [{ name: 'X-A' }] }), answer: `spec.mcp.headers[0]: ${oneOfHeader}` },
  ...between('Tool.spec.mcp.timeout', '1s', '120s', '999ms', '2m1s', (timeout) => mcp({ timeout })),
  ...between('Tool.spec.custom.http.timeout', '1s', '120s', '999ms', '2m1s', (timeout) => custom({ timeout })),
  {
    rule: 'Tool.spec.custom.http.fixedParams',
    spec: custom({ fixedParams: { [longKey]: {} } }),
    answer: `spec.custom.http.fixedParams: ${keys}`,
  },
  {
    rule: 'Tool.spec.custom.http.runtimeParams',
    spec: custom({ runtimeParams: { [longKey]: {} } }),
    answer: `spec.custom.http.runtimeParams: ${keys}`,
  },
  { rule: 'PhoneNumber.spec', spec: { number: '+15550100', type: 'SIP' }, answer: `spec: ${sipMember}` },
  { rule: 'PhoneNumber.spec', spec: { number: '+15550100', type: 'Native', sip: {} }, answer: `spec: ${sipMember}` },
  {
    rule: 'PhoneNumber.spec',
    spec: { number: '+15550100', type: 'Native', carrier: {} },
    answer: 'spec: carrier belongs to type Carrier: set the type, or remove carrier',
  },
  {
    rule: 'PhoneNumber.spec',
    before: { number: '+15550100', type: 'SIP', sip: {} },
    spec: { number: '+15550100', type: 'Native' },
    answer: 'spec.type: type is immutable: delete the object and make a new one',
  },
  {
    rule: 'PhoneNumber.spec',
    before: { number: '+15550100', type: 'SIP', sip: {} },
    spec: { number: '+15550101', type: 'SIP', sip: {} },
    answer: 'spec.number: number is immutable: delete the object and make a new one',
  },
  {
    rule: 'KnowledgeBase.spec',
    before: { embedding: { profile: 'one' } },
    spec: { embedding: { profile: 'two' } },
    answer: 'spec.embedding: embedding is immutable: vectors of two models cannot be mixed',
  },
  {
    rule: 'KnowledgeBase.spec',
    before: { embedding: { profile: 'one' } },
    spec: {},
    answer: 'spec.embedding: embedding is immutable: vectors of two models cannot be mixed',
  },
  {
    rule: 'KnowledgeBase.spec.chunking',
    spec: { chunking: { maxTokens: 100, overlapTokens: 100 } },
    answer: 'spec.chunking: overlapTokens must be less than maxTokens',
  },
  {
    rule: 'KnowledgeBase.spec.chunking',
    spec: { chunking: { maxTokens: 50 } },
    answer: 'spec.chunking: overlapTokens must be less than maxTokens',
  },
  ...Object.entries({ Website: 'website', ConfigMap: 'configMap' }).map(([type, field]) => ({
    rule: 'KnowledgeBase.spec.sources[]',
    spec: source({ type }),
    answer: `spec.sources[0]: set ${field} with type ${type}, and with no other type`,
  })),
  {
    rule: 'KnowledgeBase.spec.sources[]',
    spec: source({ ...configMap, website: { urls: ['https://example.com'] } }),
    answer: 'spec.sources[0]: set website with type Website, and with no other type',
  },
  ...between('KnowledgeBase.spec.sources[].refreshInterval', '1m', '8760h', '59s', '8761h', (refreshInterval) =>
    source({ ...configMap, refreshInterval }),
  ),
  {
    rule: 'KnowledgeBase.spec.sources[].metadata',
    spec: source({ ...configMap, metadata: { [longKey]: 'v' } }),
    answer: `spec.sources[0].metadata: ${keys}`,
  },
  { rule: 'WebhookSubscription.spec.headers[]', spec: webhook({ headers: [{ name: 'X-A' }] }), answer: `spec.headers[0]: ${oneOfHeader}` },
  ...['Host', 'CONTENT-LENGTH', 'User-Agent', 'Proxy-Authorization', 'Webhook-Signature'].map((name) => ({
    rule: 'WebhookSubscription.spec.headers[]',
    spec: webhook({ headers: [{ name, value: 'v' }] }),
    answer: `spec.headers[0].name: ${reserved}`,
  })),
  ...between('WebhookSubscription.spec.requestTimeout', '100ms', '30s', '99ms', '30500ms', (requestTimeout) => webhook({ requestTimeout })),
  ...between('WebhookSubscription.spec.retryPolicy.delay', '0s', '1h', '0s', '61m', (delay) => webhook({ retryPolicy: { delay } })).slice(
    1,
  ),
  {
    rule: 'Agent.spec.realtime',
    spec: agent({ realtime: { provider: 'openai_compatible', model: 'm' } }),
    answer: 'spec.realtime.baseURL: Required value: baseURL is required for providers other than openai',
  },
  {
    rule: 'Agent.spec.speechToText.keywords',
    spec: agent({ speechToText: { provider: 'deepgram', keywords: ['Aare', 'Basel', 'Aare'] } }),
    answer: 'spec.speechToText.keywords: must not name anything twice',
  },
  {
    rule: 'WebhookSubscription.spec.events',
    spec: webhook({ events: ['Webhook.Test', 'CallHandler.CallEnded', 'Webhook.Test'] }),
    answer: 'spec.events: must not name anything twice',
  },
  {
    rule: 'WebhookSubscription.spec.headers',
    spec: webhook({ headers: twoSpellings }),
    answer: `spec.headers: ${sameHeader}`,
  },
  {
    rule: 'WebhookSubscription.spec.signing',
    spec: webhook({ signing: { mode: 'Secret' } }),
    answer: 'spec.signing: set secretRef with mode Secret, and with no other mode',
  },
  {
    rule: 'WebhookSubscription.spec.signing',
    spec: webhook({ signing: { mode: 'Generated', secretRef: { name: 'a' } } }),
    answer: 'spec.signing: set secretRef with mode Secret, and with no other mode',
  },
  {
    rule: 'WebhookSubscription.spec.scope',
    spec: webhook({ scope: { type: 'AgentRefs', agentRefs: [{ name: 'a' }], workspaces: ['w'] } }),
    answer: 'spec.scope: set workspaces with type Workspaces, and with no other type',
  },
  {
    rule: 'WebhookSubscription.spec.scope',
    spec: webhook({ scope: { type: 'AgentRefs' } }),
    answer: 'spec.scope: set agentRefs with type AgentRefs, and with no other type',
  },
  ...withoutMembers('AgentTest.spec', ['Conversation', 'SimulatedUser'], (item) => ({ agentRefs: [{ name: 'a' }], ...item })),
  {
    rule: 'AgentTest.spec',
    spec: agentTest({ simulatedUser: { goal: 'g' } }),
    answer: 'spec: set simulatedUser with type SimulatedUser, and with no other type',
  },
  {
    rule: 'AgentTest.spec',
    spec: agentTest({ repeat: 2, passAtLeast: 3 }),
    answer: 'spec.passAtLeast: passAtLeast must not be more than repeat',
  },
  ...withoutMembers('AgentTest.spec.tools[]', ['Error', 'Sequence'], (item) => agentTest({ tools: [{ name: 'f', ...item }] })),
  ...withoutMembers('AgentTest.spec.tools[].sequence[]', ['Error'], (item) =>
    agentTest({ tools: [{ name: 'f', type: 'Sequence', sequence: [item] }] }),
  ),
  ...between('AgentTest.spec.tools[].delay', '0s', '60s', '-1s', '61s', (delay) =>
    agentTest({ tools: [{ name: 'f', type: 'Error', error: 'e', delay }] }),
  ).slice(1),
  ...withoutMembers('AgentTest.spec.conversation[]', ['User', 'Keys'], (item) => agentTest({ conversation: [item] })),
  ...withoutMembers('AgentTest.spec.conversation[].expect[]', ['Answer', 'Tool', 'Handoff', 'Judge', 'Within', 'Ends'], (item) =>
    agentTest({ conversation: [{ type: 'User', user: 'Hi', expect: [item] }] }),
  ),
  {
    rule: 'AgentTest.spec.conversation[].expect[].answer',
    spec: agentTest({ conversation: [{ type: 'User', user: 'Hi', expect: [{ type: 'Answer', answer: {} }] }] }),
    answer: 'spec.conversation[0].expect[0].answer: set at least one of contains, notContains, matches, maxWords and language',
  },
  ...between('AgentTest.spec.conversation[].expect[].within', '1ms', '10m', '0s', '11m', (within) =>
    agentTest({ conversation: [{ type: 'User', user: 'Hi', expect: [{ type: 'Within', within }] }] }),
  ),
  ...withoutMembers('AgentTest.spec.atEnd[]', ['NeverCalled', 'Called', 'Handoff', 'Analysis', 'Judge', 'Ends'], (item) =>
    agentTest({ atEnd: [item] }),
  ),
  {
    rule: 'AgentTest.spec.judge',
    spec: agentTest({ judge: { provider: 'openai_compatible', model: 'm' } }),
    answer: 'spec.judge.baseURL: Required value: baseURL is required for provider openai_compatible',
  },
  {
    rule: 'AgentTest.spec.simulatedUser.llm',
    spec: {
      agentRefs: [{ name: 'a' }],
      type: 'SimulatedUser',
      simulatedUser: { goal: 'g', llm: { provider: 'openai_compatible', model: 'm' } },
    },
    answer: 'spec.simulatedUser.llm.baseURL: Required value: baseURL is required for provider openai_compatible',
  },
  ...between('AgentTest.spec.timeout', '1s', '30m', '999ms', '31m', (timeout) => agentTest({ timeout })),
];

const kindOf = (rule: string) => rule.slice(0, rule.indexOf('.'));
const messageOf = (answer: string) => answer.replace(/^\S+: (Required value: )?/, '');

describe('CEL rules on a real API server', () => {
  const cluster = suiteFixture(() => openCluster('rules'));

  it('each have a row in this table', () => {
    const declared = schemaNodes().flatMap(({ path, schema }) =>
      (schema['x-kubernetes-validations'] ?? []).map((rule) => `${path}: ${rule.message}`),
    );
    const tested = new Set(rows.map((row) => `${row.rule}: ${messageOf(row.answer)}`));
    expect(declared.length).toBeGreaterThan(25);
    expect(declared.filter((rule) => !tested.has(rule))).toEqual([]);
  });

  it.each(rows.map((row, index) => [`${row.rule} ← ${JSON.stringify(row.spec).slice(0, 120)}`, row, index] as const))(
    '%s',
    async (_title, row, index) => {
      const kind = kindOf(row.rule);
      const name = `row-${index}`;
      if (row.before !== undefined) await cluster.apply(manifestOf(kind, name, row.before));
      expect(await cluster.refusal(manifestOf(kind, name, row.spec))).toEqual([row.answer]);
      // `parley test` says the same without a server.
      const definition = testedKinds.find(({ descriptor }) => descriptor.kind === kind);
      if (definition === undefined || row.before !== undefined) return;
      const path = row.answer.slice(0, row.answer.indexOf(':'));
      expect(checkSpec(definition, row.spec).problems).toEqual([{ path, message: messageOf(row.answer) }]);
    },
  );

  it.each([
    ['0s', '15s'],
    ['0ms', '0m15s'],
    ['14999ms', '0h0m15s'],
  ])('durations are taken at both ends of their range: %s, %s', async (endOfSpeechDelay, minSpeechDuration) => {
    const spec = agent({ turnDetection: { endOfSpeechDelay }, interruptions: { minSpeechDuration } });
    const stored = await cluster.apply(manifestOf('Agent', 'ends', spec));
    expect(stored.spec).toMatchObject({ turnDetection: { endOfSpeechDelay }, interruptions: { minSpeechDuration } });
  });

  it.each(['10', '1d', '', '-1s', '1.5s', ' 10s', '1h 30m', '100000s', '1h1m1s1ms1s'])(
    '%j is no duration, and only the pattern says so',
    async (maxDuration) => {
      const answer = await cluster.refusal(manifestOf('Agent', 'pattern', agent({ call: { maxDuration } })));
      expect(answer).toEqual([`spec.call.maxDuration: spec.call.maxDuration in body should match '^([0-9]{1,5}(h|m|s|ms)){1,4}$'`]);
    },
  );

  it('the longest duration is refused with the range', async () => {
    const answer = await cluster.refusal(manifestOf('Agent', 'huge', agent({ call: { maxDuration: '99999h' } })));
    expect(answer).toEqual(['spec.call.maxDuration: must be between 30s and 7200s']);
  });

  it.each(['1e0', '.5', '1.', '', ' 1', '+1', 'hot'])('%j is no decimal number, and only the pattern says so', async (temperature) => {
    const answer = await cluster.refusal(manifestOf('Agent', 'pattern', agent({ llm: { model: 'm', temperature } })));
    expect(answer).toEqual([String.raw`spec.llm.temperature: spec.llm.temperature in body should match '^-?[0-9]+(\.[0-9]+)?$'`]);
  });

  it.each(['0', '2', '0.7', '2.000'])('a decimal number stays as it was written: %s', async (temperature) => {
    const stored = await cluster.apply(manifestOf('Agent', 'decimal', agent({ llm: { model: 'm', temperature } })));
    expect(stored.spec).toMatchObject({ llm: { temperature } });
  });

  it.each([
    ['spec.llm.provider', agent({ llm: { model: 'm', provider: 'opnai' } }), llmProviders],
    ['spec.llm.fallbacks[0].provider', agent({ llm: { model: 'm', fallbacks: [{ provider: 'opnai', model: 'm' }] } }), llmProviders],
    ['spec.speechToText.provider', agent({ speechToText: { provider: 'groq' } }), speechProviders],
    ['spec.textToSpeech.provider', agent({ textToSpeech: { provider: 'assemblyai' } }), ttsProviders],
  ] as const)('an unknown provider is refused with the known ones: %s', async (path, spec, known) => {
    const [answer] = await cluster.refusal(manifestOf('Agent', 'provider', spec));
    expect(answer).toContain(`${path}: Unsupported value`);
    for (const provider of known) expect(answer).toContain(`"${provider}"`);
  });

  it('a type that is forgotten in a list is asked for at its place', async () => {
    const spec = agentTest({ conversation: [{ user: 'Hi', expect: [{ judge: 'is polite' }] }], tools: [{ name: 'f', error: 'e' }] });
    const answer = await cluster.refusal(manifestOf('AgentTest', 'typeless', spec));
    for (const place of ['conversation[0]', 'conversation[0].expect[0]', 'tools[0]'])
      expect(answer).toContain(`spec.${place}.type: Required value`);
  });

  it('an agent can not hand a call over to itself', async () => {
    const spec = agent({ handoffs: [{ agentRef: { name: 'desk' }, when: 'it suits' }] });
    expect(await cluster.refusal(manifestOf('Agent', 'desk', spec))).toEqual(['spec.handoffs: must not name the agent itself']);
    expect((await cluster.apply(manifestOf('Agent', 'other-desk', spec))).spec).toMatchObject(spec);
  });

  it('an immutable field can not be changed by taking it away first', async () => {
    await cluster.apply(manifestOf('PhoneNumber', 'fixed', { number: '+15550199', type: 'SIP', sip: {} }));
    expect(await cluster.refusal(manifestOf('PhoneNumber', 'fixed', { type: 'SIP', sip: {} }))).toEqual(['spec.number: Required value']);
    expect(await cluster.refusal(manifestOf('PhoneNumber', 'fixed', { number: '+15550199' }))).toEqual(['spec.type: Required value']);
    await cluster.apply(manifestOf('Tool', 'fixed', custom({})));
    expect(await cluster.refusal(manifestOf('Tool', 'fixed', { description: 'without' }))).toEqual(['spec.type: Required value']);
  });

  it('what is in a member may change', async () => {
    await cluster.apply(manifestOf('Tool', 'free', custom({ method: 'GET' })));
    const stored = await cluster.apply(manifestOf('Tool', 'free', custom({ method: 'POST' })));
    expect(stored.spec).toMatchObject({ custom: { http: { method: 'POST' } } });
  });
});
