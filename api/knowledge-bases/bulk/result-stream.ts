import { PassThrough, type Readable } from 'node:stream';

import type { EntryResult } from './bulk-upload.ts';

export type ResultFormat = 'application/x-ndjson' | 'application/json';

/** Chooses lines, unless the client asks for JSON and not for lines. */
export function resultFormat(accept: string | undefined): ResultFormat {
  const types = new Set((accept ?? '').split(',').map((each) => each.split(';', 1)[0]?.trim().toLowerCase()));
  return types.has('application/json') && !types.has('application/x-ndjson') ? 'application/json' : 'application/x-ndjson';
}

/** Writes results as lines, or as one list. They wait in memory for a client that sends all of its entries before it reads. */
export class ResultStream {
  readonly #output = new PassThrough();
  readonly #isList: boolean;
  #isEmpty = true;

  constructor(format: ResultFormat) {
    this.#isList = format === 'application/json';
    // The client has gone, and reads no results.
    this.#output.on('error', () => undefined);
    if (this.#isList) this.#output.write('[');
  }

  get readable(): Readable {
    return this.#output;
  }

  write(results: readonly EntryResult[]): void {
    if (results.length === 0 || this.#output.destroyed) return;
    const texts = results.map((result) => JSON.stringify(result));
    this.#output.write(this.#isList ? `${this.#isEmpty ? '' : ','}${texts.join(',')}` : `${texts.join('\n')}\n`);
    this.#isEmpty = false;
  }

  end(): void {
    this.#output.end(this.#isList ? ']' : '');
  }

  /** Breaks the answer off, which a client notices; it would believe an answer that merely ends early. */
  breakOff(error: Error): void {
    this.#output.destroy(error);
  }
}
