/**
 * HTTP to providers. Every failure becomes a {@link ProviderError} within seconds: no connection, a status, a response that stalls or breaks off.
 * The body of an error response goes no further: it quotes prompts and keys, and client libraries log it.
 */
import { Agent, fetch, type Dispatcher, type RequestInit, type Response as Answer } from 'undici';

import { withTimeout, type Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { causeCode, failuresOf, HEAD_TIMEOUT_MS, STALL_TIMEOUT_MS, type Failures } from './connection-failures.ts';
import type { ProviderEndpoint } from './endpoint.ts';
import { ProviderError } from './provider-failure.ts';

export interface ProviderFetchOptions {
  readonly endpoint: Pick<ProviderEndpoint, 'part' | 'provider' | 'guarded'>;
  readonly egress: Pick<Egress, 'dispatcher'>;
  readonly clock: Clock;
  /** Longest time until the head of a response, in milliseconds; default 8,000. */
  readonly headMs?: number;
}

export interface ProviderRequestInit extends Pick<RequestInit, 'method' | 'body' | 'signal'> {
  /** Headers by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The request goes to the provider, and is not answered from a recording. */
  readonly onSend?: () => void;
}

/** @throws ProviderError, or the signal's own reason; an answer that is returned has a status of 200 to 299 */
export type ProviderFetch = (url: string | URL, init?: ProviderRequestInit) => Promise<Response>;

/** Stands between a client and a provider: tests record and replay answers. */
export type FetchInterceptor = (fetch: ProviderFetch, endpoint: ProviderEndpoint) => ProviderFetch;

/** How long an idle connection is kept, in milliseconds: turns of a conversation are seconds apart. */
const KEEP_ALIVE_MS = 30_000;

/** Connections to addresses that the operator set. They are shared: one server often is STT, LLM and TTS. */
let unguarded: Dispatcher | undefined;
const ownDispatcher = (): Dispatcher =>
  (unguarded ??= new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: { timeout: HEAD_TIMEOUT_MS },
    headersTimeout: 0,
    bodyTimeout: 0,
  }));

export function createProviderFetch(options: ProviderFetchOptions): ProviderFetch {
  const { endpoint, egress, clock, headMs = HEAD_TIMEOUT_MS } = options;
  const failures = failuresOf(endpoint);
  return async (url, { onSend, headers = {}, ...init } = {}) => {
    const limit = new AbortController();
    const timer = clock.after(headMs, () => limit.abort());
    const { signal } = init;
    try {
      signal?.throwIfAborted();
      onSend?.();
      const response = await fetch(url, {
        ...init,
        // A compressed response comes in larger pieces, and later.
        headers: { 'accept-encoding': 'identity', ...headers },
        dispatcher: endpoint.guarded ? egress.dispatcher : ownDispatcher(),
        // A redirect would send the key to a server that was not configured.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
      });
      if (!response.ok) throw await failureOfAnswer(response, { endpoint, failures });
      return withWatchedBody(response, { clock, signal, failures });
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      signal?.throwIfAborted();
      throw limit.signal.aborted ? failures.slow(headMs) : failures.connection(error);
    } finally {
      timer.cancel();
    }
  };
}

const MAX_ERROR_BYTES = 16 * 1024;

async function failureOfAnswer(
  response: Answer,
  { endpoint, failures }: { readonly endpoint: ProviderFetchOptions['endpoint']; readonly failures: Failures },
): Promise<ProviderError> {
  const { status } = response;
  const said = endpoint.part === 'llm' && [400, 413, 422].includes(status) ? await beginningOf(response) : '';
  await response.body?.cancel().catch(() => undefined);
  return failures.status(status, said);
}

async function beginningOf({ body }: Answer): Promise<string> {
  let bytes = Buffer.alloc(0);
  try {
    for await (const part of body ?? []) {
      bytes = Buffer.concat([bytes, part as Uint8Array]);
      if (bytes.length > MAX_ERROR_BYTES) break;
    }
  } catch {
    // The status says enough.
  }
  return bytes.subarray(0, MAX_ERROR_BYTES).toString();
}

interface Watch {
  readonly clock: Clock;
  readonly signal: AbortSignal | null | undefined;
  readonly failures: Failures;
}

/** Returns the same response; its body fails with a ProviderError when it breaks off or stalls. */
function withWatchedBody(response: Answer, { clock, signal, failures }: Watch): Response {
  const headers = [...response.headers];
  if (response.body === null) return new Response(null, { status: response.status, headers });
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const read = await withTimeout(clock, STALL_TIMEOUT_MS, reader.read()).catch((error: unknown) => ({ error }));
        if (cancelled) return;
        if (read === undefined) {
          await reader.cancel().catch(() => undefined);
          controller.error(failures.broken(`nothing more came for ${STALL_TIMEOUT_MS} ms`, { slow: true }));
        } else if ('error' in read) {
          controller.error(signal?.aborted === true ? signal.reason : failures.broken(causeCode(read.error)));
        } else if (read.done) controller.close();
        else controller.enqueue(read.value);
      },
      cancel(reason) {
        cancelled = true;
        return reader.cancel(reason);
      },
    },
    // Nothing is read ahead.
    { highWaterMark: 0 },
  );
  return new Response(body, { status: response.status, headers });
}
