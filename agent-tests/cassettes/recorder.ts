/** Between the models of a test and their servers: answers are taken from a cassette, or kept in one. */
import {
  failureOf,
  ProviderError,
  type FetchInterceptor,
  type ProviderEndpoint,
  type ProviderFetch,
} from '../../voice/calls/provider-access/index.ts';
import type { Cassette, RecordedRequest } from './cassette.ts';
import { readCompletion, writeCompletion } from './completion.ts';
import { differenceFromNearest } from './difference.ts';

/**
 * `record`: ask, and keep the answers. `replay`: only what is recorded, a request that isn't fails. `auto`: what is recorded, else ask.
 */
export type CassetteMode = 'record' | 'replay' | 'auto';

export interface CassetteRecorderOptions {
  readonly mode: CassetteMode;
  /** Read, and in mode `record` written to. */
  readonly cassette: Cassette;
  /** Where it is, for messages. */
  readonly file: string;
  /** A request that should be recorded is not. */
  readonly onMiss?: (message: string) => void;
}

/** A key that is only needed for a request that is not recorded. */
export const MISSING_KEY = 'missing';

/** Statuses after which a request is sent in another form. */
const REFUSALS: ReadonlySet<number> = new Set([400, 422]);

export function recorder({ mode, cassette, file, onMiss = () => undefined }: CassetteRecorderOptions): FetchInterceptor {
  return (fetch, endpoint) => {
    const intercepted: ProviderFetch = async (url, init = {}) => {
      const { body, signal, onFailure } = init;
      const asked = typeof body === 'string' ? (JSON.parse(body) as Readonly<Record<string, unknown>>) : undefined;
      const fail = (error: ProviderError): never => {
        onFailure?.(error);
        throw error;
      };
      // Another request than for an answer: to see whether the server is there.
      if (asked === undefined || !String(url).endsWith('/chat/completions')) {
        if (mode === 'replay') throw failureOf(endpoint, 'unreachable', 'is not asked in a replay');
        return fetch(url, init);
      }
      const streamed = asked['stream'] === true;
      const request = requestOf(asked, endpoint);
      signal?.throwIfAborted();
      const known = mode === 'record' ? undefined : cassette.answerTo(request);
      if (known?.refused !== undefined)
        return fail(failureOf(endpoint, 'refused', `answered ${known.refused} when it was recorded`, { status: known.refused }));
      if (known !== undefined) return writeCompletion(known, { streamed, model: request.model });
      if (mode === 'replay') {
        const message = `a request is not in ${file}: ${differenceFromNearest(request, cassette.recordings)}. Run the test with --record`;
        onMiss(message);
        return fail(failureOf(endpoint, 'refused', message));
      }
      if (mode === 'auto' && endpoint.apiKey === MISSING_KEY) {
        const message = `a request is not in ${file}: ${differenceFromNearest(request, cassette.recordings)}. There is no key to ask ${endpoint.provider} with`;
        onMiss(message);
        return fail(failureOf(endpoint, 'refused', message));
      }
      if (mode === 'auto') return fetch(url, init);
      return keep(fetch(url, init), { request, cassette, streamed });
    };
    return intercepted;
  };
}

function requestOf(
  { stream: _stream, stream_options: _options, ...asked }: Readonly<Record<string, unknown>>,
  { provider }: ProviderEndpoint,
): RecordedRequest {
  return { provider, ...asked } as RecordedRequest;
}

/** An answer that is abandoned, or breaks off, is not kept. */
async function keep(
  answering: Promise<Response>,
  { request, cassette, streamed }: { readonly request: RecordedRequest; readonly cassette: Cassette; readonly streamed: boolean },
): Promise<Response> {
  const response = await answering.catch((error: unknown) => {
    if (error instanceof ProviderError && error.status !== undefined && REFUSALS.has(error.status))
      cassette.add({ request, answer: { refused: error.status } });
    throw error;
  });
  const decoder = new TextDecoder();
  let text = '';
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      text += decoder.decode(chunk, { stream: true });
      controller.enqueue(chunk);
    },
    flush() {
      const events = streamed || (response.headers.get('content-type') ?? '').includes('text/event-stream');
      const answer = readCompletion(text, { streamed: events });
      if (answer !== undefined) cassette.add({ request, answer });
    },
  });
  return new Response(response.body?.pipeThrough(watch) ?? null, { status: response.status, headers: response.headers });
}
