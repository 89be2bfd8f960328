import { describe, expect, it } from 'vitest';

import { agent, custom, manifestOf, openCluster, webhook, type ManifestFields } from './support.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

const secret = { name: 'n', key: 'k' };
const agentStored: ManifestFields = {
  language: 'en-US',
  llm: { provider: 'openai', model: 'm' },
  speechToText: { provider: 'deepgram' },
  textToSpeech: { provider: 'elevenlabs', temperature: '0.5', voice: {} },
  interruptions: { mode: 'Always', minSpeechDuration: '500ms', minWords: 0 },
  turnDetection: { mode: 'Model', endOfSpeechDelay: '500ms' },
  ambientSound: { volume: '1' },
  call: {
    endAfterSilence: '30s',
    silenceReminder: { mode: 'Always' },
    maxDuration: '30m',
    voicemailDetection: { mode: 'Always', timeout: '90s' },
  },
  recording: { mode: 'Always' },
  speech: { normalization: {} },
  deletionPolicy: 'Delete',
};

const rows: readonly (readonly [string, string, ManifestFields, ManifestFields])[] = [
  ['the smallest agent', 'Agent', agent(), agentStored],
  [
    'half an object',
    'Agent',
    agent({ call: { maxDuration: '90m' } }),
    {
      ...agentStored,
      call: {
        endAfterSilence: '30s',
        silenceReminder: { mode: 'Always' },
        maxDuration: '90m',
        voicemailDetection: { mode: 'Always', timeout: '90s' },
      },
    },
  ],
  [
    'a message for silence, without the switch',
    'Agent',
    agent({ call: { silenceReminder: { message: 'Hello?' } } }),
    {
      ...agentStored,
      call: {
        endAfterSilence: '30s',
        silenceReminder: { mode: 'Always', message: 'Hello?' },
        maxDuration: '30m',
        voicemailDetection: { mode: 'Always', timeout: '90s' },
      },
    },
  ],
  ['null where a default stands', 'Agent', agent({ language: null, interruptions: null }), agentStored],
  [
    'no defaults in list items',
    'Agent',
    agent({ dynamicData: [{ name: 'a', url: 'https://example.com' }] }),
    { ...agentStored, dynamicData: [{ name: 'a', url: 'https://example.com' }] },
  ],
  [
    'a custom tool',
    'Tool',
    custom(),
    {
      type: 'Custom',
      custom: { function: { name: 'f' }, http: { url: 'https://example.com', method: 'GET', timeout: '20s' } },
      messages: {},
    },
  ],
  [
    'a transfer',
    'Tool',
    { type: 'TransferCall', transferCall: { to: '+15550100' } },
    { type: 'TransferCall', transferCall: { to: '+15550100', mode: 'Cold', callerID: 'Agent' }, messages: {} },
  ],
  [
    'a calendar',
    'Tool',
    { type: 'BookCalendar', bookCalendar: { eventTypeID: '1', apiKeySecretRef: secret } },
    { type: 'BookCalendar', bookCalendar: { eventTypeID: '1', apiKeySecretRef: secret, timeZone: 'UTC' }, messages: {} },
  ],
  [
    'a SIP number',
    'PhoneNumber',
    { number: '+15550100', type: 'SIP', sip: {} },
    { number: '+15550100', type: 'SIP', sip: { region: 'global' }, deletionPolicy: 'Delete' },
  ],
  [
    'a native number',
    'PhoneNumber',
    { number: '+15550100', type: 'Native' },
    { number: '+15550100', type: 'Native', deletionPolicy: 'Delete' },
  ],
  [
    'an empty knowledge base',
    'KnowledgeBase',
    {},
    {
      documentLanguage: 'en',
      embedding: { profile: 'default' },
      chunking: { maxTokens: 400, overlapTokens: 50 },
      deletionPolicy: 'Retain',
    },
  ],
  [
    'half the chunking',
    'KnowledgeBase',
    { chunking: { maxTokens: 100 } },
    {
      documentLanguage: 'en',
      embedding: { profile: 'default' },
      chunking: { maxTokens: 100, overlapTokens: 50 },
      deletionPolicy: 'Retain',
    },
  ],
  [
    'the smallest subscription',
    'WebhookSubscription',
    webhook(),
    {
      url: 'https://example.com',
      signing: { mode: 'None' },
      requestTimeout: '1s',
      retryPolicy: { strategy: 'FixedDelay', maxRetries: 3, delay: '10s' },
    },
  ],
  [
    'the smallest test',
    'AgentTest',
    {
      agentRefs: [{ name: 'a' }],
      type: 'Conversation',
      conversation: [{ type: 'User', user: 'Hi' }],
      tools: [{ name: 'f', type: 'Returns', returns: null }],
    },
    {
      agentRefs: [{ name: 'a' }],
      type: 'Conversation',
      conversation: [{ type: 'User', user: 'Hi' }],
      tools: [{ name: 'f', type: 'Returns', returns: null }],
      required: false,
      mode: 'Text',
      repeat: 1,
      timeout: '2m',
    },
  ],
];

