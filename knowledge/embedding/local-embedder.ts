/** Embeds texts with a model in a folder, in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { untilAborted } from '../../platform/aborted.ts';
import { locateAsset } from '../../platform/assets.ts';
import type { Embedder, EmbeddingKind, EmbedOptions, LocalProfile } from './embedder.ts';
import { EmbeddingError } from './embedding-error.ts';
import { inputsOf } from './passage-text.ts';
import { checkedVector } from './response.ts';
import type { LocalAnswer, LocalModel, LocalRequest } from './local-process.ts';

/** The build puts this file next to the code in `dist/`. */
const EMBEDDING_ENTRY = 'embedding-process.mjs';

/** More texts at a time need more memory and are no faster. */
const BATCH_SIZE = 16;

interface Waiting {
  readonly resolve: (answer: LocalAnswer) => void;
  readonly reject: (reason: unknown) => void;
}

/** Starts its process with the first text and again after it has died. */
export class LocalEmbedder implements Embedder {
  readonly model: string;
  readonly dimension: number;
  readonly #profile: LocalProfile;
  readonly #waiting = new Map<number, Waiting>();
  #process: ChildProcess | undefined;
  #lastId = 0;

  constructor({ profile }: { readonly profile: LocalProfile }) {
    this.model = profile.model;
    this.dimension = profile.dimension;
    this.#profile = profile;
  }

  async embed(texts: readonly string[], kind: EmbeddingKind, { signal }: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (let start = 0; start < texts.length; start += BATCH_SIZE) {
      const batch = await inputsOf(texts.slice(start, start + BATCH_SIZE), kind, this.#profile);
      const answer = await this.#ask(batch, signal);
      if ('failure' in answer) throw this.#failure(answer.failure);
      if (answer.vectors.length !== batch.length)
        throw new EmbeddingError('invalid_response', 'The local model gave fewer vectors than it was given texts.');
      for (const vector of answer.vectors) vectors.push(checkedVector(vector, this.dimension));
    }
    return vectors;
  }

  close(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => {
      running.once('exit', () => resolve());
      running.kill('SIGKILL');
    });
  }

  async #ask(texts: readonly string[], signal: AbortSignal | undefined): Promise<LocalAnswer> {
    signal?.throwIfAborted();
    const running = this.#process ?? this.#start();
    this.#process = running;
    const request: LocalRequest = { id: ++this.#lastId, texts };
    const { promise, resolve, reject } = Promise.withResolvers<LocalAnswer>();
    this.#waiting.set(request.id, { resolve, reject });
    hold(running, true);
    running.send(request, (error) => {
      if (error !== null) reject(died());
    });
    try {
      // A result that the caller no longer waits for is still computed, and then dropped.
      return await untilAborted(promise, signal);
    } finally {
      this.#waiting.delete(request.id);
      if (this.#waiting.size === 0) hold(running, false);
    }
  }

  #start(): ChildProcess {
    const { path, quantized } = this.#profile;
    const model: LocalModel = { path, quantized };
    const child = fork(processEntry(), [JSON.stringify(model)], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // The process gets none of our secrets: keys of other profiles and the database's password stay here.
      env: { PATH: process.env['PATH'] ?? '' },
      execArgv: [],
    });
    child.on('message', (answer: LocalAnswer) => {
      this.#waiting.get(answer.id)?.resolve(answer);
    });
    const end = (): void => {
      if (this.#process === child) this.#process = undefined;
      for (const { reject } of this.#waiting.values()) reject(died());
    };
    child.once('exit', end);
    child.once('error', end);
    return child;
  }

  #failure(failure: 'library_missing' | 'model_missing' | 'failed'): EmbeddingError {
    const { name, path, quantized } = this.#profile;
    if (failure === 'library_missing')
      return new EmbeddingError(
        'misconfigured',
        `Embedding profile "${name}" needs the package @huggingface/transformers, which is not installed: run "npm install @huggingface/transformers" next to Parley or in the folder of the model.`,
      );
    if (failure === 'model_missing')
      return new EmbeddingError(
        'misconfigured',
        `Embedding profile "${name}" has no model at ${path}/onnx/${quantized ? 'model_quantized.onnx' : 'model.onnx'}: put the model's files there, or correct the profile's path.`,
      );
    return new EmbeddingError(
      'unavailable',
      `The local model of embedding profile "${name}" failed; it is loaded again for the next text.`,
    );
  }
}

/** Decides whether the child keeps this process alive: an idle model must not hold up a command that has done its work. */
function hold(child: ChildProcess, held: boolean): void {
  if (held) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}

function processEntry(): string {
  return locateAsset(import.meta.url, EMBEDDING_ENTRY) ?? fileURLToPath(new URL('local-process.ts', import.meta.url));
}

function died(): EmbeddingError {
  return new EmbeddingError('unavailable', 'The process with the local model has ended; it starts again with the next text.');
}
