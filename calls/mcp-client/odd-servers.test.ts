/** Real MCP servers deviate from the protocol: what can be used is used, and the list says why the rest can't be. */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { connectMcp, type McpConnection } from './connect.ts';
import type { ServerTool } from '../../crds/mcp-tools.ts';
import { Redaction } from '../../voice/tools/http/redaction.ts';
import { toToolResult } from '../../voice/tools/mcp/mcp-result.ts';
import { Servers } from '../../test/support/http-servers.ts';
import { openEgress, type TestEgress } from '../../test/support/open-egress.ts';

type Json = Readonly<Record<string, unknown>>;

interface Odd {
  readonly initialize?: Json;
  readonly list?: Json | ((cursor: unknown) => Json);
  readonly call?: Json;
  /** Members that each answer has besides its result. */
  readonly message?: Json;
  readonly send?: (response: ServerResponse, message: Json) => void;
}

const never = new AbortController().signal;
const servers = new Servers();
let egress: TestEgress;

beforeEach(() => (egress = openEgress({ allowCidrs: ['127.0.0.0/8'] })));
afterEach(async () => {
  await servers.stop();
  egress.close();
});

const INITIALIZED = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } };
const tool = (more: Json = {}): Json => ({ name: 'find', description: 'Finds.', inputSchema: { type: 'object' }, ...more });
const good = tool({ name: 'good' });

const sendJson = (response: ServerResponse, message: Json): void => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(message));
};
const sendEvents =
  (write: (json: string) => string) =>
  (response: ServerResponse, message: Json): void => {
    response.setHeader('content-type', 'text/event-stream');
    response.end(write(JSON.stringify(message)));
  };

async function bodyOf(request: IncomingMessage): Promise<Json> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? {} : (JSON.parse(text) as Json);
}

async function startOdd({ initialize, list, call, message = {}, send = sendJson }: Odd): Promise<string> {
  const { port } = await servers.http((request, response) => {
    void bodyOf(request).then(({ id, method, params }) => {
      if (request.method === 'DELETE' || id === undefined) return response.writeHead(request.method === 'DELETE' ? 200 : 202).end();
      const cursor = (params as Json | undefined)?.['cursor'];
      const results: Readonly<Record<string, Json | undefined>> = {
        initialize: { ...INITIALIZED, ...initialize },
        'tools/list': typeof list === 'function' ? list(cursor) : (list ?? { tools: [good] }),
        'tools/call': call ?? { content: [{ type: 'text', text: 'ok' }] },
      };
      const result = results[String(method)];
      if (result === undefined) return sendJson(response, { jsonrpc: '2.0', id, error: { code: -32_601, message: 'no such method' } });
      return send(response, { jsonrpc: '2.0', id, result, ...message });
    });
  });
  return `http://127.0.0.1:${port}/mcp`;
}

