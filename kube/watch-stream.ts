import { KubeError } from './error.ts';
import { Pacer } from '../platform/pacer.ts';
import { errorFromEvent } from './status.ts';
import type { KubeStream } from './transport.ts';
import type { KubeObject, Stored } from './types.ts';

/** One event of a watch. The server's in-stream ERROR is not an event: iterating throws it. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Stored<T> }
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      /** The last of the initial events of a WatchList has been sent. */
      readonly initialEventsEnd: boolean;
    };

/**
 * Events as they come. Ends when the server ends the watch in order (its `timeoutSeconds` are over).
 * Throws KubeError: the server's ERROR event (410 `Expired` and 500 among them), `Unreachable` when the connection
 * breaks, `Aborted` after {@link destroy} or the caller's signal. To be iterated once.
 */
export interface WatchStream<T extends KubeObject> extends AsyncIterable<WatchEvent<T>> {
  /** Ends the watch. Idempotent. */
  destroy(): void;
}

export interface WatchStreamOptions {
  readonly stream: KubeStream;
  /** Names the request in errors, e.g. `GET /api/v1/secrets`. */
  readonly what: string;
  /** Called for every chunk that arrives: a sign of life. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

export function watchStream<T extends KubeObject>(options: WatchStreamOptions): WatchStream<T> {
  return { [Symbol.asyncIterator]: () => events<T>(options), destroy: () => options.stream.destroy() };
}

async function* events<T extends KubeObject>({ stream, what, onBytes }: WatchStreamOptions): AsyncGenerator<WatchEvent<T>> {
  const lines = new LineSplitter();
  const pacer = new Pacer();
  try {
    for await (const chunk of stream.body) {
      onBytes?.(chunk.length);
      for (const line of lines.push(chunk)) {
        // Chunks that are already here resolve as microtasks, and so does the consumer: without a break in between,
        // an initial list of 10,000 objects would hold the event loop for as long as it takes to parse.
        if (pacer.due) await pacer.pause();
        yield parseEvent<T>(line, what);
      }
    }
    if (lines.rest > 0) {
      throw new KubeError({ code: 0, reason: 'Unreachable', message: `${what}: the watch ended inside an event` });
    }
  } finally {
    stream.destroy();
  }
}

interface RawEvent {
  readonly type?: string;
  readonly object?: { readonly metadata?: { readonly resourceVersion?: string; readonly annotations?: Readonly<Record<string, string>> } };
}

function parseEvent<T extends KubeObject>(line: string, what: string): WatchEvent<T> {
  let event: RawEvent;
  try {
    event = JSON.parse(line) as RawEvent;
  } catch (cause) {
    throw new KubeError({ code: 0, reason: 'Unreachable', message: `${what}: the watch sent a line that is not JSON`, cause });
  }
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event.type, object: event.object as unknown as Stored<T> };
    case 'BOOKMARK':
      return {
        type: 'BOOKMARK',
        resourceVersion: event.object?.metadata?.resourceVersion ?? '',
        initialEventsEnd: event.object?.metadata?.annotations?.['k8s.io/initial-events-end'] === 'true',
      };
    default:
      throw errorFromEvent(event.object, what);
  }
}

/** Splits bytes at line feeds without copying a long line again for each chunk of it. */
class LineSplitter {
  #parts: Buffer[] = [];

  *push(chunk: Uint8Array): Generator<string> {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = buffer.indexOf(10); end >= 0; end = buffer.indexOf(10, start)) {
      const tail = buffer.subarray(start, end);
      const line = this.#parts.length === 0 ? tail : Buffer.concat([...this.#parts, tail]);
      this.#parts = [];
      start = end + 1;
      if (line.length > 0) yield line.toString('utf8');
    }
    if (start < buffer.length) this.#parts.push(buffer.subarray(start));
  }

  /** Bytes of the line that has not ended yet. */
  get rest(): number {
    return this.#parts.reduce((sum, part) => sum + part.length, 0);
  }
}
