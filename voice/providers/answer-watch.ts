/**
 * Whether an answer of a language model is one, and complete. Client libraries take a web page for an answer without words, and one that was cut off
 * between two events for one that has ended: the caller would hear nothing, or half a sentence, and nobody would know why.
 */
import type { ProviderFailure } from '../calls/providers/index.ts';

export interface AnswerWatchOptions {
  /** What to fail with when there was no event at all. */
  readonly empty: () => ProviderFailure;
  /** What to fail with when the last event is missing. */
  readonly cutOff: () => ProviderFailure;
  readonly onFailure: (failure: ProviderFailure) => void;
}

const event = /(^|\n)data:/;
const last = /(^|\n)data: ?\[DONE\]|"finish_reason" ?: ?"/;
/** Longer than anything that is looked for. */
const carried = 32;

export function watchAnswer(response: Response, { empty, cutOff, onFailure }: AnswerWatchOptions): Response {
  const decoder = new TextDecoder();
  let tail = '\n';
  let events = false;
  let complete = false;
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const text = tail + decoder.decode(chunk, { stream: true });
      events ||= event.test(text);
      complete ||= last.test(text);
      tail = text.slice(-carried);
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