async function withOdd<T>(odd: Odd, use: (connection: McpConnection) => Promise<T>): Promise<T> {
  const url = await startOdd(odd);
  const connection = await connectMcp({ url, egress, headers: async () => ({}), timeoutMs: 30_000, signal: never });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

const listed = (odd: Odd): Promise<readonly ServerTool[]> =>
  withOdd(odd, (connection) => connection.listTools({ timeoutMs: 30_000, signal: never }));
const usable = (tools: readonly ServerTool[]): readonly string[] =>
  tools.flatMap(({ name, unusable }) => (unusable === undefined ? [name] : []));

describe('the list of a server is whole', () => {
  it.each<readonly [what: string, odd: Odd]>([
    ['with nextCursor: null', { list: { tools: [good], nextCursor: null } }],
    ['with an empty nextCursor', { list: { tools: [good], nextCursor: '' } }],
    ['with _meta: null', { list: { tools: [good], _meta: null } }],
    ['with _meta that is a text', { list: { tools: [good], _meta: 'x' } }],
    ['with error: null next to the result', { message: { error: null } }],
    ['with fields of its own around the result', { message: { took: 3 } }],
    ['with instructions: null', { initialize: { instructions: null } }],
    ['with instructions that are a list', { initialize: { instructions: ['a'] } }],
    ['with capabilities: null', { initialize: { capabilities: null } }],
    ['with no capabilities', { initialize: { capabilities: undefined } }],
    ['with capabilities that are null one by one', { initialize: { capabilities: { tools: {}, prompts: null, resources: null } } }],
    ['with serverInfo: null', { initialize: { serverInfo: null } }],
    ['with serverInfo without a version', { initialize: { serverInfo: { name: 'odd' } } }],
    ['with serverInfo whose version is a number', { initialize: { serverInfo: { name: 'odd', version: 1 } } }],
    ['of a protocol version that nobody knows', { initialize: { protocolVersion: '2099-01-01' } }],
    ['of a protocol version that is a number', { initialize: { protocolVersion: 2 } }],
    ['of protocol version null', { initialize: { protocolVersion: null } }],
    ['of the first protocol version', { initialize: { protocolVersion: '2024-11-05' } }],
    ['in a stream of events', { send: sendEvents((json) => `event: message\ndata: ${json}\n\n`) }],
    ['in a stream with CR LF', { send: sendEvents((json) => `event: message\r\ndata: ${json}\r\n\r\n`) }],
    ['in a stream without a blank after data:', { send: sendEvents((json) => `data:${json}\n\n`) }],
    ['in a stream with comments and an id', { send: sendEvents((json) => `: hello\nid: 7\ndata: ${json}\n\n`) }],
    [
      'in a stream with a notification before it',
      {
        send: sendEvents(
          (json) => `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":null}}\n\ndata: ${json}\n\n`,
        ),
      },
    ],
    ['in a stream with a null', { list: { tools: [good], nextCursor: null }, send: sendEvents((json) => `data: ${json}\n\n`) }],
    [
      'in JSON with a byte order of its own',
      {
        send: (response, message) => {
          response.setHeader('content-type', 'application/json; charset=utf-8');
          response.end(JSON.stringify(message, undefined, 2));
        },
      },
    ],
    [
      'on two pages, the last with a null',
      { list: (cursor) => (cursor === undefined ? { tools: [], nextCursor: 'b' } : { tools: [good], nextCursor: null }) },
    ],
  ])('%s', async (_what, odd) => {
    expect(usable(await listed(odd))).toEqual(['good']);
  });
});

describe('a tool is used', () => {
  it.each<readonly [what: string, odd: Json, made: Partial<ServerTool>]>([
    ['with description: null', { description: null }, { description: '' }],
    ['with a description that is a number', { description: 5 }, { description: '' }],
    ['with title: null', { title: null }, {}],
    ['with annotations: null', { annotations: null }, { readOnly: false }],
    [
      'with annotations that are null one by one',
      { annotations: { title: null, readOnlyHint: null, destructiveHint: null } },
      { readOnly: false },
    ],
    ['with a hint that is a text', { annotations: { readOnlyHint: 'true' } }, { readOnly: false }],
    ['with outputSchema: null', { outputSchema: null }, {}],
    ['with an outputSchema that is none', { outputSchema: { type: 'array', items: 5 } }, {}],
    ['with _meta: null', { _meta: null }, {}],
    ['with icons: null and execution: null', { icons: null, execution: null }, {}],
    ['with fields of its own', { inputs: [], version: 3 }, {}],
    ['without inputSchema', { inputSchema: undefined }, { parameters: { type: 'object' } }],
    ['with inputSchema: null', { inputSchema: null }, { parameters: { type: 'object' } }],
    ['with an inputSchema that is a text', { inputSchema: 'none' }, { parameters: { type: 'object' } }],
    [
      'whose inputSchema has no type',
      { inputSchema: { properties: { a: {} } } },
      { parameters: { type: 'object', properties: { a: {} } } },
    ],
    ['whose required is null', { inputSchema: { type: 'object', required: null } }, { parameters: { type: 'object' } }],
    ['whose properties are null', { inputSchema: { type: 'object', properties: null } }, { parameters: { type: 'object' } }],
    [
      'whose schema means null by null',
      { inputSchema: { type: 'object', properties: { a: { type: ['string', 'null'], default: null, enum: ['x', null] } } } },
      { parameters: { type: 'object', properties: { a: { type: ['string', 'null'], default: null, enum: ['x', null] } } } },
    ],
  ])('%s', async (_what, odd, made) => {
    expect(await listed({ list: { tools: [good, tool(odd)] } })).toEqual([
      expect.objectContaining({ name: 'good' }),
      expect.objectContaining({ name: 'find', ...made }),
    ]);
  });
});

describe('a tool that no model can be given is named with the reason, next to those that can', () => {
  it.each<readonly [what: string, odd: Json, why: RegExp]>([
    [
      'a reference to nothing',
      { inputSchema: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } },
      /^inputSchema is not a valid JSON Schema: .*nowhere/,
    ],
    [
      'a broken pattern',
      { inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '(?<bad' } } } },
      /^inputSchema is not a valid JSON Schema: /,
    ],
    ['a schema of another type', { inputSchema: { type: 'array' } }, /^inputSchema\.type must be object/],
    [
      'a type that is no type',
      { inputSchema: { type: 'object', properties: { a: { type: 'strnig' } } } },
      /^inputSchema is not a valid JSON Schema/,
    ],
    [
      'a schema that is too deep',
      { inputSchema: { type: 'object', a: Array.from({ length: 200 }).reduce((inner) => [inner], 1) } },
      /^inputSchema/,
    ],
    ['no name', { name: '' }, /^it has no name$/],
    ['a name that is null', { name: null }, /^it has no name$/],
    ['a name that is a number', { name: 7 }, /^it has no name$/],
    ['a name of 200 characters', { name: 'x'.repeat(200) }, /^its name is longer than 128 characters$/],
  ])('%s', async (_what, odd, why) => {
    const tools = await listed({ list: { tools: [tool(odd), good] } });
    expect(usable(tools)).toEqual(['good']);
    expect(tools.find(({ unusable }) => unusable !== undefined)?.unusable).toMatch(why);
  });

  it('and items that are no tools at all are left out', async () => {
    expect(usable(await listed({ list: { tools: [null, 'x', 5, [], good] } }))).toEqual(['good']);
  });
});

