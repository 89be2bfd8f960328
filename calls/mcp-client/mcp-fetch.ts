/** HTTP to MCP servers: through the egress guard, with the headers of the Tool, and bounded. The SDK does the rest of the protocol. */
import { AsyncLocalStorage } from 'node:async_hooks';

import { fetch, type Response as Answer } from 'undici';

import type { Egress } from '../../platform/egress/egress.ts';
import { McpError } from './mcp-error.ts';
import { tidied } from './tidy-body.ts';

export interface McpFetchOptions {
  readonly egress: Pick<Egress, 'dispatcher'>;
  /** Reads the headers for each request: a rotated Secret needs no new connection. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** Called when the server refuses a request that had this Authorization. */
  readonly onUnauthorized: (authorization: string) => void;
  /** Changes each message of the server before the SDK reads it. */
  readonly tidy: (message: unknown) => unknown;
}

/** Bounds of the HTTP request that one request of the SDK makes. */
export interface RequestBounds {
  /** Aborts once no call waits for the answer any more; the SDK leaves streams open that it has given up. */
  readonly signal: AbortSignal;
  /** Most bytes of the answer, with all events of its stream. */
  readonly maxBytes: number;
  /** Fails the request with an answer that can't be used, whatever the SDK makes of it. */
  readonly fail: (error: McpError) => void;
}

export const requestBounds = new AsyncLocalStorage<RequestBounds>();

/** Most bytes of the answer to a request without bounds of its own, such as a notification. */
const MAX_BYTES = 1024 * 1024;

export type McpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export function createMcpFetch({ egress, headers, onUnauthorized, tidy }: McpFetchOptions): McpFetch {
  return async (url, init = {}) => {
    const sent = new Headers(init.headers);
    // Parley asks for nothing that a server says on its own: without that stream each call has one connection less.
    if (init.method === 'GET' && !sent.has('last-event-id')) return new Response(null, { status: 405 });
    const bounds = isRequest(init.body) ? requestBounds.getStore() : undefined;
    for (const [name, value] of Object.entries(await headers())) if (!sent.has(name)) sent.set(name, value);
    if (!sent.has('user-agent')) sent.set('user-agent', 'Parley-Tools/1.0');
    const signals = [init.signal, bounds?.signal].filter((signal) => signal != null);
    const answer = await fetch(url, {
      method: init.method ?? 'GET',
      headers: [...sent],
      body: typeof init.body === 'string' ? init.body : null,
      redirect: 'manual',
      dispatcher: egress.dispatcher,
      ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    });
    if (answer.status === 401) onUnauthorized(sent.get('authorization') ?? '');
    return tidied(bounded(answer, new URL(url).host, bounds), tidy);
  };
}

/** A notification may outlast the request that it is about: the one that cancels it does. */
function isRequest(body: RequestInit['body']): boolean {
  if (typeof body !== 'string') return false;
  const message = JSON.parse(body) as unknown;
  return typeof message === 'object' && message !== null && 'id' in message;
}

const BODYLESS = new Set([101, 204, 205, 304]);

function bounded(answer: Answer, host: string, bounds: RequestBounds | undefined): Response {
  const { status } = answer;
  const init = { status, headers: [...answer.headers] };
  if (answer.body === null || BODYLESS.has(status)) return new Response(null, init);
  const limit = bounds?.maxBytes ?? MAX_BYTES;
  let size = 0;
  const body = (answer.body as ReadableStream<Uint8Array>).pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.length;
        if (size <= limit) return controller.enqueue(chunk);
        const error = new McpError('too_large', `${host} answers with more than ${limit} bytes: make the tool answer with less`);
        bounds?.fail(error);
        controller.error(error);
      },
    }),
  );
  return new Response(body, init);
}
