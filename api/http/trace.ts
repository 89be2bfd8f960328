import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { readTraceparent, traceContextOf } from '../../platform/telemetry/trace-context.ts';
import { isTracing, startSpan, type Span } from '../../platform/telemetry/tracing.ts';

/** Returns the trace of a request: its caller's, where that is a sound one, otherwise a new one (32 hexadecimal digits). */
export function traceIdOf(headers: IncomingHttpHeaders): string {
  return readTraceparent(headers['traceparent'])?.traceId ?? randomBytes(16).toString('hex');
}

/** Starts the span of a request, in its caller's trace if it has one. It follows the semantic conventions for HTTP servers. */
export function requestSpan(request: {
  readonly method: string;
  readonly route: string | undefined;
  /** Path without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly operation: string | undefined;
}): Span {
  const { method, route, path, headers, operation } = request;
  return startSpan({
    name: route === undefined ? method : `${method} ${route}`,
    kind: 'server',
    parent: (isTracing() ? traceContextOf(headers['traceparent'], headers['tracestate']) : undefined) ?? 'none',
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'url.path': path,
      'url.scheme': 'http',
      'user_agent.original': headers['user-agent'],
      'parley.operation': operation,
    },
  });
}
