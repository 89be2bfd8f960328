import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ambientSounds } from '../../crds/agent.ts';
import { agentKind, MAX_INLINE_PROMPT, type Agent, type AgentSpec } from '../../crds/index.ts';
import { fieldsWithoutCase } from '../../test/support/field-cases.ts';
import { MASK } from '../http/caller.ts';
import { masked, refId, SecretWriter, unmaskedReader, type KeyRef } from '../codec/secrets.ts';
import type { ValidationIssue } from '../validation/issue.ts';
import { validate } from '../validation/validate.ts';
import { agentCreate, agentFieldNames, agentFromRest, agentToRest, agentUpdate, type AgentDecoding, type AgentUpdate } from './fields.ts';

const text = (max: number) => fc.oneof(fc.constant(''), fc.string({ maxLength: Math.min(max, 12), unit: 'grapheme' }));
const named = (max: number) => fc.string({ minLength: 1, maxLength: Math.min(max, 8), unit: 'grapheme-ascii' });
/** REST shows names without the spaces around them. */
const label = (max: number) => text(max).map((name) => name.trim());
const url = fc.webUrl();
const context_tokens = fc.integer({ min: 1024, max: 200_000 });
const duration = (minMs: number, maxMs: number) =>
  fc.oneof(
    fc.integer({ min: minMs, max: Math.min(maxMs, 99_999) }).map((ms) => `${ms}ms`),
    fc.integer({ min: Math.ceil(minMs / 1000), max: Math.floor(maxMs / 1000) }).map((s) => `${s}s`),
    fc.integer({ min: minMs, max: maxMs }).map((ms) => `${Math.floor(ms / 60_000)}m${Math.floor(ms / 1000) % 60}s${ms % 1000}ms`),
  );
/** Seconds as REST has them, to the millisecond. */
const seconds = (min: number, max: number) => fc.integer({ min: min * 1000, max: max * 1000 }).map((ms) => ms / 1000);
const objectName = fc.constantFrom('handbook', 'base-2', 'a.b');
const keyRef = fc.record({ name: fc.constantFrom('mine', 'agent-a'), key: fc.constantFrom('k', 'api-key', 'other') });
const number = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map((value) => value + 0);
const decimal = (min: number, max: number) =>
  fc.oneof(
    fc.constantFrom(String(min), `${min}.0`, `${max}.00`),
    fc.integer({ min: min * 1000, max: max * 1000 }).map((thousandths) => (thousandths / 1000).toFixed(3)),
  );
const headerName = fc.constantFrom('X-Tenant', 'Authorization', 'X-Api-Key', 'cookie', 'Accept');
const header = fc.oneof(
  fc.record({ name: headerName, value: named(100) }),
  fc.record({ name: headerName, valueFrom: keyRef.map((secretKeyRef) => ({ secretKeyRef })) }),
);
const optional = <T extends Record<string, fc.Arbitrary<unknown>>, R extends keyof T & string>(model: T, requiredKeys: R[]) =>
  fc.record(model, { requiredKeys });
const distinct = <T>(item: fc.Arbitrary<T>, selector: (item: T) => unknown, maxLength = 4) => fc.uniqueArray(item, { selector, maxLength });
const jsonObject = fc.dictionary(
  fc.constantFrom('a', 'b', 'constructor', 'c d'),
  fc.jsonValue({ maxDepth: 2, noUnicodeString: false }).map((value): typeof value => JSON.parse(JSON.stringify(value))),
  {
    maxKeys: 3,
  },
);

