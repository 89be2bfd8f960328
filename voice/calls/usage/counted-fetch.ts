/**
 * Counts the requests that go to a language model, whoever makes them: answers, summaries, hedged and repeated requests, analyses. What was given up
 * has been paid for up to there: the provider doesn't tell any more how much that was, so it is estimated.
 */
import type { FetchInterceptor, ProviderFetch } from '../provider-access/index.ts';
import { estimate, toldIn, type CountedRequest, type CountTokens } from './token-usage.ts';
import type { UsageLine } from '../../../store/index.ts';
import type { UsageMeter } from './usage-meter.ts';

export interface CountedFetchOptions {
  readonly meter: Pick<UsageMeter, 'add' | 'addLater'>;
  readonly purpose: UsageLine['purpose'];
  readonly countTokens: CountTokens;
}

/** Of an answer that is kept, in characters: the end of a longer one has its usage all the same. */
const MOST_KEPT = 1_000_000;

export function countedFetch({ meter, purpose, countTokens }: CountedFetchOptions): FetchInterceptor {
  return (fetch, { provider, model = '' }): ProviderFetch => {
    const of = { kind: 'llm', purpose, provider, model } as const;
    let known: CountedRequest | undefined;

    const count = (body: string, answer: string): void => {
      const told = toldIn(answer);
      if (told !== undefined) {
        known = { body, inputTokens: told.inputTokens };
        meter.add(of, { requests: 1, ...told });
      } else
        meter.addLater(
          of,
          estimate({ body, answer, known, countTokens }).then((tokens) => ({ requests: 1, estimatedRequests: 1, ...tokens })),
        );
    };

    return async (url, init = {}) => {
      const { body, signal } = init;
      // Without a body nothing is asked of the model.
      if (typeof body !== 'string') return fetch(url, init);
      let answer = '';
      let counted = false;
      const over = (): void => {
        if (counted) return;
        counted = true;
        signal?.removeEventListener('abort', over);
        count(body, answer);
      };
      if (signal?.aborted !== true) signal?.addEventListener('abort', over, { once: true });
      try {
        const response = await fetch(url, init);
        return withEnd(response, { onText: (text) => void (answer = (answer + text).slice(-MOST_KEPT)), onEnd: over });
      } catch (error) {
        // It was refused, or has not arrived: nothing is paid for it.
        signal?.removeEventListener('abort', over);
        throw error;
      }
    };
  };
}

/** The same response. @param hooks.onEnd called once nothing more comes of it, for whatever reason, perhaps more than once */
function withEnd(response: Response, { onText, onEnd }: { readonly onText: (text: string) => void; readonly onEnd: () => void }): Response {
  const { status, headers } = response;
  if (response.body === null) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const decoder = new TextDecoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (value !== undefined) onText(decoder.decode(value, { stream: true }));
          if (done) onEnd();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onEnd();
          controller.error(error);
        }
      },
      cancel(reason) {
        onEnd();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status, headers });
}
