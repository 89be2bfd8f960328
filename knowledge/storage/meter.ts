import { createHash } from 'node:crypto';
import { addAbortSignal, type Readable } from 'node:stream';

import { StorageError, type StoredFile } from './file-storage.ts';

/** Counts, hashes and bounds content as it flows into the storage. */
export class Meter {
  readonly #content: Readable;
  readonly #maxBytes: number;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  /** The failure of the content itself, not of the storage. */
  failure: { readonly reason: unknown } | undefined;

  /** @param options.signal ends the content at once */
  constructor(content: Readable, options: { readonly maxBytes: number; readonly signal?: AbortSignal }) {
    this.#content = content;
    this.#maxBytes = options.maxBytes;
    // The content may break before it is read; the reader gets the error then.
    content.on('error', () => undefined);
    if (options.signal !== undefined) addAbortSignal(options.signal, content);
  }

  /** @throws StorageError `too_large`, or the content's own error */
  async *chunks(): AsyncGenerator<Buffer> {
    const content: AsyncIterable<Uint8Array | string> = this.#content;
    // While this is true an error comes from the consumer of the chunks.
    let handedOver = false;
    try {
      for await (const part of content) {
        const chunk = typeof part === 'string' ? Buffer.from(part) : Buffer.from(part.buffer, part.byteOffset, part.byteLength);
        this.#bytes += chunk.length;
        if (this.#bytes > this.#maxBytes) throw new StorageError('too_large', `the file is longer than ${this.#maxBytes} bytes`);
        this.#hash.update(chunk);
        handedOver = true;
        yield chunk;
        handedOver = false;
      }
    } catch (reason) {
      if (!handedOver) this.failure = { reason };
      throw reason;
    }
  }

  /** Returns the facts of the content that has flowed; may be called once. */
  result(): StoredFile {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }
}