const lookup = optional(
  {
    name: named(8),
    url,
    method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH'),
    timeout: fc.oneof(duration(100, 30_000), fc.constantFrom('2s10ms', '1ms')),
    headers: distinct(header, ({ name }) => name.toLowerCase()),
    query: fc.dictionary(named(5), text(20), { maxKeys: 3 }),
    body: jsonObject,
    cache: duration(1_000, 86_400_000),
    response: distinct(optional({ name: named(5), path: named(9), context: text(20) }, ['name', 'path']), ({ name }) => name),
  },
  ['name', 'url'],
);
const question = {
  name: named(6),
  type: fc.constantFrom('String', 'Boolean', 'Number'),
  description: text(9),
  systemPrompt: text(9),
  examples: fc.array(text(5), { maxLength: 3 }),
};
const analysis = fc.oneof(
  optional(question, ['name', 'type']),
  optional({ ...question, type: fc.constant('Enum'), choices: fc.uniqueArray(named(4), { minLength: 1, maxLength: 4 }) }, [
    'name',
    'type',
    'choices',
  ]),
);
const DIGEST = 'ab12cd34'.repeat(8);
const providers = fc.constantFrom('deepgram', 'openai', 'azure', 'google', 'elevenlabs', 'cartesia');

/** Any spec that `kubectl apply` may have stored. */
const spec = optional(
  {
    displayName: named(20),
    suspend: fc.boolean(),
    language: fc.constantFrom('en-US', 'de', 'bn-BD'),
    timeZone: fc.constantFrom('UTC', 'Europe/Berlin'),
    welcomeMessage: text(20),
    llm: optional(
      {
        provider: fc.constantFrom('openai', 'anthropic'),
        model: named(20),
        displayName: text(10),
        description: text(10),
        baseURL: url,
        apiKeySecretRef: keyRef,
        fallbacks: fc.array(
          optional(
            {
              provider: fc.constantFrom('groq', 'google'),
              model: named(9),
              temperature: decimal(0, 2),
              maxTokens: fc.integer({ min: 1, max: 32768 }),
            },
            ['provider', 'model'],
          ),
          { maxLength: 3 },
        ),
        temperature: decimal(0, 2),
        maxTokens: fc.integer({ min: 1, max: 32768 }),
        systemPrompt: text(50),
      },
      ['model'],
    ),
    realtime: optional(
      { provider: fc.constant('openai'), model: named(9), transcriptionModel: named(9), baseURL: url, apiKeySecretRef: keyRef },
      ['model'],
    ),
    speechToText: optional(
      {
        provider: providers,
        model: text(9),
        keywords: distinct(named(9), (keyword) => keyword),
        baseURL: url,
        apiKeySecretRef: keyRef,
      },
      ['provider'],
    ),
    textToSpeech: optional(
      {
        provider: providers,
        model: text(9),
        voice: optional({ id: text(9), name: text(9) }, []),
        speed: fc.constantFrom('0.5', '0.90', '2', '1.25'),
        volume: decimal(0, 2),
        temperature: decimal(0, 2),
        baseURL: url,
        apiKeySecretRef: keyRef,
      },
      ['provider'],
    ),
    // REST has no field for `speech`.
    speech: optional(
      {
        replacements: distinct(
          optional({ written: named(9), spoken: named(9), ipa: named(9) }, ['written', 'spoken']),
          ({ written }) => written,
        ),
        normalization: optional({ money: fc.boolean(), markup: fc.boolean() }, []),
      },
      [],
    ),
    knowledgeBaseRef: fc.record({ name: objectName }),
    handoffs: distinct(
      optional(
        {
          agentRef: fc.record({ name: objectName }),
          when: named(9),
          say: text(9),
          context: fc.constantFrom('All', 'Summary', 'None'),
          carry: fc.subarray(['order', 'customer.name']),
          voice: fc.constantFrom('Own', 'Keep'),
        },
        ['agentRef', 'when'],
      ),
      ({ agentRef }) => (agentRef as { readonly name: string }).name,
    ),
    interruptions: optional(
      {
        mode: fc.constantFrom('Always', 'Never'),
        minSpeechDuration: duration(0, 15_000),
        minWords: fc.integer({ min: 0, max: 5 }),
        acknowledgements: distinct(named(9), (word) => word),
        stopWords: distinct(named(9), (word) => word),
      },
      [],
    ),
    turnDetection: optional({ mode: fc.constantFrom('Model', 'Silence'), endOfSpeechDelay: duration(0, 15_000) }, []),
    ambientSound: optional({ source: fc.constantFrom(...ambientSounds), volume: decimal(0, 2) }, []),
    call: optional(
      {
        endAfterSilence: duration(10_000, 600_000),
        silenceReminder: optional(
          {
            mode: fc.constantFrom('Always', 'Never'),
            message: text(9),
            reminders: fc.array(optional({ after: duration(1_000, 600_000), message: text(9) }, ['after']), { maxLength: 5 }),
          },
          [],
        ),
        maxDuration: duration(30_000, 7_200_000),
        voicemailDetection: optional({ mode: fc.constantFrom('Always', 'Never'), timeout: duration(1_000, 300_000), message: text(9) }, []),
      },
      [],
    ),
    recording: optional(
      { mode: fc.constantFrom('Always', 'Never'), retention: fc.integer({ min: 24, max: 87_600 }).map((hours) => `${hours}h`) },
      [],
    ),
    redaction: optional(
      {
        kinds: fc.subarray(['Card', 'IBAN', 'Phone', 'Email', 'BirthDate', 'Address', 'Name'] as const),
        patterns: distinct(
          optional({ name: fc.constantFrom('a', 'b'), regex: fc.constant('A[0-9]+'), label: fc.constant('number') }, ['name', 'regex']),
          ({ name }) => name,
        ),
        byModel: fc.boolean(),
        recordings: fc.constantFrom('Tone', 'Keep'),
      },
      ['byModel', 'recordings'],
    ),
    webhookURL: url,
    requiredDynamicData: distinct(named(5), (name) => name),
    dynamicData: distinct(lookup, ({ name }) => name),
    postCallAnalysis: distinct(analysis, ({ name }) => name),
    deletionPolicy: fc.constantFrom('Delete', 'Orphan'),
    release: optional(
      {
        pin: optional({ revision: fc.constant(DIGEST), onMissing: fc.constantFrom('Hold', 'Serve') }, ['revision']),
        skipTests: fc.record({ revision: fc.constant(DIGEST), reason: named(9) }),
        canary: optional(
          {
            percent: fc.integer({ min: 1, max: 99 }),
            for: fc.constantFrom('1m', '90s', '1m30s'),
            abortOn: optional(
              {
                errorPercent: fc.integer({ min: 0, max: 100 }),
                p95VoiceToVoice: fc.constantFrom('900ms', '1s', '1s500ms'),
                analysis: fc.record({ name: named(4), below: fc.constantFrom('80', '80.0', '-0.5') }),
              },
              [],
            ).filter((limits) => Object.keys(limits).length > 0),
          },
          ['percent'],
        ),
      },
      [],
    ),
  },
  ['llm', 'speechToText', 'textToSpeech'],
).map((input) => agentKind.spec.parse(input));

