import { describe, expect, it } from 'vitest';

import { toolProblems } from './limits.ts';
import { dataNamesOf, toolRemarks } from './tool-consistency.ts';
import { toolKind, type ToolSpec } from './tool.ts';

const numbered = { properties: { number: { type: 'string' } }, required: ['number'] };
const HTTP = 'spec.custom.http';

/** Builds a custom tool that the schema of its kind takes. */
function tool(parameters: object | undefined, http: object, more: object = {}): ToolSpec {
  const fn = { name: 'f', ...(parameters && { parameters }) };
  return toolKind.spec.parse({ type: 'Custom', custom: { function: fn, http: { url: 'https://a.example', ...http } }, ...more });
}

describe('a tool that could never be called', () => {
  it.each<[string, object | undefined, object, string, RegExp]>([
    [
      'an argument of the address and no parameters',
      undefined,
      { url: 'https://a.example/{number}' },
      `${HTTP}.url`,
      /^holds "{number}", which nothing supplies.* add "number"/,
    ],
    ['one in the query', { properties: {} }, { url: 'https://a.example?n={number}' }, `${HTTP}.url`, /nothing supplies/],
    ['one in the host', numbered, { url: 'https://{region}.a.example' }, `${HTTP}.url`, /"{region}", which nothing supplies/],
    ['one that is misspelt', numbered, { url: 'https://a.example/{numbr}' }, `${HTTP}.url`, /did you mean "{number}"\?$/],
    [
      'one that no other name may stand for',
      { ...numbered, additionalProperties: false },
      { url: 'https://a.example/{id}' },
      `${HTTP}.url`,
      /nothing supplies/,
    ],
    [
      'one that is described as a list',
      { properties: { n: { type: ['array', 'null'] } } },
      { url: 'https://a.example/{n}' },
      `${HTTP}.url`,
      /list or an object/,
    ],
    [
      'one without a fixed value',
      undefined,
      { url: 'https://a.example/{n}', fixedParams: { n: {} } },
      `${HTTP}.url`,
      /fixedParams gives it no/,
    ],
    [
      'one with an object as its fixed value',
      undefined,
      { url: 'https://a.example/{n}', fixedParams: { n: { value: {} } } },
      `${HTTP}.url`,
      /fixedParams gives it a list or an object/,
    ],
    [
      'one whose value of the call is null',
      undefined,
      { url: 'https://a.example/{n}', runtimeParams: { n: { value: null } } },
      `${HTTP}.url`,
      /runtimeParams gives it no value/,
    ],
    [
      'a required value of the call that is empty',
      undefined,
      { runtimeParams: { n: { value: '', required: true } } },
      `${HTTP}.runtimeParams.n.value`,
      /is empty and required/,
    ],
    [
      'a required name without a property',
      { ...numbered, required: ['nmber'] },
      {},
      'spec.custom.function.parameters.required',
      /^names "nmber", which is no property: did you mean "number"\?$/,
    ],
    [
      'one further in',
      { properties: { a: { type: 'array', items: { type: 'object', properties: { x: {} }, required: ['street'] } } } },
      {},
      'spec.custom.function.parameters.properties.a.items.required',
      /^names "street", which is no property: add it/,
    ],
  ])('has %s', (_what, parameters, http, path, message) => {
    expect(toolProblems(tool(parameters, http))).toEqual([{ path, message: expect.stringMatching(message) }]);
  });

  it.each<[string, object | undefined, object]>([
    ['an argument that is a property', numbered, { url: 'https://a.example/{ number }' }],
    ['one of the call', undefined, { url: 'https://a.example/{n}', runtimeParams: { n: {} } }],
    ['one with a fixed value', undefined, { url: 'https://a.example/{n}', fixedParams: { n: { value: 0 } } }],
    [
      'one that an alternative of the schema describes',
      { anyOf: [numbered, { properties: { id: {} } }] },
      { url: 'https://a.example/{id}' },
    ],
    ['one for which the schema is open', { additionalProperties: { type: 'string' } }, { url: 'https://a.example/{n}' }],
    ['one that a pattern describes', { patternProperties: { '^n': {} } }, { url: 'https://a.example/{n}' }],
    ['braces that are no name', undefined, { url: 'https://a.example/{"a":1}' }],
    ['a name behind the address', undefined, { url: 'https://a.example/#{n}' }],
    ['data of the call in the address', undefined, { url: 'https://a.example/{{n}}' }],
    ['a required name that the owner supplies', { required: ['n'] }, { fixedParams: { n: { value: 1 } } }],
    ['required names of alternatives', { ...numbered, anyOf: [{ required: ['number'] }, { required: ['id'] }] }, {}],
  ])('is none with %s', (_what, parameters, http) => {
    expect(toolProblems(tool(parameters, http))).toEqual([]);
  });
});

