import { createReadStream } from 'node:fs';

import { untilAborted } from '../../platform/aborted.ts';
import { IngestionError } from '../ingestion-failure.ts';
import { READ_AHEAD_BYTES } from './limits.ts';

/** A file whose beginning has been read. */
export interface FileContent {
  /** All of the file, if it is small, else its beginning. */
  readonly head: readonly Uint8Array[];
  readonly isWhole: boolean;
  /** Size of the file as far as it was read. */
  readonly bytes: number;
  /** Yields the bytes behind the head; may be read once. */
  rest(): AsyncGenerator<Uint8Array>;
  close(): void;
}

/**
 * Reads all of a small file and a large one's beginning, so that a process that reads never waits for the storage of a small one.
 * @throws IngestionError `too_large`; the signal's reason when it aborts; the source's error
 */
export async function openContent(
  content: AsyncIterable<Uint8Array> | { readonly path: string },
  { mostBytes, signal }: { readonly mostBytes: number; readonly signal: AbortSignal | undefined },
): Promise<FileContent> {
  signal?.throwIfAborted();
  const source: AsyncIterable<Uint8Array> = Symbol.asyncIterator in content ? content : createReadStream(content.path);
  const parts = source[Symbol.asyncIterator]();
  let bytes = 0;
  const next = async (): Promise<Uint8Array | undefined> => {
    const part = await parts.next();
    if (part.done === true) return undefined;
    bytes += part.value.length;
    if (bytes > mostBytes)
      throw new IngestionError('too_large', `The file is larger than ${mostBytes / 1e6} MB. Split it into several files.`);
    return part.value;
  };
  // A source that hangs is not awaited: its own end comes late or never.
  const close = (): void => void parts.return?.().catch(() => undefined);
  try {
    const head: Uint8Array[] = [];
    let isWhole = false;
    while (!isWhole && bytes <= READ_AHEAD_BYTES) {
      const part = await untilAborted(next(), signal);
      if (part === undefined) isWhole = true;
      else if (part.length > 0) head.push(part);
    }
    return {
      head,
      isWhole,
      get bytes() {
        return bytes;
      },
      async *rest() {
        for (let part = await next(); part !== undefined; part = await next()) if (part.length > 0) yield part;
      },
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}