const lookupsAfter = (request: unknown, previous: AgentSpec) =>
  agentKind.spec.parse(encode(read(agentUpdate, request), previous).draft).dynamicData ?? [];

const storedAgent = (agentSpec: AgentSpec): Agent => ({
  apiVersion: 'parley.dev/v1beta1',
  kind: 'Agent',
  metadata: { name: 'a', namespace: 'org' },
  spec: agentSpec,
});
const reading: AgentDecoding = { secrets: masked, state: { ready: true, reason: '', message: '' }, longPrompt: null, tools: [] };

function encode(
  body: AgentUpdate,
  previous: AgentSpec | undefined,
  options: { readonly stored?: ReadonlyMap<string, string>; readonly storedLongPrompt?: string } = {},
) {
  const found: ValidationIssue[] = [];
  let count = 0;
  const secrets = new SecretWriter({
    name: 'agent-a',
    mayMove: false,
    randomId: () => `r${(count += 1)}`,
    ...(options.stored !== undefined && { stored: options.stored }),
  });
  const prompts = new Map<string, string>();
  const draft = agentFromRest(body, previous, {
    objectName: 'a',
    loc: ['body'],
    secrets,
    storedLongPrompt: options.storedLongPrompt ?? null,
    promptRef(prompt): KeyRef {
      prompts.set('p', prompt);
      return { name: 'agent-a', key: 'p' };
    },
    found,
  });
  return { draft, found, prompts, secrets: secrets.pending };
}

