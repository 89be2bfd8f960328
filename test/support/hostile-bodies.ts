/** A body that is meant to take a server long to read: as large as the facade takes it, or with as many values as it takes. */
export interface HostileBody {
  readonly name: string;
  readonly method: 'POST' | 'PUT' | 'PATCH';
  /** Path of the request; `:agent`, `:tool` and `:subscription` stand for ids of the organisation that sends it. */
  readonly path: string;
  readonly body: string;
}

const MEBIBYTE = 1024 * 1024;

const listOf = <T>(length: number, item: (index: number) => T): T[] => Array.from({ length }, (_, index) => item(index));
const mapOf = <T>(length: number, key: (index: number) => string, value: (index: number) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(listOf(length, (index) => [key(index), value(index)]));
/** Repeats a unit as often as fits, with something around it. */
const filling = (unit: string, bytes = MEBIBYTE): string => unit.repeat(Math.floor((bytes - 2000) / Buffer.byteLength(unit)));

const agent = (fields: object, llm: object = {}): object => ({
  agent_name: 'hostile',
  llm: { model_name: 'm', ...llm },
  stt: { provider: 'deepgram' },
  tts: { provider: 'elevenlabs' },
  ...fields,
});
const lookup = (fields: object): object => agent({ dynamic_data_config: [{ url: 'https://example.com', ...fields }] });
const tool = (parameters: unknown, name = 'hostile'): object => ({
  function_tool: { name, parameters },
  additional_tool_info: { tool_type: 'custom', api: { endpoint: 'https://example.com' } },
});
const subscription = (fields: object): object => ({
  name: 'hostile',
  url: 'https://example.com',
  enable_signed_webhooks: false,
  active: true,
  ...fields,
});

/** Returns JSON Schemas of at most 32 KiB that compilers need long for, and their like. @param seed makes each one new */
export function hostileSchemas(seed: number): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const title = `number ${seed}`;
  return {
    'alternatives without an end': { title, type: 'object', properties: { a: { oneOf: listOf(10_000, () => ({})) } } },
    'as many alternatives as may be': { title, anyOf: listOf(990, (index) => ({ const: index })) },
    'as many patterns as may be': {
      title,
      patternProperties: mapOf(
        990,
        (index) => `^(a+)+${index}$`,
        () => true,
      ),
    },
    'a chain of references': {
      title,
      $ref: '#/$defs/d0',
      $defs: mapOf(
        900,
        (at) => `d${at}`,
        (at) => (at === 899 ? {} : { $ref: `#/$defs/d${at + 1}` }),
      ),
    },
    'references that double': {
      title,
      $ref: '#/$defs/d0',
      $defs: mapOf(
        300,
        (at) => `d${at}`,
        (at) => (at === 299 ? {} : { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] }),
      ),
    },
    'references to itself': { title, anyOf: listOf(900, () => ({ $ref: '#' })) },
    'a long list of names': { title, required: listOf(3500, (index) => `n${index}`) },
    'a long list of types': { title, properties: { a: { type: listOf(4500, () => 'null') } } },
    'a long list of values': { title, properties: { a: { enum: listOf(5000, (index) => index) } } },
    'one pattern': { title, properties: { a: { pattern: `${'('.repeat(9000)}a${')+'.repeat(9000)}` } } },
    'many ids': {
      title,
      $defs: mapOf(
        700,
        (at) => `d${at}`,
        (at) => ({ $id: `https://example.com/${at}` }),
      ),
    },
    'nested as deep as may be': listOf(14, (at) => at).reduce<Readonly<Record<string, unknown>>>((inner) => ({ oneOf: [inner, {}, {}] }), {
      title,
    }),
    'wrong at its end': { title, anyOf: [...listOf(980, () => ({})), { type: 'text' }] },
  };
}