const mcp = { url: 'https://mcp.example' };

describe('what has no effect, or works only now and then', () => {
  it.each<[string, ToolSpec, string, RegExp]>([
    [
      'an optional argument of the address',
      tool({ properties: { n: {} } }, { url: 'https://a.example/{n}' }),
      `${HTTP}.url`,
      /add it to required$/,
    ],
    ['an argument written as data', tool(numbered, { url: 'https://a.example/{{number}}' }), `${HTTP}.url`, /is written "{number}"$/],
    [
      'an argument in a header',
      tool(numbered, { headers: [{ name: 'X-N', value: 'no {number}' }] }),
      `${HTTP}.headers[0].value`,
      /sent as it is/,
    ],
    [
      'an argument in a fixed value',
      tool(numbered, { fixedParams: { a: { value: [{ b: '{number}' }] } } }),
      `${HTTP}.fixedParams.a.value[0].b`,
      /sent as it is/,
    ],
    [
      'a value of the call behind a fixed one',
      tool(undefined, { fixedParams: { a: { value: 1 } }, runtimeParams: { a: {} } }),
      `${HTTP}.runtimeParams.a`,
      /fixedParams has the same name/,
    ],
    [
      'a message for a delay that can not be',
      tool(undefined, { timeout: '5s' }, { messages: { delayed: 'One moment.' } }),
      'spec.messages.delayed',
      /never said/,
    ],
    [
      'a tool that is included and excluded',
      toolKind.spec.parse({ type: 'MCP', mcp: { ...mcp, include: ['a'], exclude: ['a'] } }),
      'spec.mcp.exclude[0]',
      /is in include, too/,
    ],
    [
      'messages of a tool that is left out',
      toolKind.spec.parse({ type: 'MCP', mcp: { ...mcp, include: ['a'], tools: [{ name: 'b' }] } }),
      'spec.mcp.tools[0]',
      /leave "b" out/,
    ],
  ])('is remarked on: %s', (_what, spec, path, message) => {
    expect(toolRemarks(spec)).toEqual([{ path, message: expect.stringMatching(message) }]);
  });

  it.each([
    ['arguments that are required', tool(numbered, { url: 'https://a.example/{number}' })],
    ['a longer timeout', tool(undefined, { timeout: '6s' }, { messages: { delayed: 'One moment.' } })],
    ['names that are offered', toolKind.spec.parse({ type: 'MCP', mcp: { ...mcp, exclude: ['a'], tools: [{ name: 'b' }] } })],
  ])('is none: %s', (_what, spec) => {
    expect(toolRemarks(spec)).toEqual([]);
  });
});

it('finds the data that every template of a tool wants', () => {
  const texts = tool(
    undefined,
    {
      url: 'https://a.example/{{url}}',
      headers: [{ name: 'X', value: '{{header}}' }],
      fixedParams: { a: { value: { b: ['{{fixed.street}}'] } } },
      runtimeParams: { c: { value: '{{runtime}}' } },
    },
    { description: '{{note}}', messages: { start: '{{start}} {{start}}' } },
  );
  expect(dataNamesOf(texts).map(({ name }) => name)).toEqual(['start', 'note', 'url', 'header', 'fixed.street', 'runtime']);
  const server = { ...mcp, headers: [{ name: 'X', value: '{{header}}' }], tools: [{ name: 'a', messages: { failed: '{{failed}}' } }] };
  const of = (spec: object) => dataNamesOf(toolKind.spec.parse(spec)).map(({ path, name }) => `${path} ${name}`);
  expect(of({ type: 'MCP', mcp: server })).toEqual(['spec.mcp.headers[0].value header', 'spec.mcp.tools[0].messages.failed failed']);
  expect(of({ type: 'TransferCall', transferCall: { to: 'sip:{{who}}@a.example' } })).toEqual(['spec.transferCall.to who']);
});
