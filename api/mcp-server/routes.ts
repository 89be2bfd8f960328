/** Serves `/mcp` to assistants: MCP over streamable HTTP without sessions. docs/adr/0060-mcp-server.md has the reasons. */
import { randomBytes } from 'node:crypto';

import { createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';

import type { Logger } from '../../platform/logging.ts';
import { writeTraceparent } from '../../platform/telemetry/trace-context.ts';
import { ApiError } from '../http/api-error.ts';
import { mayUse } from '../http/auth.ts';
import { requestState } from '../http/request-state.ts';
import { addRoute, routesOf } from '../http/route.ts';
import type { RouteAnswer, SendRequest } from './call-tool.ts';
import { createMcpServer } from './server.ts';
import { routeTools, type RouteTool, type ToolRequest } from './tools.ts';

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
    tools ??= new Map(routeTools(app.descriptions).map((tool) => [tool.definition.name, tool]));
    const known = tools;
    const message = parseMessage(request);
    const state = requestState(request);
    state.tool = toolOf(message, known);
    const leadsOn = sendsRequest(message, known);
    if (!leadsOn) state.countRequest?.('refuse');
    let sent = false;
    const inject = injector(app, request);
    const send: SendRequest = async (inner) => {
      sent = true;
      const { limits, ...answer } = await inject(inner);
      void reply.headers(limits);
      return answer;
    };
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
    let answer: Response;
    let text: string;
    try {
      answer = await handler.fetch(webRequest(request, gone.signal), message === undefined ? {} : { parsedBody: message });
      // This waits for the end: a stream of the SDK begins before the tool does.
      text = await answer.text();
    } finally {
      // It was refused before it became the request that would have counted.
      if (leadsOn && !sent) state.countRequest?.('refuse');
    }
    for (const [name, value] of answer.headers) if (name !== 'cache-control') void reply.header(name, value);
    return reply.code(answer.status).send(answer.body === null ? undefined : text);
  });
}

/** @throws ApiError for several messages at once; the SDK refuses a body that isn't JSON */
function parseMessage({ body }: FastifyRequest): unknown {
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

function toolOf(message: unknown, tools: ReadonlyMap<string, RouteTool>): string | undefined {
  const { method, params } = (message ?? {}) as { readonly method?: unknown; readonly params?: { readonly name?: unknown } | null };
  const name = method === 'tools/call' ? params?.name : undefined;
  return typeof name === 'string' && tools.has(name) ? name : undefined;
}

/** Returns whether a message leads to a request of its own; that counts as any other does, so the message must not count, too. */
function sendsRequest(message: unknown, tools: ReadonlyMap<string, RouteTool>): boolean {
  return toolOf(message, tools) !== undefined || (message as { readonly method?: unknown } | null)?.method === 'resources/read';
}

/** Makes requests in this process, with the key and trace of `request`; `limits` are the headers of the limits afterwards. */
function injector(app: FastifyInstance, request: FastifyRequest) {
  const { headers, ip } = request;
  const { span, traceId } = requestState(request);
  const inTrace = span?.reference ?? { traceId, spanId: randomBytes(8).toString('hex'), sampled: false };
  const passedOn = ['authorization', 'x-parley-api-key', 'user-agent'].flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return async ({ method, url, body }: ToolRequest): Promise<RouteAnswer & { readonly limits: Readonly<Record<string, string>> }> => {
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
    const limits = Object.fromEntries(
      Object.entries(answer.headers).flatMap(([name, value]) => (name.startsWith('ratelimit-') ? [[name, String(value)] as const] : [])),
    );
    return { status: answer.statusCode, text: answer.body, retryAfter, limits };
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
