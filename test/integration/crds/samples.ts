/** Objects that together set every field of every kind, each with a value that is not its default. */
import type { ManifestFields, StoredManifest } from './support.ts';

const time = '2026-01-02T03:04:05Z';

const commonStatus: ManifestFields = {
  observedGeneration: 7,
  lastHandledReconcileAt: 'then',
  conditions: [{ type: 'Ready', status: 'True', observedGeneration: 7, lastTransitionTime: time, reason: 'Ready', message: 'all is well' }],
};

const secret = { name: 'credentials', key: 'token' };
const headers = [
  { name: 'X-Plain', value: 'plain' },
  { name: 'Authorization', valueFrom: { secretKeyRef: secret } },
];

function sample(kind: string, name: string, spec: ManifestFields, status?: ManifestFields): StoredManifest {
  return {
    apiVersion: 'parley.dev/v1beta1',
    kind,
    metadata: { name },
    spec,
    ...(status === undefined ? {} : { status: { ...commonStatus, ...status } }),
  };
}

const llm: ManifestFields = {
  provider: 'openai_compatible',
  model: 'gpt-4o-mini',
  displayName: 'label',
  description: 'note',
  baseURL: 'https://llm.example.com/v1',
  apiKeySecretRef: secret,
  fallbacks: [
    { provider: 'groq', model: 'llama', apiKeySecretRef: secret, temperature: '0.2', maxTokens: 512, contextTokens: 8_192 },
    { provider: 'openai_compatible', model: 'own', baseURL: 'https://own.example.com/v1' },
  ],
  temperature: '0.7',
  maxTokens: 1024,
  contextTokens: 128_000,
  systemPrompt: 'You are {{name}}.\nBe brief.\n',
};

const agent: ManifestFields = {
  displayName: 'Receptionist',
  suspend: true,
  language: 'pt-BR',
  timeZone: 'America/Sao_Paulo',
  welcomeMessage: 'Hello {{customer_name}}',
  llm,
  realtime: {
    provider: 'openai_compatible',
    model: 'gpt-realtime',
    transcriptionModel: 'whisper-1',
    baseURL: 'https://realtime.example.com/v1',
    apiKeySecretRef: secret,
  },
  speechToText: {
    provider: 'deepgram',
    model: 'nova-3',
    keywords: ['Aare Bikes', '{{customer_name}}'],
    baseURL: 'https://stt.example.com',
    apiKeySecretRef: secret,
    fallbacks: [{ provider: 'azure', model: 'm', baseURL: 'https://azure.example.com', apiKeySecretRef: secret }],
  },
  textToSpeech: {
    provider: 'elevenlabs',
    model: 'turbo',
    voice: { id: 'v1', name: 'Rachel' },
    fallbacks: [
      { provider: 'openai', model: 'm', voice: { id: 'v2', name: 'alloy' }, baseURL: 'https://tts.example.com', apiKeySecretRef: secret },
      { provider: 'google' },
    ],
    temperature: '0.25',
    speed: '1.1',
    volume: '0.8',
    baseURL: 'https://tts.example.com',
    apiKeySecretRef: secret,
  },
  speech: {
    replacements: [{ written: 'nginx', spoken: 'engine x', ipa: 'ˈɛndʒɪnˈɛks' }],
    normalization: {
      markup: true,
      emoji: false,
      addresses: false,
      dates: false,
      times: false,
      phoneNumbers: false,
      money: false,
      units: false,
      ranges: false,
    },
  },
  knowledgeBaseRef: { name: 'handbook' },
  handoffs: [
    {
      agentRef: { name: 'billing' },
      when: 'the caller asks about an invoice',
      say: 'One moment, {{customer_name}}.',
      context: 'Summary',
      carry: ['customer_name', 'invoice'],
      voice: 'Keep',
    },
  ],
  interruptions: { mode: 'Never', minSpeechDuration: '750ms', minWords: 2, acknowledgements: ['tá ligado'], stopWords: ['espera'] },
  turnDetection: { mode: 'Silence', endOfSpeechDelay: '1s' },
  ambientSound: { source: 'Cafe', volume: '0.5' },
  call: {
    endAfterSilence: '1m30s',
    silenceReminder: { mode: 'Never', message: 'Hello?', reminders: [{ after: '20s', message: 'Take your time.' }, { after: '1m' }] },
    maxDuration: '1h',
    voicemailDetection: { mode: 'Never', timeout: '45s', message: 'Please call {{company}} back.' },
  },
  recording: { mode: 'Never', retention: '720h' },
  redaction: {
    kinds: ['Card', 'Name'],
    patterns: [{ name: 'member', regex: String.raw`ACME-\d{4}`, label: 'member number' }],
    byModel: true,
    recordings: 'Keep',
  },
  webhookURL: 'https://hooks.example.com/calls',
  requiredDynamicData: ['customer_name', 'order'],
  dynamicData: [
    {
      name: 'customer',
      url: 'https://crm.example.com/{{phone}}',
      method: 'POST',
      timeout: '2500ms',
      headers,
      query: { verbose: 'true', 'a key': '' },
      body: { nested: { list: [1, 'two', null, { three: 3.5 }] }, none: null },
      cache: '10m',
      response: [{ name: 'customer_name', path: '$.data[0].name', context: 'as they like to be called' }],
    },
  ],
  postCallAnalysis: [
    { name: 'mood', type: 'Enum', description: 'how it went', systemPrompt: 'judge', examples: ['good', 'good'], choices: ['good', 'bad'] },
    { name: 'score', type: 'Number' },
  ],
  budget: { daily: '25.00', currency: 'EUR' },
  deletionPolicy: 'Orphan',
  release: {
    pin: { revision: 'ab12cd34'.repeat(8), onMissing: 'Serve' },
    skipTests: { revision: 'cd34ab12'.repeat(8), reason: 'an emergency' },
    canary: {
      percent: 10,
      for: '45m',
      deadline: '90h',
      minCalls: 30,
      abortOn: { errorPercent: 5, p95VoiceToVoice: '1500ms', analysis: { name: 'score', below: '80.5' } },
    },
  },
};

