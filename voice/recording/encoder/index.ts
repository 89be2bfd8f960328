/** Encodes the calls of a job process in one thread, apart from the speech that has to come in time. */
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

import { locateAsset } from '../../../platform/assets.ts';
import type { FromEncoder, ToEncoder } from './messages.ts';
import { RECORDING_RATE } from './rate.ts';

export interface SoundEncoder {
  /** Sample rate that it takes, in Hz. */
  readonly rate: number;
  /** Opens a file. @returns takes 16 bit samples, left and right in turn; finished when the file is complete */
  open(file: string): Writable;
}

export class RecordingEncoder implements SoundEncoder {
  readonly rate = RECORDING_RATE;
  readonly #recordings = new Map<number, (error?: Error) => void>();
  #thread: Worker | undefined;
  #last = 0;

  open(file: string): Writable {
    const id = (this.#last += 1);
    this.#send({ case: 'open', id, file });
    const stream = new Writable({
      // `pcm` is copied: its buffer may be part of a larger one.
      write: (pcm: Uint8Array, _encoding, done) => {
        this.#send({ case: 'sound', id, pcm });
        done();
      },
      final: (done) => {
        this.#recordings.set(id, done);
        this.#send({ case: 'end', id });
      },
      destroy: (error, done) => {
        // The sound that was recorded until then is complete. A thread that is gone has nothing to end.
        if (error !== null) this.#thread?.postMessage({ case: 'end', id } satisfies ToEncoder);
        done(error);
      },
    });
    this.#recordings.set(id, (error) => stream.destroy(error));
    stream.once('close', () => this.#recordings.delete(id));
    return stream;
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  #send(message: ToEncoder): void {
    this.#thread ??= this.#start();
    this.#thread.postMessage(message);
  }

  #start(): Worker {
    const thread = new Worker(
      locateAsset(import.meta.url, 'recording-encoder.mjs') ?? fileURLToPath(new URL('thread.ts', import.meta.url)),
    );
    thread.unref();
    thread.on('message', ({ id, error }: FromEncoder) => this.#recordings.get(id)?.(error));
    const gone = (error: Error): void => {
      if (this.#thread !== thread) return;
      // The next recording gets another thread.
      this.#thread = undefined;
      for (const fail of this.#recordings.values()) fail(error);
    };
    thread.on('error', gone);
    thread.on('exit', () => gone(new Error('the encoder of recordings has ended')));
    return thread;
  }
}
