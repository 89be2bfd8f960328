import { assert, jsonValue, pre, property } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { agentKind, type AgentSpec } from './agent.ts';
import { MAX_SUBSCHEMAS } from './json-schema.ts';
import { knowledgeBaseKind } from './knowledge-base.ts';
import {
  agentProblems,
  freeJson,
  knowledgeBaseProblems,
  languageTag,
  MAX_FREE_JSON_BYTES,
  parameters,
  timeZone,
  toolProblems,
} from './limits.ts';
import { toolKind } from './tool.ts';

const agent = (spec: Record<string, unknown> = {}): AgentSpec =>
  agentKind.spec.parse({ llm: { model: 'm' }, speechToText: { provider: 'deepgram' }, textToSpeech: { provider: 'elevenlabs' }, ...spec });

const tool = (custom: Record<string, unknown>, http: Record<string, unknown> = {}) =>
  toolKind.spec.parse({ type: 'Custom', custom: { function: { name: 'f', ...custom }, http: { url: 'https://example.com', ...http } } });

const nested = (depth: number): unknown => {
  let value: unknown = 'x';
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
};

/** Builds a string value whose JSON, as `{"a":"…"}`, has exactly this many bytes. */
const ofBytes = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

it('holds fallbacks to what holds for the provider before them', () => {
  const fallbacks = [
    { provider: 'openai', model: 'm' },
    { provider: 'openai', model: 'm', baseURL: 'http://user:pass@host' },
  ];
  for (const part of ['llm', 'speechToText', 'textToSpeech'] as const) {
    const paths = agentProblems(agent({ [part]: { provider: 'openai', model: 'm', fallbacks } })).map(({ path }) => path);
    expect(paths).toEqual([`spec.${part}.fallbacks[1].baseURL`]);
  }
});

describe('free JSON', () => {
  it('is allowed up to 32 KiB, counted in bytes and not in characters', () => {
    expect(freeJson(ofBytes(MAX_FREE_JSON_BYTES), 'p')).toEqual([]);
    expect(freeJson(ofBytes(MAX_FREE_JSON_BYTES + 1), 'p')).toEqual([
      { path: 'p', message: 'has 32769 bytes of JSON, at most 32768 are allowed' },
    ]);
    expect(freeJson({ a: 'অ'.repeat(11_000) }, 'p')).toHaveLength(1);
  });

  it('is allowed 32 levels deep, lists counting as levels', () => {
    expect(freeJson(nested(32), 'p')).toEqual([]);
    expect(freeJson(nested(33), 'p')).toEqual([{ path: 'p', message: 'is nested more than 32 levels deep' }]);
    expect(freeJson({ a: [nested(31)] }, 'p')).toHaveLength(1);
  });

  it('survives nesting that would overflow the stack', () => {
    expect(freeJson(nested(200_000), 'p')).toHaveLength(1);
  });

  it('accepts whatever is small', () => {
    assert(
      property(jsonValue({ maxDepth: 5, stringUnit: 'binary' }), (value) => {
        pre(JSON.stringify(value).length < 5000);
        expect(freeJson(value, 'p')).toEqual([]);
      }),
    );
  });

  it('may be absent', () => {
    expect(freeJson(undefined, 'p')).toEqual([]);
  });
});