const { systemPrompt: _inline, ...llmWithoutPrompt } = llm;

const calendar = { apiKeySecretRef: secret, timeZone: 'Europe/Berlin' };

export const samples: readonly StoredManifest[] = [
  sample('Agent', 'inline-prompt', agent, {
    desiredRevision: 'a'.repeat(64),
    servingRevision: 'b'.repeat(64),
    servingSince: time,
    canary: { revision: 'e'.repeat(64), percent: 10, since: time },
    observedDependenciesDigest: 'd'.repeat(64),
    tools: { total: 2, names: ['lookup', 'transfer'] },
  }),
  sample('Agent', 'prompt-from-config-map', {
    ...agent,
    llm: { ...llmWithoutPrompt, systemPromptFrom: { configMapKeyRef: { name: 'prompts', key: 'receptionist' } } },
  }),
  sample(
    'Tool',
    'custom',
    {
      suspend: true,
      agentRefs: [{ name: 'receptionist' }, { name: 'night' }],
      description: 'looks an order up',
      messages: { start: 'One moment.', delayed: 'Still looking.', complete: 'There it is.', failed: 'That did not work.' },
      sensitive: true,
      type: 'Custom',
      custom: {
        function: {
          name: 'look_up-order',
          description: 'Looks up an order by its number.',
          parameters: {
            type: 'object',
            properties: { order: { type: ['string', 'null'], default: null, minLength: 1 }, 'x-extra': { enum: [1, 'a', null, false] } },
            required: ['order'],
            additionalProperties: false,
          },
        },
        http: {
          url: 'https://api.example.com/orders/{order}',
          method: 'PATCH',
          headers,
          timeout: '90s',
          fixedParams: {
            text: { description: 'd', value: 'v' },
            number: { value: 1.5 },
            nothing: { value: null },
            list: { value: [1, { two: null }] },
            object: { value: { a: { b: [true] } } },
          },
          runtimeParams: { customer: { description: 'd', value: '{{customer_name}}', type: 'string', required: true } },
        },
      },
    },
    {
      functionName: 'look_up-order',
      attachedAgents: 1,
      agents: [
        { name: 'night', attached: false, reason: 'AgentNotFound', message: 'does not exist' },
        { name: 'receptionist', attached: true },
      ],
    },
  ),
  sample(
    'Tool',
    'mcp',
    {
      type: 'MCP',
      mcp: {
        url: 'https://shop.example.com/mcp',
        headers,
        oauth: { tokenURL: 'https://id.example.com/token', clientID: 'parley', clientSecretRef: secret, scope: 'orders:read' },
        include: ['find_order', 'cancel_order'],
        exclude: ['cancel_order'],
        prefix: 'shop_',
        timeout: '30s',
        updatePolicy: 'Follow',
        tools: [
          {
            name: 'find_order',
            messages: { start: 'One moment.', delayed: 'Still looking.', complete: 'There it is.', failed: 'It is away.' },
          },
        ],
      },
    },
    {
      mcp: {
        digest: `sha256:${'a'.repeat(64)}`,
        latestDigest: `sha256:${'b'.repeat(64)}`,
        fetchedAt: time,
        functions: ['shop_find_order'],
        changes: [{ tool: 'find_order', change: 'Changed', before: 'Finds.', after: 'Finds an order.', parametersChanged: true }],
      },
    },
  ),
  sample('Tool', 'mcp-pinned', { type: 'MCP', mcp: { url: 'https://shop.example.com/mcp', digest: `sha256:${'a'.repeat(64)}` } }),
  sample('Tool', 'send-email', { type: 'SendEmail', sendEmail: { from: 'desk@example.com', passwordSecretRef: secret } }),
  sample('Tool', 'transfer-call', {
    type: 'TransferCall',
    transferCall: { to: 'sip:desk@example.com', mode: 'Warm', callerID: 'Caller' },
  }),
  sample('Tool', 'book-calendar', { type: 'BookCalendar', bookCalendar: { eventTypeID: '4711', ...calendar } }),
  sample('Tool', 'check-calendar', {
    type: 'CheckCalendarAvailability',
    checkCalendarAvailability: { eventTypeID: 'ada/intro-call', ...calendar },
  }),
  sample(
    'PhoneNumber',
    'sip',
    {
      suspend: true,
      number: '+15550100001',
      displayName: 'Front desk',
      inboundAgentRef: { name: 'receptionist' },
      outboundAgentRef: { name: 'caller' },
      type: 'SIP',
      sip: { terminationURI: 'sip:trunk.example.com', username: 'parley', passwordSecretRef: secret, region: 'bd_link3' },
      deletionPolicy: 'Retain',
    },
    { inboundTrunkID: 'ST_in', outboundTrunkID: 'ST_out', dispatchRuleID: 'SDR_1' },
  ),
  sample('PhoneNumber', 'native', { number: '+15550100002', type: 'Native' }),
  sample('PhoneNumber', 'carrier', {
    number: '+15550100003',
    type: 'Carrier',
    carrier: { accountSID: 'AC123', authTokenSecretRef: secret },
  }),
  sample(
    'KnowledgeBase',
    'full',
    {
      suspend: true,
      displayName: 'Handbook',
      description: 'What we do',
      documentLanguage: 'bn',
      embedding: { profile: 'multilingual' },
      reranking: { profile: 'precise' },
      chunking: { maxTokens: 800, overlapTokens: 0 },
      sources: [
        {
          name: 'faq',
          type: 'Website',
          website: { urls: ['https://example.com/faq', 'https://example.com/faq'] },
          refreshInterval: '24h',
          metadata: { kind: 'faq' },
        },
        { name: 'policy', type: 'ConfigMap', configMap: { name: 'policies', key: 'returns.md' } },
      ],
      deletionPolicy: 'Delete',
    },
    {
      embedding: { model: 'e5', dimension: 384 },
      store: 'pgvector',
      documents: { total: 4, processing: 1, completed: 2, failed: 1 },
      chunks: 99,
      sources: [{ name: 'faq', documentID: 'doc_1', state: 'Completed', lastRefreshedAt: time, message: 'two pages' }],
    },
  ),
  sample(
    'WebhookSubscription',
    'by-agent',
    {
      suspend: true,
      displayName: 'CRM',
      url: 'https://hooks.example.com/parley',
      description: 'feeds the CRM',
      events: ['CallHandler.CallStarted', '*'],
      headers,
      requestTimeout: '2s',
      retryPolicy: { strategy: 'ExponentialBackoff', maxRetries: 5, delay: '1m' },
      signing: { mode: 'Secret', secretRef: { name: 'signing' } },
      scope: { type: 'AgentRefs', agentRefs: [{ name: 'receptionist' }] },
    },
    {
      signingSecretRef: { name: 'signing' },
      autoDisabled: { since: time, reason: 'five days of failures' },
      circuitBreaker: { state: 'Open', failingSince: time },
      lastSuccessAt: time,
      lastFailureAt: time,
    },
  ),
  sample('WebhookSubscription', 'by-workspace', {
    url: 'http://hooks.example.com',
    signing: { mode: 'Generated' },
    scope: { type: 'Workspaces', workspaces: ['sales', 'support'] },
  }),
  sample(
    'AgentTest',
    'conversation',
    {
      suspend: true,
      agentRefs: [{ name: 'receptionist' }],
      required: true,
      mode: 'Audio',
      dynamicData: { customer: 'Ada', orders: 2, known: true },
      tools: [
        { name: 'look_up_order', type: 'Returns', when: { order_id: '42' }, returns: { state: 'shipped', parcels: [{}] }, delay: '500ms' },
        {
          name: 'look_up_order',
          type: 'Sequence',
          sequence: [
            { type: 'Error', error: 'busy' },
            { type: 'Returns', returns: null },
          ],
        },
        { name: 'send_email', type: 'Error', error: 'no such mailbox' },
        { name: 'find', type: 'Passthrough' },
      ],
      type: 'Conversation',
      conversation: [
        {
          type: 'User',
          user: 'What are your opening hours?',
          expect: [
            { type: 'Answer', answer: { contains: ['nine'], notContains: ['ten'], matches: '^We', maxWords: 40, language: 'en' } },
            { type: 'Tool', tool: { name: 'search', times: 1, arguments: { query: { contains: 'hours' }, limit: 5 } } },
            { type: 'Tool', tool: { name: 'refund', unknown: true } },
            { type: 'Judge', judge: 'is friendly' },
            { type: 'Within', within: '2s' },
            { type: 'Handoff', handoff: 'billing' },
          ],
        },
        { type: 'Keys', keys: '42#', expect: [{ type: 'Ends', ends: 'agent_ended_call' }] },
      ],
      atEnd: [
        { type: 'NeverCalled', neverCalled: 'transfer_call' },
        { type: 'Handoff', handoff: 'billing' },
        { type: 'Called', called: { name: 'search', times: 2, arguments: { query: { equals: {} } } } },
        { type: 'Called', called: { name: 'cancel', unknown: true } },
        { type: 'Analysis', analysis: { name: 'topic', equals: 'hours' } },
        { type: 'Judge', judge: 'nothing was asked twice' },
        { type: 'Ends', ends: 'agent_ended_call' },
      ],
      judge: { provider: 'openai_compatible', model: 'm', baseURL: 'https://models.example.com/v1', apiKeySecretRef: secret },
      repeat: 3,
      passAtLeast: 2,
      schedule: '0 6 * * MON',
      timeZone: 'Europe/Berlin',
      timeout: '1m',
    },
    {
      testedAgents: ['receptionist'],
      lastRun: { runID: 'run_1', revision: 'ab', agent: 'receptionist', verdict: 'Failed', finishedAt: time },
      results: [
        {
          agent: 'receptionist',
          revision: 'ab',
          verdict: 'Failed',
          passed: 2,
          failed: 1,
          flaky: true,
          runID: 'run_1',
          finishedAt: time,
          message: 'turn 1',
        },
      ],
    },
  ),
  sample('AgentTest', 'simulated-user', {
    agentRefs: [{ name: 'receptionist' }],
    type: 'SimulatedUser',
    simulatedUser: {
      persona: 'impatient',
      goal: 'find out whether order 42 has shipped',
      maxTurns: 6,
      llm: { provider: 'openai', model: 'm', baseURL: 'https://models.example.com/v1', apiKeySecretRef: secret },
    },
  }),
];