function read(schema: typeof agentCreate | typeof agentUpdate, body: unknown): AgentUpdate {
  const result = validate(schema, JSON.parse(JSON.stringify(body)), ['body']);
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.value;
}

describe('resource → REST → resource', () => {
  it('changes nothing, whatever is stored', () => {
    fc.assert(
      fc.property(spec, (stored) => {
        const { draft, found, secrets } = encode(read(agentUpdate, agentToRest(storedAgent(stored), reading)), stored);
        expect(found).toEqual([]);
        expect(draft).toEqual(stored);
        expect([...secrets]).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('changes nothing for who may see secrets either', () => {
    fc.assert(
      fc.property(spec, (stored) => {
        const values = new Map(
          ['mine', 'agent-a'].flatMap((name) => ['k', 'api-key', 'other'].map((key) => [refId({ name, key }), `${name}+${key}`] as const)),
        );
        const view = agentToRest(storedAgent(stored), { ...reading, secrets: unmaskedReader(values) });
        const { draft, secrets } = encode(read(agentUpdate, view), stored, { stored: values });
        expect(draft).toEqual(stored);
        expect([...secrets]).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('an absent field is kept and null brings back the default', () => {
    fc.assert(
      fc.property(spec, (stored) => {
        expect(encode({}, stored).draft).toEqual(stored);
        const { draft } = encode(
          {
            welcome_message: null,
            max_call_duration_seconds: null,
            llm: { model_temperature: null, system_prompt: null },
            dynamic_data_config: null,
          },
          stored,
        );
        const view = agentToRest(storedAgent(agentKind.spec.parse(draft)), reading);
        expect(view).toMatchObject({ max_call_duration_seconds: 1800, dynamic_data_config: [] });
        expect([view.welcome_message, view.llm.system_prompt, view.llm.model_temperature]).toEqual([undefined, undefined, undefined]);
        expect(view.llm.model_name).toBe(stored.llm.model);
      }),
      { numRuns: 200 },
    );
  });
});

const listener = { provider: providers, model: text(9) };
const speaker = { provider: providers, voice_id: text(9), voice_name: label(9), model_name: text(9) };

const body = fc.record(
  {
    agent_name: named(20).map((name) => name.trim() || 'x'),
    language_code: fc.constantFrom('en-US', 'pt-BR'),
    timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
    llm: fc.record(
      {
        llm_type: fc.constant('simple'),
        model_provider: fc.constantFrom('openai', 'groq'),
        model_name: named(9),
        model_temperature: number(0, 2),
        llm_name: label(9),
        llm_description: text(9),
        base_url: url,
        api_key: named(9),
        fallbacks: fc.array(
          fc.record(
            {
              model_provider: fc.constantFrom('openai', 'groq'),
              model_name: named(9),
              base_url: url,
              api_key: named(9),
              model_temperature: number(0, 2),
              max_tokens: fc.integer({ min: 1, max: 32768 }),
              context_tokens,
            },
            { requiredKeys: ['model_provider', 'model_name'] },
          ),
          { maxLength: 3 },
        ),
        max_tokens: fc.integer({ min: 1, max: 32768 }),
        context_tokens,
        required_dynamic_data: distinct(named(5), (name) => name),
        system_prompt: fc.oneof(text(9), fc.constant('long '.repeat(1000))),
      },
      { requiredKeys: ['model_name'] },
    ),
    realtime: fc.record(
      { model_provider: fc.constant('openai'), model_name: named(9), transcription_model: named(9), base_url: url, api_key: named(9) },
      { requiredKeys: ['model_name'] },
    ),
    stt: fc.record(
      {
        ...listener,
        keywords: distinct(named(9), (keyword) => keyword),
        fallbacks: fc.array(fc.record(listener, { requiredKeys: ['provider'] }), { maxLength: 3 }),
      },
      { requiredKeys: ['provider'] },
    ),
    tts: fc.record(
      {
        ...speaker,
        voice_temperature: number(0, 2),
        voice_speed: number(0.5, 2),
        voice_volume: number(0, 2),
        fallbacks: fc.array(fc.record(speaker, { requiredKeys: ['provider'] }), { maxLength: 3 }),
      },
      { requiredKeys: ['provider'] },
    ),
    knowledge_base_id: objectName,
    handoffs: distinct(
      fc.record(
        {
          ai_agent_id: objectName,
          when: named(9),
          say: text(9),
          context: fc.constantFrom('all', 'summary', 'none'),
          carry: fc.subarray(['order', 'customer.name']),
          voice: fc.constantFrom('own', 'keep'),
        },
        { requiredKeys: ['ai_agent_id', 'when'] },
      ),
      ({ ai_agent_id: id }) => id,
    ),
    enable_user_interruptions: fc.boolean(),
    minimum_speech_duration_for_interruptions: seconds(0, 15),
    minimum_words_before_interruption: fc.integer({ min: 0, max: 5 }),
    interruption_acknowledgements: distinct(named(9), (word) => word),
    interruption_stop_words: distinct(named(9), (word) => word),
    wait_time_before_detecting_end_of_speech: fc.oneof(seconds(0, 15), fc.constantFrom(0.1, 0.3, 1.25)),
    turn_detection_mode: fc.constantFrom('model', 'silence'),
    ambient_sound: fc.constantFrom('none', 'beach'),
    ambient_sound_volume: number(0, 2),
    webhook_url: url,
    end_call_after_silence_seconds: seconds(10, 600),
    enable_silence_reminder: fc.boolean(),
    silence_reminder_message: text(9),
    silence_reminders: fc.array(fc.record({ after_seconds: seconds(1, 600), message: text(9) }, { requiredKeys: ['after_seconds'] }), {
      maxLength: 5,
    }),
    max_call_duration_seconds: seconds(30, 7200),
    welcome_message: text(20),
    voicemail_detection_timeout_seconds: fc.oneof(fc.constant(0), seconds(1, 300)),
    voicemail_message: text(9),
    dynamic_data_config: fc.array(
      fc.record(
        {
          url,
          method: fc.constantFrom('GET', 'POST'),
          timeout: fc.integer({ min: 100, max: 30_000 }),
          headers: fc.dictionary(headerName, named(9), { maxKeys: 3 }),
          body: jsonObject,
          query: fc.dictionary(named(4), text(9), { maxKeys: 3 }),
          cache: fc.boolean(),
          response_data: distinct(
            fc.record({ name: named(4), data: named(4), context: text(9) }, { requiredKeys: ['name', 'data'] }),
            ({ name }) => name,
          ),
        },
        { requiredKeys: ['url'] },
      ),
      { maxLength: 4 },
    ),
    enable_recording: fc.boolean(),
    recording_retention_days: fc.integer({ min: 1, max: 3_650 }),
    budget: fc.constant({ daily: '25.00', currency: 'EUR' }),
    redaction: fc.constantFrom<object>(
      { kinds: ['card', 'birth_date'] },
      { kinds: ['name'], patterns: [{ name: 'member', regex: 'A[0-9]+', label: 'number' }], by_model: true, recordings: 'keep' },
    ),
    release: fc.constantFrom<object>(
      { pin: DIGEST },
      {
        canary: {
          percent: 10,
          for_seconds: 60,
          deadline_seconds: 3600,
          min_calls: 5,
          abort_on: { error_rate: 5, p95_voice_to_voice_ms: 900, analysis: { name: 'mood', below: 1 } },
        },
      },
    ),
    post_call_analysis: distinct(
      fc
        .record({
          type: fc.constantFrom<object>({ type: 'string' }, { type: 'number' }, { type: 'enum', choices: ['good', 'bad'] }),
          name: named(5),
          others: fc.record(
            { description: text(9), system_prompt: text(9), examples: fc.array(text(4), { maxLength: 3 }) },
            { requiredKeys: [] },
          ),
        })
        .map(({ type, name, others }) => Object.assign({ name }, type, others)),
      ({ name }) => name,
    ),
  },
  { requiredKeys: ['agent_name', 'llm', 'stt', 'tts'] },
);

/** Numbers that are no durations may have any precision that a client writes. */
const sent = body.map(
  (value) =>
    JSON.parse(JSON.stringify(value), (_, item: unknown) =>
      typeof item === 'number' && Math.abs(item) < 1e5 ? Math.round(item * 1e9) / 1e9 + 0 : Object.is(item, -0) ? 0 : item,
    ) as typeof value,
);

function roundTrip(request: unknown, previous?: AgentSpec) {
  const { draft, secrets, prompts, found } = encode(read(previous === undefined ? agentCreate : agentUpdate, request), previous);
  const stored = agentKind.spec.parse(draft);
  const values = new Map([...secrets].map(([key, value]) => [refId({ name: 'agent-a', key }), value]));
  const view = agentToRest(storedAgent(stored), { ...reading, secrets: unmaskedReader(values), longPrompt: prompts.get('p') ?? null });
  return { view, stored, found, values };
}

describe('REST → resource → REST', () => {
  it('returns what was sent', () => {
    fc.assert(
      fc.property(sent, (request) => {
        const { view, stored, found } = roundTrip(request);
        expect(found).toEqual([]);
        expect(view).toMatchObject(request);
        expect(JSON.stringify(stored)).not.toContain('long long');
        expect(Array.from(stored.llm.systemPrompt ?? '').length).toBeLessThanOrEqual(MAX_INLINE_PROMPT);
      }),
      { numRuns: 500 },
    );
  });

  it('returns what was sent when it replaces something else', () => {
    fc.assert(
      fc.property(sent, spec, (request, previous) => {
        const { view } = roundTrip(request, previous);
        const { dynamic_data_config: lookups, ...rest } = request;
        expect(view).toMatchObject(rest);
        expect(view.dynamic_data_config.length).toBe(lookups?.length ?? previous.dynamicData?.length ?? 0);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps no secret in the spec', () => {
    const { draft, secrets } = encode(
      read(agentCreate, {
        agent_name: 'x',
        llm: { model_name: 'm', api_key: 'canary-1' },
        stt: { provider: 'openai' },
        tts: { provider: 'openai' },
        dynamic_data_config: [
          {
            url: 'http://x',
            headers: { Authorization: 'canary-2', 'x-api-key': 'canary-3', 'X-Session-Token': 'canary-4', Accept: 'text/plain' },
          },
        ],
      }),
      undefined,
    );
    expect(JSON.stringify(draft)).not.toContain('canary');
    expect([...secrets.values()]).toEqual(['canary-1', 'canary-2', 'canary-3', 'canary-4']);
    expect(draft.dynamicData?.[0]?.headers?.find(({ name }) => name === 'Accept')).toEqual({ name: 'Accept', value: 'text/plain' });
  });

  it('a mask with nothing behind it is refused, not stored', () => {
    const request = read(agentUpdate, {
      llm: { api_key: MASK },
      dynamic_data_config: [{ url: 'http://x', headers: { Authorization: MASK } }],
    });
    const { found } = encode(
      request,
      agentKind.spec.parse({ llm: { model: 'm' }, speechToText: { provider: 'openai' }, textToSpeech: { provider: 'openai' } }),
    );
    expect(found.map(({ loc }) => loc)).toEqual([
      ['body', 'llm', 'api_key'],
      ['body', 'dynamic_data_config', 0, 'headers', 'Authorization'],
    ]);
  });

  it('keys of fallbacks stay with the provider they were given to', () => {
    const ref = (name: string) => ({ name, key: 'k' });
    const listeners = ['deepgram', 'azure'].map((provider) => ({
      provider,
      baseURL: `https://${provider}.example`,
      apiKeySecretRef: ref(provider),
    }));
    const models = ['a', 'b'].map((model) => ({ provider: 'openai', model, apiKeySecretRef: ref(model) }));
    const stored = agentKind.spec.parse({
      llm: { model: 'm', fallbacks: models },
      speechToText: { provider: 'openai', fallbacks: listeners },
      textToSpeech: { provider: 'openai' },
    });
    const { draft, found } = encode(
      read(agentUpdate, {
        llm: {
          fallbacks: [
            { model_provider: 'openai', model_name: 'b', api_key: MASK },
            { model_provider: 'openai', model_name: 'c' },
          ],
        },
        stt: { fallbacks: [{ provider: 'cartesia' }, { provider: 'azure' }] },
      }),
      stored,
    );
    expect(found).toEqual([]);
    expect(draft.llm?.fallbacks).toEqual([models[1], { provider: 'openai', model: 'c' }]);
    expect(draft.speechToText?.fallbacks).toEqual([{ provider: 'cartesia' }, listeners[1]]);
    const moved = encode(read(agentUpdate, { llm: { fallbacks: [{ model_provider: 'groq', model_name: 'b', api_key: MASK }] } }), stored);
    expect(moved.found.map(({ loc }) => loc)).toEqual([['body', 'llm', 'fallbacks', 0, 'api_key']]);
  });

  it('names of lookups stay with the lookup they were given to', () => {
    const base = { llm: { model: 'm' }, speechToText: { provider: 'openai' }, textToSpeech: { provider: 'openai' } };
    const [a, b, c] = ['http://a', 'http://b', 'http://c'].map((address) => ({ url: address }));
    let stored = agentKind.spec.parse({
      ...base,
      dynamicData: lookupsAfter({ dynamic_data_config: [a, b, c] }, agentKind.spec.parse(base)),
    });
    expect(stored.dynamicData?.map(({ name }) => name)).toEqual(['lookup-1', 'lookup-2', 'lookup-3']);
    stored = agentKind.spec.parse({ ...base, dynamicData: lookupsAfter({ dynamic_data_config: [c, { ...a, timeout: 100 }] }, stored) });
    expect(stored.dynamicData?.map(({ name, url: address }) => `${name} ${address}`)).toEqual(['lookup-3 http://c', 'lookup-1 http://a']);
    stored = agentKind.spec.parse({ ...base, dynamicData: lookupsAfter({ dynamic_data_config: [c, a, b] }, stored) });
    expect(stored.dynamicData?.map(({ name }) => name)).toEqual(['lookup-3', 'lookup-1', 'lookup-2']);
  });
});

it('keeps what a release says through REST and back, with numbers and durations as they were typed', () => {
  const needed = { llm: { model: 'm' }, speechToText: { provider: 'openai' }, textToSpeech: { provider: 'openai' } };
  const stored = agentKind.spec.parse({
    ...needed,
    release: {
      pin: { revision: DIGEST, onMissing: 'Serve' },
      skipTests: { revision: DIGEST, reason: 'an emergency' },
      canary: {
        percent: 10,
        for: '30m',
        deadline: '168h',
        minCalls: 20,
        abortOn: { errorPercent: 5, p95VoiceToVoice: '1500ms', analysis: { name: 'ok', below: '80.0' } },
      },
    },
  });
  const { release } = agentToRest(storedAgent(stored), reading);
  expect(release).toEqual({
    pin: DIGEST,
    canary: {
      percent: 10,
      for_seconds: 1800,
      deadline_seconds: 604_800,
      min_calls: 20,
      abort_on: { error_rate: 5, p95_voice_to_voice_ms: 1500, analysis: { name: 'ok', below: 80 } },
    },
  });
  expect(encode({ release }, stored).draft).toEqual(stored);
  const pinned = agentKind.spec.parse({ ...needed, release: { pin: { revision: DIGEST } } });
  expect(agentToRest(storedAgent(pinned), reading).release).toEqual({ pin: DIGEST });
  const other = 'cd'.repeat(32);
  expect(encode({ release: { pin: other } }, stored).draft.release?.pin).toEqual({ revision: other, onMissing: 'Serve' });
  // A release is replaced as a whole: fields that the request doesn't name are unset, but not the one that REST doesn't have.
  const { skipTests } = stored.release!;
  expect(encode({ release: { canary: { percent: 1 } } }, stored).draft.release).toEqual({ skipTests, canary: { percent: 1 } });
  const unlimited = agentKind.spec.parse({ ...needed, release: { canary: { percent: 1 } } });
  expect(agentToRest(storedAgent(unlimited), reading).release?.canary?.abort_on).toEqual({});
  expect(encode({ release: { canary: { percent: 1, abort_on: {} } } }, unlimited).draft.release).toEqual({ canary: { percent: 1 } });
});

describe('a field that REST has in another form', () => {
  const needed = { llm: { model: 'm' }, speechToText: { provider: 'openai' }, textToSpeech: { provider: 'openai' } };
  const specWith = (fields: object): AgentSpec => agentKind.spec.parse({ ...needed, ...fields });
  const written = (request: object, fields: object = {}) => encode(read(agentUpdate, request), specWith(fields)).draft;
  const answered = (fields: object) => agentToRest(storedAgent(specWith(fields)), reading);

  it('has 0 seconds for voicemail that nobody listens for, and keeps the time for later', () => {
    const off = { call: { voicemailDetection: { mode: 'Never', timeout: '45s' } } };
    const on = { call: { voicemailDetection: { timeout: '45s' } } };
    expect([off, on].map((fields) => answered(fields).voicemail_detection_timeout_seconds)).toEqual([0, 45]);
    expect(written({ voicemail_detection_timeout_seconds: 0 }, on).call?.voicemailDetection).toEqual(off.call.voicemailDetection);
    expect(written({ voicemail_detection_timeout_seconds: 45 }, off).call?.voicemailDetection).toEqual({ mode: 'Always', timeout: '45s' });
    expect(written({ voicemail_detection_timeout_seconds: 0.5 }).call?.voicemailDetection).toEqual({ mode: 'Always', timeout: '1s' });
    expect(written({ voicemail_detection_timeout_seconds: null }, off).call).not.toHaveProperty('voicemailDetection');
  });

  it('has none for the place that is absent, and keeps the volume', () => {
    const station = { ambientSound: { source: 'TrainStation', volume: '0.40' } };
    expect(answered(station)).toMatchObject({ ambient_sound: 'train_station', ambient_sound_volume: 0.4 });
    expect(answered({})).toMatchObject({ ambient_sound: 'none', ambient_sound_volume: 1 });
    expect(written({ ambient_sound: 'none' }, station).ambientSound).toEqual({ volume: '0.40' });
    expect(written({ ambient_sound: 'train_station' }).ambientSound).toEqual({ source: 'TrainStation', volume: '1' });
  });

  it('has whole days for the time that recordings are kept', () => {
    expect(written({ recording_retention_days: 3650 }).recording).toEqual({ mode: 'Always', retention: '87600h' });
    expect(answered({ recording: { retention: '36h' } }).recording_retention_days).toBe(2);
    expect(written({ recording_retention_days: 2 }, { recording: { retention: '36h' } }).recording?.retention).toBe('36h');
    expect(written({ recording_retention_days: 2 }, { recording: { retention: '24h' } }).recording?.retention).toBe('48h');
  });

  it('has only whether the answer to a lookup is kept', () => {
    const stored = { dynamicData: [{ name: 'crm', url: 'https://crm.example', cache: '10m' }] };
    const cacheAfter = (cache: boolean | undefined, fields: object = {}) =>
      written({ dynamic_data_config: [{ url: 'https://crm.example', cache }] }, fields).dynamicData?.[0]?.cache;
    expect(answered(stored).dynamic_data_config[0]?.cache).toBe(true);
    expect([cacheAfter(true), cacheAfter(true, stored), cacheAfter(false, stored), cacheAfter(undefined, stored)]).toEqual([
      '5m',
      '10m',
      undefined,
      undefined,
    ]);
  });

  it('loses choices that another type than enum has no use for', () => {
    const ask = (type: string) => written({ post_call_analysis: [{ name: 'mood', type, choices: ['good'] }] }).postCallAnalysis;
    expect(ask('string')).toEqual([{ name: 'mood', type: 'String' }]);
    expect(ask('enum')).toEqual([{ name: 'mood', type: 'Enum', choices: ['good'] }]);
  });
});

it('has a case for each field of the table: add what is named here to the bodies above', () => {
  expect(fieldsWithoutCase(agentFieldNames, fc.sample(body, { seed: 1, numRuns: 300 }))).toEqual([]);
});