/** The first spec is applied, then the second: a field that was taken out is gone, or has its default back. */
const emptied: readonly (readonly [string, string, ManifestFields, ManifestFields, ManifestFields])[] = [
  [
    'messages of a tool',
    'Tool',
    { type: 'TransferCall', transferCall: { to: '+1555' }, messages: { start: 'x' } },
    { type: 'TransferCall', transferCall: { to: '+1555' }, messages: {} },
    { messages: {} },
  ],
  [
    'agents of a tool',
    'Tool',
    { type: 'TransferCall', transferCall: { to: '+1555' }, agentRefs: [{ name: 'a' }] },
    { type: 'TransferCall', transferCall: { to: '+1555' }, agentRefs: [] },
    { agentRefs: undefined },
  ],
  [
    'voice',
    'Agent',
    agent({ textToSpeech: { provider: 'cartesia', voice: { id: 'v' } } }),
    agent({ textToSpeech: { provider: 'cartesia', voice: {} } }),
    { textToSpeech: { provider: 'cartesia', temperature: '0.5', voice: {} } },
  ],
  [
    'interruptions',
    'Agent',
    agent({ interruptions: { mode: 'Never', minSpeechDuration: '1s', minWords: 2 } }),
    agent({ interruptions: {} }),
    { interruptions: agentStored['interruptions'] },
  ],
  [
    'interruptions, by leaving them out',
    'Agent',
    agent({ interruptions: { mode: 'Never', minSpeechDuration: '1s', minWords: 2 } }),
    agent(),
    { interruptions: agentStored['interruptions'] },
  ],
  [
    "signing with a Secret of one's own",
    'WebhookSubscription',
    webhook({ signing: { mode: 'Secret', secretRef: { name: 'a' } } }),
    webhook({ signing: { mode: 'Generated' } }),
    { signing: { mode: 'Generated' } },
  ],
  ['signing altogether', 'WebhookSubscription', webhook({ signing: { mode: 'Generated' } }), webhook(), { signing: { mode: 'None' } }],
  ['events', 'WebhookSubscription', webhook({ events: ['A.B'] }), webhook(), { events: undefined }],
  [
    'fixed parameters',
    'Tool',
    {
      type: 'Custom',
      custom: {
        function: { name: 'f', parameters: { type: 'object' } },
        http: { url: 'https://example.com', fixedParams: { a: { value: 1 } } },
      },
    },
    { type: 'Custom', custom: { function: { name: 'f', parameters: {} }, http: { url: 'https://example.com', fixedParams: {} } } },
    {
      custom: {
        function: { name: 'f', parameters: {} },
        http: { url: 'https://example.com', method: 'GET', timeout: '20s', fixedParams: {} },
      },
    },
  ],
  [
    'a fixed value that becomes an empty object',
    'Tool',
    custom({ fixedParams: { a: { value: { b: 1 } } } }),
    custom({ fixedParams: { a: { value: {} } } }),
    {
      custom: {
        function: { name: 'f' },
        http: { url: 'https://example.com', method: 'GET', timeout: '20s', fixedParams: { a: { value: {} } } },
      },
    },
  ],
  [
    'trunk of a SIP number',
    'PhoneNumber',
    { number: '+15550100', type: 'SIP', sip: { terminationURI: 'sip:a' } },
    { number: '+15550100', type: 'SIP', sip: {} },
    { sip: { region: 'global' } },
  ],
];

describe('what the API server fills in', () => {
  const cluster = suiteFixture(() => openCluster('defaults'));

  it.each(rows)('%s', async (title, kind, spec, stored) => {
    expect((await cluster.apply(manifestOf(kind, title.replaceAll(/[^a-zA-Z]+/g, '-').toLowerCase(), spec))).spec).toEqual(stored);
  });

  it.each(emptied)('taken out again: %s', async (title, kind, before, after, expected) => {
    const name = title.replaceAll(/[^a-zA-Z]+/g, '-').toLowerCase();
    await cluster.apply(manifestOf(kind, name, before));
    const { spec } = await cluster.apply(manifestOf(kind, name, after));
    for (const [field, value] of Object.entries(expected)) expect(spec?.[field]).toEqual(value);
  });
});