describe('parameters of a function', () => {
  const sound: readonly (readonly [string, Record<string, unknown>])[] = [
    ['none at all', {}],
    ['2020-12 by name', { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', prefixItems: [{ type: 'string' }] }],
    [
      'draft-07 by name, with #',
      { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { a: { items: [{ type: 'string' }] } } },
    ],
    ['2020-12 without its name', { type: 'object', properties: { a: { type: 'array', prefixItems: [{ type: 'string' }], items: false } } }],
    [
      'draft-07 without its name',
      { type: 'object', properties: { a: { type: 'array', items: [{ type: 'string' }], additionalItems: false } } },
    ],
    ['references inside', { type: 'object', properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: { type: 'string' } } }],
    ['recursion', { type: 'object', properties: { child: { $ref: '#' } } }],
    ['its own id, twice', { $id: 'https://example.com/s', type: 'object' }],
    ['its own id, again', { $id: 'https://example.com/s', type: 'object' }],
    ['unknown keywords and formats', { type: 'object', properties: { a: { type: 'string', format: 'phone', 'x-order': 1 } } }],
    ['a pattern that needs no u flag', { type: 'object', properties: { a: { type: 'string', pattern: '^\\d{3}\\-\\d{4}$' } } }],
    ['asynchronous ones', { $async: true, type: 'object' }],
    ['a reference by anchor', { $ref: '#it', $defs: { x: { $anchor: 'it' } } }],
    ['a reference by anchor of draft-07', { $ref: '#it', definitions: { x: { $id: '#it' } } }],
    ['a reference by id', { $id: 'https://example.com/s', $ref: 'x', $defs: { x: { $id: 'x', $ref: 's#/$defs/y' }, y: {} } }],
    ['a reference by a relative id', { $ref: 'x#/$defs/y', $defs: { x: { $id: 'x', $ref: '#/$defs/y', $defs: { y: true } } } }],
    ['a reference with escapes', { $ref: '#/$defs/a~1b%20%25~0', $defs: { 'a/b %~': {} } }],
    ['a dynamic reference', { $dynamicAnchor: 'it', $ref: '#it', properties: { a: { $dynamicRef: '#it' } } }],
    ['names that look like keywords', { properties: { $ref: { type: 'string' }, enum: { type: 'string' }, pattern: true } }],
    ['values that look like schemas', { const: { $ref: '#/none' }, default: { pattern: '(' }, enum: [{ $id: 'a' }, { $id: 'a' }] }],
    ['as many schemas as may be', { anyOf: Array.from({ length: MAX_SUBSCHEMAS - 1 }, () => ({ type: 'string' })) }],
  ];
  it.each(sound)('are accepted: %s', (_name, schema) => {
    expect(parameters(schema, 'p')).toEqual([]);
  });

  const unsound: readonly (readonly [string, Record<string, unknown>, RegExp, string?])[] = [
    ['unknown type', { type: 'object', properties: { a: { type: 'text' } } }, /must be equal to one of the allowed values/],
    ['required is no list', { type: 'object', required: 'a' }, /required must be array/],
    ['broken pattern', { type: 'object', properties: { a: { pattern: '(' } } }, /Invalid regular expression/],
    ['reference to nothing', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }, /can't resolve reference #\/\$defs\/none/],
    ['reference to elsewhere', { type: 'object', properties: { a: { $ref: 'https://example.com/s' } } }, /can't resolve reference/],
    ['unknown dialect', { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }, /\$schema must be/],
    ['no object', { type: 'string' }, /must be object/, 'p.type'],
    [
      'a reference that leaves its resource',
      { $ref: '#/$defs/x/$defs/y', $defs: { x: { $id: 'x', $ref: '#/$defs/z' }, z: {} } },
      /can't resolve/,
    ],
    ['a reference to what is no schema', { properties: { a: {} }, $ref: '#/properties' }, /can't resolve reference #\/properties/],
    ['a reference to an unknown anchor', { $ref: '#it', $defs: { x: { $anchor: 'other' } } }, /can't resolve reference #it/],
    ['a reference with a broken escape', { $ref: '#/$defs/%', $defs: { '%': {} } }, /can't resolve reference/],
    ['broken property pattern', { patternProperties: { '[': {} } }, /Invalid regular expression/],
    ['one name for two', { $defs: { x: { $anchor: 'a' }, y: { $anchor: 'a' } } }, /two of its schemas are called #a/],
    ['no values to choose from', { properties: { a: { enum: [] } } }, /enum must have/],
    ['more schemas than may be', { anyOf: Array.from({ length: MAX_SUBSCHEMAS }, () => ({})) }, /more than 1000 schemas/],
    ['true and false in their thousands', { anyOf: Array.from({ length: 5000 }, () => true) }, /more than 1000 schemas/],
    [
      'patterns in their thousands',
      { patternProperties: Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [n, {}])) },
      /more than 1000/,
    ],
    ['too large', { type: 'object', description: 'x'.repeat(40_000) }, /bytes of JSON/],
  ];
  it.each(unsound.map(([name, schema, message, path = 'p']) => [name, schema, message, path] as const))(
    'are refused: %s',
    (_name, schema, message, path) => {
      expect(parameters(schema, 'p')).toEqual([{ path, message: expect.stringMatching(message) as string }]);
    },
  );

  it('are refused in few words, whatever they hold', () => {
    const [problem] = parameters({ type: 'object', properties: { ['x'.repeat(30_000)]: { type: 'text' } } }, 'p');
    expect(problem?.message.length).toBeLessThan(600);
  });

  it.each(['', 'x'])('are refused in whole characters (after %j)', (before) => {
    const name = `${before}${'🎉'.repeat(1000)}`;
    const faults = [{ properties: { [name]: { type: 'text' } } }, { properties: { a: { $ref: name } } }].flatMap((schema) =>
      parameters({ type: 'object', ...schema }, 'p'),
    );
    expect(faults.map(({ message }) => message.isWellFormed())).toEqual([true, true]);
  });

  it('leave no trace in the next check', () => {
    expect(parameters({ $id: 'https://example.com/t', type: 'object', properties: { a: { type: 'text' } } }, 'p')).toHaveLength(1);
    expect(parameters({ $id: 'https://example.com/t', type: 'object' }, 'p')).toEqual([]);
    expect(parameters({ type: 'object', properties: { a: { $ref: 'https://example.com/t' } } }, 'p')).toHaveLength(1);
  });
});

describe('time zones', () => {
  it.each(['UTC', 'GMT', 'EST5EDT', 'Japan', 'Europe/Berlin', 'Asia/Dhaka', 'America/Argentina/Buenos_Aires'])('%s is one', (zone) =>
    expect(timeZone(zone, 'p')).toEqual([]),
  );
  it.each(['Mars/Olympus', '+01:00', '-0300', '', 'Europe', 'IST', 'CET', 'aet', 'SystemV/PST8'])('%j is none', (zone) =>
    expect(timeZone(zone, 'p')).toHaveLength(1),
  );
});

describe('language tags', () => {
  it.each(['en', 'en-US', 'pt-BR', 'zh-Hant-TW', 'bn', 'es-419'])('%s is one', (tag) => expect(languageTag(tag, 'p')).toEqual([]));
  it.each(['', 'e', 'en_US', 'en-', 'en-US-US', 'english language'])('%j is none', (tag) => expect(languageTag(tag, 'p')).toHaveLength(1));
});

describe('headers that the connection has', () => {
  const named = (name: string) => [{ name, value: 'x' }];
  const paths = (name: string) =>
    [
      ...toolProblems(tool({}, { url: 'https://example.com', headers: named(name) })),
      ...toolProblems(toolKind.spec.parse({ type: 'MCP', mcp: { url: 'https://example.com/mcp', headers: named(name) } })),
      ...agentProblems(agent({ dynamicData: [{ name: 'a', url: 'https://example.com', headers: named(name) }] })),
    ].map(({ path }) => path);

  it.each(['Host', 'content-length', 'Transfer-Encoding', 'connection', 'te', 'upgrade', 'expect', 'Proxy-Authorization'])(
    'can be set by no tool, lookup or MCP server: %s',
    (name) =>
      expect(paths(name)).toEqual(['spec.custom.http.headers[0].name', 'spec.mcp.headers[0].name', 'spec.dynamicData[0].headers[0].name']),
  );
  it('are no others', () => expect(paths('X-Host')).toEqual([]));
});

describe('a lookup', () => {
  const lookup = (fields: object) => agentProblems(agent({ dynamicData: [{ name: 'a', url: 'https://example.com', ...fields }] }));

  it('asks with texts, numbers and booleans', () => {
    expect(lookup({ query: { text: 'x'.repeat(4096), number: 0.5, flag: false } })).toEqual([]);
    const bad = { none: null, list: [1], long: 'x'.repeat(4097), ['k'.repeat(129)]: 'x' };
    expect(lookup({ query: bad }).map(({ path }) => path)).toEqual([
      'spec.dynamicData[0].query.none',
      'spec.dynamicData[0].query.list',
      'spec.dynamicData[0].query.long',
      'spec.dynamicData[0].query',
    ]);
  });

  it('takes what paths lead to that can be read', () => {
    const response = [
      { name: 'a', path: '$.orders[0].id' },
      { name: 'b', path: '$[?(@.id)]' },
    ];
    expect(lookup({ response })).toEqual([
      { path: 'spec.dynamicData[0].response[1].path', message: expect.stringContaining('is no path into JSON') },
    ]);
  });
});

describe('a whole spec', () => {
  it('has no problems when it is sound', () => {
    expect(agentProblems(agent({ dynamicData: [{ name: 'a', url: 'https://example.com', body: { a: 1 } }] }))).toEqual([]);
    expect(toolProblems(tool({ parameters: { type: 'object' } }))).toEqual([]);
    expect(knowledgeBaseProblems(knowledgeBaseKind.spec.parse({}))).toEqual([]);
  });

  it('reports everything at once, each with its path', () => {
    const problems = agentProblems(
      agent({
        language: 'en-US-US',
        timeZone: 'Mars/Olympus',
        dynamicData: [
          { name: 'a', url: 'https://example.com' },
          { name: 'b', url: 'https://example.com', body: ofBytes(40_000) },
        ],
      }),
    );
    expect(problems.map((problem) => problem.path)).toEqual(['spec.language', 'spec.timeZone', 'spec.dynamicData[1].body']);
  });

  it('looks at every address', () => {
    const bad = 'https://[';
    const problems = agentProblems(
      agent({
        llm: { model: 'm', baseURL: bad },
        speechToText: { provider: 'deepgram', baseURL: bad },
        textToSpeech: { provider: 'cartesia', baseURL: bad },
        webhookURL: bad,
        dynamicData: [
          { name: 'a', url: 'https://example.com' },
          { name: 'b', url: bad },
        ],
      }),
    );
    expect(problems.map(({ path }) => path)).toEqual([
      'spec.llm.baseURL',
      'spec.speechToText.baseURL',
      'spec.textToSpeech.baseURL',
      'spec.webhookURL',
      'spec.dynamicData[1].url',
    ]);
    const http = { type: 'Custom', custom: { function: { name: 'f' }, http: { url: bad } } };
    expect(toolProblems(toolKind.spec.parse(http)).map(({ path }) => path)).toEqual(['spec.custom.http.url']);
  });

  it('refuses a placeholder that decides who gets the value of a Secret', () => {
    const headers = [{ name: 'X-Key', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }];
    const lookups = [
      { name: 'a', url: 'https://{{host}}/x', headers },
      { name: 'b', url: 'https://{{region}}.example.com/x', headers },
      { name: 'c', url: 'https://{{host}}/x' },
    ];
    expect(agentProblems(agent({ dynamicData: lookups })).map(({ path }) => path)).toEqual(['spec.dynamicData[0].url']);
    const http = { url: 'https://{host}/x', headers };
    const named = { properties: { host: {} } };
    expect(
      toolProblems(toolKind.spec.parse({ type: 'Custom', custom: { function: { name: 'f', parameters: named }, http } })).map(
        ({ path }) => path,
      ),
    ).toEqual(['spec.custom.http.url']);
  });

  it('looks into every free field of a tool', () => {
    const large = { p: { value: ofBytes(33_000) } };
    expect(
      toolProblems(tool({ parameters: { type: 'array' } }, { fixedParams: large, runtimeParams: large })).map((problem) => problem.path),
    ).toEqual(['spec.custom.function.parameters.type', 'spec.custom.http.fixedParams', 'spec.custom.http.runtimeParams']);
    const calendar = { eventTypeID: '1', apiKeySecretRef: { name: 'n', key: 'k' }, timeZone: 'Mars/Olympus' };
    expect(toolProblems(toolKind.spec.parse({ type: 'BookCalendar', bookCalendar: calendar }))).toEqual([
      { path: 'spec.bookCalendar.timeZone', message: '"Mars/Olympus" is not an IANA time zone; use a name like Europe/Berlin or UTC' },
    ]);
    expect(
      toolProblems(toolKind.spec.parse({ type: 'CheckCalendarAvailability', checkCalendarAvailability: calendar })).map(
        (problem) => problem.path,
      ),
    ).toEqual(['spec.checkCalendarAvailability.timeZone']);
  });

  it('says so for the language of documents', () => {
    expect(knowledgeBaseProblems(knowledgeBaseKind.spec.parse({ documentLanguage: 'de-DE-DE' }))).toHaveLength(1);
  });
});

describe('the analysis that a canary is judged by', () => {
  const judgedBy = (type: string) =>
    agentProblems(
      agent({
        postCallAnalysis: [{ name: 'satisfied', type }],
        release: { canary: { percent: 10, for: '30m', minCalls: 20, abortOn: { analysis: { name: 'satisfied', below: '80' } } } },
      }),
    );

  it.each(['Boolean', 'Number'])('may be a %s', (type) => expect(judgedBy(type)).toEqual([]));

  it.each(['String', 'Enum'])('can not be a %s', (type) =>
    expect(judgedBy(type)).toEqual([
      {
        path: 'spec.release.canary.abortOn.analysis.name',
        message: 'names no item of spec.postCallAnalysis whose type is a boolean or a number; there is none',
      },
    ]),
  );
});

describe('the patterns of a redaction', () => {
  const patterns = (...regexes: readonly string[]) =>
    agentProblems(agent({ redaction: { patterns: regexes.map((regex, index) => ({ name: `p${index}`, regex })) } }));

  it('are regular expressions of RE2', () => {
    expect(patterns(String.raw`(?i)acme-\d{4}`, String.raw`\p{L}+`)).toEqual([]);
    expect(patterns('ok', '(?=a)b', String.raw`(a)\1`)).toEqual([
      {
        path: 'spec.redaction.patterns[1].regex',
        message:
          'is no regular expression of RE2, which has no look-around and no back-references: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
      },
      { path: 'spec.redaction.patterns[2].regex', message: expect.stringContaining('back-references') },
    ]);
  });
});
