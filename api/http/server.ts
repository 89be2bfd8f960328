import type { Socket } from 'node:net';

import { fastify, type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify';

import type { Clock } from '../../platform/clock.ts';
import { isTracing } from '../../platform/telemetry/tracing.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { ErrorCode } from './api-error.ts';
import { registerAuthentication } from './auth.ts';
import { encodedBody, isEncoded } from './content-encoding.ts';
import { registerDeadline } from './deadline.ts';
import { registerForms } from './forms.ts';
import { registerIdempotency } from './idempotency.ts';
import { registerLargeBodies } from './large-bodies.ts';
import { httpMetrics } from './metrics.ts';
import { registerOriginCheck } from './origin.ts';
import { registerProbes } from './probes.ts';
import { sendFailure } from './reply.ts';
import { currentRequest, inRequest, requestState, RequestState, startRequest } from './request-state.ts';
import { requireDescriptions } from './route.ts';
import { requestSpan, traceIdOf } from './trace.ts';
import { registerStreamedBodies } from './streamed-bodies.ts';
import { registerTurnedAway } from './turned-away.ts';
import { registerUnknownRoutes } from './unknown-route.ts';
import { warnOfUntrustedProxies } from './untrusted-proxy.ts';
import { registerLargeAnswers } from './large-answers.ts';
import { registerRehearsals } from './rehearsals.ts';
import { registerWarnings } from './warnings.ts';

export const BODY_LIMIT = 1024 * 1024;
/** Longest time for the headers of a request, in milliseconds: a client that sends them drop by drop holds a connection, and no more. */
export const HEADERS_TIMEOUT = 10_000;
/** Longest time for a whole request to arrive, in milliseconds, for the slowest upload. Everything else has less (`registerDeadline`). */
const REQUEST_TIMEOUT = 3_600_000;
/** Longest address with headers, in bytes. */
export const MAX_HEADER_SIZE = 16 * 1024;

/**
 * Creates the server without its resources: traces, authentication, bodies, failures, probes, metrics and the log line of each request.
 * Routes accept a trailing slash. Bodies arrive as bytes: they are read with the query, so that all failures come in one answer.
 */
export function createServer(dependencies: ApiDependencies): FastifyInstance {
  const { clock, logger, limits } = dependencies;
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT,
    // This is longer than the minute after which load balancers close an idle connection: the client side must close first.
    keepAliveTimeout: 75_000,
    http: { maxHeaderSize: MAX_HEADER_SIZE, headersTimeout: HEADERS_TIMEOUT, connectionsCheckingInterval: 2_000 },
    trustProxy: limits.trustedProxies.length > 0 && [...limits.trustedProxies],
    // A closing server still sends answers: requests that came in before the stop are finished.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_HEADER_SIZE },
    clientErrorHandler: answerClientError,
    rewriteUrl: ({ url = '/' }) => withSoundEscapes(url),
  });
  beginRequests(app, clock);
  warnOfUntrustedProxies(app, { clock, logger });
  registerDeadline(app, { clock, timeoutMs: limits.requestTimeoutMs });
  // The body arrives outside of the context that the first hook began.
  app.addHook('preValidation', (request, _reply, done) => inRequest(requestState(request), done));
  registerLargeBodies(app);
  addCachingHeaders(app);
  logRequests(app, dependencies);

  app.removeAllContentTypeParsers();
  registerForms(app);
  registerStreamedBodies(app);
  const asBytes = { parseAs: 'buffer' } as const;
  app.addContentTypeParser(/^application\/([\w.!#$&^-]+\+)?json(;|$)/i, asBytes, ({ headers }, body, done) => {
    if (isEncoded(headers)) done(encodedBody());
    else done(null, body);
  });

  app.setErrorHandler<FastifyError>((error, request, reply) => sendFailure(request, reply, error));
  requireDescriptions(app);
  registerRehearsals(app);
  registerWarnings(app);
  registerTurnedAway(app, { clock });
  registerLargeAnswers(app);
  registerUnknownRoutes(app);
  registerOriginCheck(app, dependencies.calls.publicUrl);
  registerAuthentication(app, dependencies);
  registerProbes(app, dependencies);
  registerIdempotency(app, { requests: dependencies.store.idempotentRequests, requestTimeoutMs: limits.requestTimeoutMs, logger });
  return app;
}

