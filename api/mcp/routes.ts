/** `/mcp`: the routes that assistants may use, as an MCP server over streamable HTTP without sessions. Why so: docs/adr/0060-mcp-server.md. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

import { createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';

import type { Logger } from '../../platform/logging.ts';
import { writeTraceparent } from '../../platform/telemetry/trace-context.ts';
import { ApiError } from '../http/api-error.ts';
import { mayUse } from '../http/auth.ts';
import { requestState } from '../http/request-state.ts';
import { addRoute, routesOf } from '../http/route.ts';
import type { SendRequest } from './call-tool.ts';
import { createMcpServer } from './server.ts';
import { toolsOf, type RouteTool } from './tools.ts';

const postMessage = routesOf('Operations')({
  method: 'POST',
  path: '/mcp',
  operationId: 'postMcpMessage',
  summary: 'A message of the Model Context Protocol',
  permission: 'any',
  undocumented: true,
  countsLater: true,
  ownOriginsOnly: true,
  jsonRpc: true,
  answers: { 200: { description: 'The answer to the message.', contentType: 'application/json' } },
});

export function registerMcp(app: FastifyInstance, { registry, logger }: { readonly registry: Registry; readonly logger: Logger }): void {
  const calls = new Counter({
    name: 'parley_mcp_tool_calls_total',
    help: 'Calls of MCP tools, by tool and outcome: ok or error.',
    labelNames: ['tool', 'outcome'],
    registers: [registry],
  });
  let tools: ReadonlyMap<string, RouteTool> | undefined;

  addRoute(app, postMessage, async ({ caller, request, reply }) => {
    tools ??= new Map(toolsOf(app.descriptions).map((tool) => [tool.definition.name, tool]));
    const known = tools;
    const message = messageOf(request);
    const state = requestState(request);
    state.tool = toolOf(message, known);
    if (!sendsRequest(message, known)) state.countRequest?.('refuse');
    const send = sender(app, request);
    const handler = createMcpHandler(
      () =>
        createMcpServer({
          tools: known,
          mayUse: ({ route }) => mayUse(caller, route),
          send,
          onCalled: (tool, { isError }) => calls.inc({ tool, outcome: isError === true ? 'error' : 'ok' }),
        }),
      { maxSubscriptions: 0, onerror: (err) => logger.debug({ err, traceId: state.traceId }, 'refused an MCP message') },
    );
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    const answer = await handler.fetch(webRequest(request, gone.signal), message === undefined ? {} : { parsedBody: message });
    for (const [name, value] of answer.headers) if (name !== 'cache-control') void reply.header(name, value);
    void reply.code(answer.status);
    if (answer.body === null) return reply.send();
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    return reply.send(isStream ? Readable.fromWeb(answer.body) : await answer.text());
  });
}

/** @throws ApiError for several messages at once; what is no JSON is left to the SDK to refuse */
function messageOf({ body }: FastifyRequest): unknown {
  if (!(body instanceof Uint8Array)) return undefined;
  let message: unknown;
  try {
    message = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
  if (Array.isArray(message)) throw new ApiError('bad_request', 'send one JSON-RPC message at a time');
  return message;
}

/** The name of the tool that a message calls, if there is one. */
function toolOf(message: unknown, tools: ReadonlyMap<string, RouteTool>): string | undefined {
  const { method, params } = (message ?? {}) as { readonly method?: unknown; readonly params?: { readonly name?: unknown } | null };
  const name = method === 'tools/call' ? params?.name : undefined;
  return typeof name === 'string' && tools.has(name) ? name : undefined;
}

/** Whether a message leads to a request of its own, which counts as any other does; one more for the message would be one too many. */
function sendsRequest(message: unknown, tools: ReadonlyMap<string, RouteTool>): boolean {
  return toolOf(message, tools) !== undefined || (message as { readonly method?: unknown } | null)?.method === 'resources/read';
}

/** Requests in this process, with the key and the trace of the request that they are made for. */
function sender(app: FastifyInstance, request: FastifyRequest): SendRequest {
  const { headers, ip } = request;
  const { span, traceId } = requestState(request);
  const inTrace = span?.reference ?? { traceId, spanId: randomBytes(8).toString('hex'), sampled: false };
  const passedOn = ['authorization', 'x-parley-api-key', 'user-agent'].flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return async ({ method, url, body }) => {
    const answer = await app.inject({
      method,
      url,
      remoteAddress: ip,
      headers: {
        ...Object.fromEntries(passedOn),
        traceparent: writeTraceparent(inTrace),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    });
    const retryAfter = answer.headers['retry-after'];
    return { status: answer.statusCode, text: answer.body, retryAfter };
  };
}

function webRequest({ headers, body, url }: FastifyRequest, signal: AbortSignal): Request {
  const given = Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as [string, string]] : []));
  return new Request(new URL(url, 'http://parley.invalid'), {
    method: 'POST',
    headers: given.filter(([name]) => name !== 'content-length'),
    signal,
    ...(body instanceof Uint8Array && { body: Buffer.from(body) }),
  });
}
