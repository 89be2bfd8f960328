/**
 * Keeps audio that may have to be sent again, because no final transcript covers it. Positions are bytes since the beginning of the
 * stream.
 */
export class AudioBacklog {
  readonly #maxBytes: number;
  #chunks: readonly Uint8Array[] = [];
  #from = 0;
  #end = 0;

  constructor({ maxBytes }: { readonly maxBytes: number }) {
    this.#maxBytes = maxBytes;
  }

  /** Position of the first byte that is kept. */
  get from(): number {
    return this.#from;
  }

  /** Position after the last byte. */
  get end(): number {
    return this.#end;
  }

  get chunks(): readonly Uint8Array[] {
    return this.#chunks;
  }

  /** Adds audio, and forgets the oldest when it is full. */
  push(chunk: Uint8Array): void {
    this.#chunks = [...this.#chunks, chunk];
    this.#end += chunk.length;
    this.settle(this.#end - this.#maxBytes);
  }

  /** Forgets the audio before a position, which is not needed any more. */
  settle(position: number): void {
    while (this.#from < position) {
      const [chunk, ...rest] = this.#chunks;
      if (chunk === undefined) return;
      const settled = Math.min(chunk.length, position - this.#from);
      this.#from += settled;
      this.#chunks = settled === chunk.length ? rest : [chunk.subarray(settled), ...rest];
    }
  }
}