/** Gives each request a state of its own, with its trace; everything else runs in it. */
function beginRequests(app: FastifyInstance, clock: Clock): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { url: route, config } = request.routeOptions;
    // Liveness probes come every few seconds, and get no span and no log line.
    const span =
      isTracing() && !isProbe(route ?? '')
        ? requestSpan({
            method: request.method,
            route,
            path: pathOf(request.url),
            headers: request.headers,
            operation: config.description?.operationId,
          })
        : undefined;
    const traceId = span?.reference?.traceId ?? traceIdOf(request.headers);
    const state = new RequestState({ traceId, span, clock });
    // A tool's request comes from this process, while the request that called the tool runs.
    state.tool = currentRequest()?.tool;
    startRequest(request, state);
    void reply.headers({ 'x-trace-id': traceId, 'x-content-type-options': 'nosniff' });
    // A body gets this Content-Type by default; a request without a body gets none.
    if (hasBody(request)) request.headers['content-type'] ||= 'application/json';
    inRequest(state, done);
  });
}

function addCachingHeaders(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const { ageSeconds, caller } = requestState(request);
    // An answer to a key is for its holder alone: there may be a token, a signed link or a secret in it.
    if (caller !== undefined && !reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
    if (ageSeconds !== undefined && reply.statusCode < 500) void reply.header('age', String(ageSeconds));
    return payload;
  });
}

function logRequests(app: FastifyInstance, { registry, logger }: Pick<ApiDependencies, 'registry' | 'logger'>): void {
  const metrics = httpMetrics(registry);
  app.addHook('onResponse', async (request, reply) => {
    const state = requestState(request);
    const route = request.routeOptions.url ?? 'unknown';
    const seconds = request.routeOptions.config.description?.streamsEvents ? undefined : state.elapsedMs / 1000;
    metrics.observe({ route, method: request.method, status: reply.statusCode, seconds });
    const durationMs = Math.round(state.elapsedMs * 100) / 100;
    const line = {
      traceId: state.traceId,
      ...(state.span?.reference !== undefined && { spanId: state.span.reference.spanId }),
      keyId: state.caller?.keyId,
      org: state.caller?.org,
      method: request.method,
      route,
      tool: state.tool,
      status: reply.statusCode,
      error: state.error,
      // The address helps to find the source of invalid keys.
      client: state.error === 'unauthorized' ? request.ip : undefined,
      limitedBy: state.limitedBy,
      entries: state.entries,
      ageSeconds: state.ageSeconds,
      durationMs,
      phases: { ...state.phases, total: durationMs },
      ...(state.failure !== undefined && { err: state.failure }),
    };
    if (reply.statusCode >= 500 && state.failure !== undefined) logger.error(line, 'request');
    else if (isProbe(route)) logger.debug(line, 'request');
    else logger.info(line, 'request');
    endSpan(state, reply.statusCode);
  });
}

function endSpan({ span, caller, error, failure }: RequestState, status: number): void {
  if (span === undefined) return;
  span.set({ 'http.response.status_code': status, 'parley.org': caller?.org, 'parley.key_id': caller?.keyId });
  if (status >= 500) span.fail(failure ?? error ?? String(status));
  else if (error !== undefined) span.set({ 'error.type': error });
  span.end();
}

/** Answers input that Node can't read as HTTP, and that never becomes a request, in the same shape. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, ...body } = clientErrors[error.code ?? ''] ?? {
    status: '400 Bad Request',
    error: 'bad_request',
    message: 'this is not HTTP as the server understands it',
  };
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
}

const clientErrors: Readonly<Record<string, { readonly status: string; readonly error: ErrorCode; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    error: 'headers_too_large',
    message: 'address and headers may have 16 KiB together',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    error: 'request_timeout',
    message: 'the request took too long to arrive: 10 s are for its headers',
  },
};

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

function isProbe(route: string): boolean {
  return route === '/healthz' || route === '/readyz' || route === '/metrics';
}

/** Makes each `%` literal in a path with a broken escape, so that such an id is simply one that doesn't exist. */
function withSoundEscapes(url: string): string {
  const [path = '', ...query] = url.split('?');
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}
