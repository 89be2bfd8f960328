/** Stands between the models of a test and their servers: takes answers from a cassette, or keeps them in one. */
import {
  toCallFailure,
  ProviderError,
  type FetchInterceptor,
  type ProviderEndpoint,
  type ProviderFetch,
} from '../../calls/provider-access/index.ts';
import type { Cassette, RecordedRequest } from './cassette.ts';
import { differenceFromNearest } from './difference.ts';
import { AnswerRecording, replayAnswer, type RecordedAnswer, type RecordedFailure } from './recorded-answer.ts';

/**
 * `record`: asks, and keeps the answers. `replay`: answers from the cassette only; a request that isn't recorded fails. `auto`: answers
 * from the cassette, else asks.
 */
export type CassetteMode = 'record' | 'replay' | 'auto';

export interface CassetteRecorderOptions {
  readonly mode: CassetteMode;
  /** Answers are read from it and, in mode `record`, written to it. */
  readonly cassette: Cassette;
  readonly file: string;
  /** Called when a request that should be recorded is not. */
  readonly onMiss?: (message: string) => void;
}

/** A placeholder for a key that is only needed for a request that is not recorded. */
export const MISSING_KEY = 'missing';

export function recorder({ mode, cassette, file, onMiss = () => undefined }: CassetteRecorderOptions): FetchInterceptor {
  return (fetch, endpoint) => {
    const intercepted: ProviderFetch = async (url, init = {}) => {
      const { body, signal } = init;
      const asked = typeof body === 'string' ? (JSON.parse(body) as Readonly<Record<string, unknown>>) : undefined;
      // This is no request for an answer: it only checks that the server is there.
      if (asked === undefined || !String(url).endsWith('/chat/completions')) {
        if (mode === 'replay') throw toCallFailure(endpoint, 'unreachable', 'is not asked in a replay');
        return fetch(url, init);
      }
      const request = recordedRequest(asked, endpoint);
      signal?.throwIfAborted();
      const known = mode === 'record' ? undefined : cassette.answerTo(request);
      if (known?.failed !== undefined) {
        const { kind, parameters: refusedParameters = [], ...more } = known.failed;
        throw toCallFailure(endpoint, kind, 'did not answer when it was recorded', { ...more, refusedParameters });
      }
      if (known !== undefined) return replayAnswer(known);
      if (mode === 'replay') {
        const message = `a request is not in ${file}: ${differenceFromNearest(request, cassette.recordings)}. Run the test with --record`;
        onMiss(message);
        throw toCallFailure(endpoint, 'refused', message);
      }
      if (mode === 'auto' && endpoint.apiKey === MISSING_KEY) {
        const message = `a request is not in ${file}: ${differenceFromNearest(request, cassette.recordings)}. There is no key to ask ${endpoint.provider} with`;
        onMiss(message);
        throw toCallFailure(endpoint, 'refused', message);
      }
      if (mode === 'auto') return fetch(url, init);
      return keep(fetch(url, init), { request, cassette });
    };
    return intercepted;
  };
}

function recordedRequest(
  { stream: _stream, stream_options: _options, ...asked }: Readonly<Record<string, unknown>>,
  { provider }: ProviderEndpoint,
): RecordedRequest {
  return { provider, ...asked } as RecordedRequest;
}

/** Records the answer. A failure is kept only where no answer is: a replay then asks the next model, as the recording did. */
async function keep(
  answering: Promise<Response>,
  { request, cassette }: { readonly request: RecordedRequest; readonly cassette: Cassette },
): Promise<Response> {
  const addUnlessAnswered = (answer: RecordedAnswer): void => {
    if (cassette.answerTo(request) === undefined) cassette.add({ request, answer });
  };
  const response = await answering.catch((error: unknown) => {
    addUnlessAnswered({ failed: error instanceof ProviderError ? failureToKeep(error) : { kind: 'unreachable' } });
    throw error;
  });
  const recording = new AnswerRecording();
  const save = (): void => {
    if (recording.isComplete) cassette.add({ request, answer: recording.answer });
  };
  const breakOff = (): void => {
    if (!recording.isComplete) addUnlessAnswered(recording.answer);
  };
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      // The reader may stop behind the end of the answer, so it is saved as soon as it is complete.
      recording.push(chunk);
      save();
      controller.enqueue(chunk);
    },
    flush() {
      recording.end();
      save();
      breakOff();
    },
    // The reader or the server may cancel.
    cancel: breakOff,
  });
  return new Response(response.body?.pipeThrough(watch) ?? null, { status: response.status, headers: response.headers });
}

const failureToKeep = ({ kind, status, tooLong, refusedParameters: parameters }: ProviderError): RecordedFailure => ({
  kind,
  ...(status !== undefined && { status }),
  ...(tooLong && { tooLong }),
  ...(parameters.length > 0 && { parameters }),
});