describe('an answer to a call reaches the model', () => {
  const text = { type: 'text', text: '42' };
  it.each<readonly [what: string, call: Json, forModel: unknown]>([
    ['with annotations: null and _meta: null in a block', { content: [{ ...text, annotations: null, _meta: null }] }, '42'],
    ['with annotations that are none', { content: [{ ...text, annotations: { audience: 'everybody' } }] }, '42'],
    ['with _meta: null', { content: [text], _meta: null }, '42'],
    ['with isError: null', { content: [text], isError: null }, '42'],
    ['with structuredContent: null', { content: [text], structuredContent: null }, '42'],
    ['with a block that is a text', { content: ['42'] }, '42'],
    ['with content that is a text', { content: '42' }, '42'],
    ['with content that is a block', { content: text }, '42'],
    ['with a block of a type that is not known', { content: [{ type: 'rich', text: '42' }] }, '42'],
    ['with a block that is null', { content: [null, text] }, '42'],
    ['with a text that is a number', { content: [{ type: 'text', text: 42 }] }, '42'],
    ['with structuredContent and content: null', { content: null, structuredContent: { answer: 42 } }, { answer: 42 }],
    ['with structuredContent alone', { structuredContent: { answer: 42 } }, { answer: 42 }],
    ['with content: null', { content: null }, { note: 'Done; the answer has no content.' }],
    [
      'with a resource whose fields are null',
      { content: [{ type: 'resource', resource: { uri: 'a:b', text: '42', mimeType: null, _meta: null } }] },
      '42',
    ],
  ])('%s', async (_what, call, forModel) => {
    const result = await withOdd({ call }, async (connection) => {
      const [first] = await connection.listTools({ timeoutMs: 30_000, signal: never });
      return connection.callTool(first!, {}, { timeoutMs: 30_000, signal: never });
    });
    expect(toToolResult(result, { redaction: new Redaction([]), host: 'odd' })).toMatchObject({ succeeded: true, forModel });
  });

  it('of an error that has isError alone', async () => {
    const result = await withOdd({ call: { isError: true, content: null } }, (connection) =>
      connection.callTool(
        { name: 'good', description: '', parameters: { type: 'object' }, readOnly: false },
        {},
        { timeoutMs: 30_000, signal: never },
      ),
    );
    expect(toToolResult(result, { redaction: new Redaction([]), host: 'odd' }).succeeded).toBe(false);
  });
});
