/**
 * Checks that a streamed completion is one, and complete. Client libraries take an HTML page for an answer without words, and a stream that was cut
 * off between two events for a complete one: the caller would hear nothing, or half a sentence, and no log would say why.
 */
import type { ProviderError } from '../../calls/provider-access/index.ts';

export interface CompletionWatchOptions {
  /** What to fail with when there was no event at all. */
  readonly empty: () => ProviderError;
  /** What to fail with when the last event is missing. */
  readonly cutOff: () => ProviderError;
  readonly onFailure: (failure: ProviderError) => void;
}

const EVENT = /(^|\n)data:/;
const LAST_EVENT = /(^|\n)data: ?\[DONE\]|"finish_reason" ?: ?"/;
/** Longer than anything that is looked for. */
const TAIL_LENGTH = 32;

export function watchCompletion(response: Response, { empty, cutOff, onFailure }: CompletionWatchOptions): Response {
  const decoder = new TextDecoder();
  let tail = '\n';
  let events = false;
  let complete = false;
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const text = tail + decoder.decode(chunk, { stream: true });
      events ||= EVENT.test(text);
      complete ||= LAST_EVENT.test(text);
      tail = text.slice(-TAIL_LENGTH);
      controller.enqueue(chunk);
    },
    flush(controller) {
      if (complete) return;
      const failure = events ? cutOff() : empty();
      onFailure(failure);
      controller.error(failure);
    },
  });
  return new Response(response.body?.pipeThrough(watch) ?? null, { status: response.status, headers: response.headers });
}