/** Returns one of each kind. @param seed makes them differ from those of other seeds */
export function hostileBodies(seed: number): readonly HostileBody[] {
  const agents = (name: string, body: unknown): HostileBody => ({ name, method: 'POST', path: '/v2/ai-agents', body: textOf(body) });
  const update = (name: string, body: unknown): HostileBody => ({ name, method: 'PUT', path: '/v2/ai-agents/:agent', body: textOf(body) });
  const tools = (name: string, body: unknown): HostileBody => ({
    name,
    method: 'POST',
    path: '/v2/ai-agents/:agent/custom-tools/',
    body: textOf(body),
  });
  const hooks = (name: string, body: unknown): HostileBody => ({
    name,
    method: 'POST',
    path: '/v1/public/webhook/subscription',
    body: textOf(body),
  });
  const schemas = Object.entries(hostileSchemas(seed));
  return [
    ...schemas.map(([name, schema]) => tools(`schema: ${name}`, tool(schema))),
    // One of them is wrong, so that all are judged and none is made.
    update('schema: of 64 tools', {
      llm: {
        tools: listOf(64, (at) =>
          tool({ title: `${seed} ${at}`, anyOf: listOf(140, (each) => (at + each === 0 ? { type: 'text' } : { const: each })) }, `f${at}`),
        ),
      },
    }),
    update('schema: 90 KB in five tools', {
      llm: {
        tools: listOf(5, (at) =>
          tool({ title: String(seed), oneOf: listOf(900, (each) => ({ type: at + each === 0 ? 'text' : 'string' })) }, `f${at}`),
        ),
      },
    }),
    agents(
      'headers: bad ones',
      lookup({
        headers: mapOf(
          19_000,
          (at) => `bad header ${at} ${seed}`,
          () => 1,
        ),
      }),
    ),
    agents(
      'headers: a MiB of them',
      lookup({
        headers: mapOf(
          40_000,
          (at) => `header ${at} of ${seed}`,
          () => 1,
        ),
      }),
    ),
    agents(
      'headers: many',
      lookup({
        headers: mapOf(
          19_000,
          (at) => `h-${at}`,
          () => 'x',
        ),
      }),
    ),
    agents(
      'headers: long names',
      lookup({
        headers: mapOf(
          100,
          (at) => `${'é'.repeat(5000)}${at}`,
          () => 1,
        ),
      }),
    ),
    agents('values: a list', lookup({ body: { a: listOf(19_000, () => 1) } })),
    agents('values: objects', lookup({ body: { a: listOf(19_000, () => ({})) } })),
    agents(
      'values: keys',
      lookup({
        body: {
          a: mapOf(
            19_000,
            (at) => `k${at}`,
            () => 1,
          ),
        },
      }),
    ),
    agents('values: large numbers', `{"llm":[${filling('12345678901234567890123,', 400_000)}1]}`),
    agents('values: endless numbers', `{"llm":[${filling(`${'9'.repeat(400)},`)}1]}`),
    agents('values: half a million', `[${filling('1,')}1]`),
    agents('nesting: lists', '['.repeat(500_000) + ']'.repeat(500_000)),
    agents('nesting: objects', `${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}`),
    agents('nesting: in a value', textOf(lookup({ body: { a: 'here' } })).replace('"here"', '['.repeat(15_000) + ']'.repeat(15_000))),
    agents('nesting: unclosed', '[{"a":'.repeat(9000)),
    agents('text: escapes that break off', `{"a":"${filling('\\n')}"`),
    agents('text: characters that break off', `{"a":"${filling('😀')}`),
    agents('text: half characters', `{"agent_name":"${filling('\\ud800')}"}`),
    agents('text: a prompt that is too long', agent({}, { system_prompt: filling('😀') })),
    agents('text: a language', agent({ language_code: filling('a-') })),
    agents('text: an address', agent({ webhook_url: filling('http') })),
    agents(
      'fields: unknown ones',
      agent(
        mapOf(
          19_000,
          (at) => `field${at}`,
          () => 'x',
        ),
      ),
    ),
    agents(
      'union: tools of the wrong kind',
      agent(
        {},
        {
          tools: listOf(64, () => ({
            function_tool: mapOf(
              250,
              (at) => `k${at}`,
              () => 1,
            ),
          })),
        },
      ),
    ),
    agents('lists: analysis', agent({ post_call_analysis: listOf(19_000, () => 1) })),
    tools('parameters: fixed ones', {
      ...tool({}),
      additional_tool_info: { tool_type: 'custom', api: { endpoint: 'x', parameters: { fixed_params: mapOf(9000, String, () => 1) } } },
    }),
    {
      name: 'union: a built-in tool',
      method: 'POST',
      path: '/v2/ai-agents/:agent/builtin-tools/',
      body: textOf({ tool_name: { a: filling('\\', 400_000) } }),
    },
    {
      name: 'union: of values',
      method: 'POST',
      path: '/v2/ai-agents/:agent/builtin-tools/',
      body: textOf({ tool_name: listOf(19_000, () => ['x']) }),
    },
    hooks('lists: events', subscription({ events: listOf(19_000, (at) => `e${at}`) })),
    hooks(
      'headers: values',
      subscription({
        headers: mapOf(
          19_000,
          (at) => `h${at}`,
          () => '\n',
        ),
      }),
    ),
    hooks('text: a header', subscription({ headers: { a: filling('a ') } })),
    { name: 'text: a number', method: 'POST', path: '/v1/phone-numbers', body: textOf({ phone_number: `+${filling('1')}` }) },
    { name: 'text: an id', method: 'POST', path: '/v1/calls/create-web-call', body: textOf({ ai_agent_id: filling('a') }) },
    {
      name: 'values: of a call',
      method: 'POST',
      path: '/v1/calls/create-web-call',
      body: textOf({
        ai_agent_id: 'a',
        metadata: {
          a: mapOf(
            18_000,
            (at) => `k${at}`,
            () => 1,
          ),
        },
      }),
    },
    {
      name: 'lists: addresses of pages',
      method: 'POST',
      path: '/api/v1/knowledge-bases/none/documents/website',
      body: textOf({ page_urls: listOf(19_000, () => 1) }),
    },
    {
      name: 'text: a description',
      method: 'POST',
      path: '/api/v1/knowledge-bases',
      body: textOf({ name: 'hostile', description: filling('é') }),
    },
  ];
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}
