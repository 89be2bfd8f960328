/** Remembers vectors by what they were made of. */
import { createHash } from 'node:crypto';

import type { Embedder, EmbeddingKind } from './embedder.ts';

export interface EmbeddingCache {
  /** @param keys SHA-256, lower-case hex. @returns those that are known */
  get(keys: readonly string[]): Promise<ReadonlyMap<string, Float32Array>>;
  put(entries: ReadonlyMap<string, Float32Array>): Promise<void>;
}

/** SHA-256 of model, kind and text, lower-case hex. */
export function embeddingKey(model: string, kind: EmbeddingKind, text: string): string {
  // Lengths in front: no model's name can run into a text.
  return createHash('sha256').update(`${model.length}:${model}\n${kind}\n${text}`).digest('hex');
}

/** The most recently used vectors, in memory: questions are asked again within minutes. */
export class MemoryEmbeddingCache implements EmbeddingCache {
  readonly #limit: number;
  readonly #vectors = new Map<string, Float32Array>();

  /** @param limit vectors that are kept (1,000) */
  constructor(limit = 1_000) {
    this.#limit = limit;
  }

  get(keys: readonly string[]): Promise<ReadonlyMap<string, Float32Array>> {
    const found = new Map<string, Float32Array>();
    for (const key of keys) {
      const vector = this.#vectors.get(key);
      if (vector === undefined) continue;
      found.set(key, vector);
      this.#vectors.delete(key);
      this.#vectors.set(key, vector);
    }
    return Promise.resolve(found);
  }

  put(entries: ReadonlyMap<string, Float32Array>): Promise<void> {
    for (const [key, vector] of entries) {
      this.#vectors.delete(key);
      this.#vectors.set(key, vector);
    }
    for (const key of this.#vectors.keys()) {
      if (this.#vectors.size <= this.#limit) break;
      this.#vectors.delete(key);
    }
    return Promise.resolve();
  }
}

export interface CachedEmbedderOptions {
  readonly embedder: Embedder;
  readonly cache: EmbeddingCache;
  /** What makes the same text another vector: the profile's prefixes. */
  readonly salt?: string;
}

/** Asks the embedder only for texts that the cache doesn't know, and for each but once. */
export class CachedEmbedder implements Embedder {
  readonly model: string;
  readonly dimension: number;
  readonly #options: CachedEmbedderOptions;

  constructor(options: CachedEmbedderOptions) {
    this.model = options.embedder.model;
    this.dimension = options.embedder.dimension;
    this.#options = options;
  }

  async embed(
    texts: readonly string[],
    kind: EmbeddingKind,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<readonly Float32Array[]> {
    const { embedder, cache, salt = '' } = this.#options;
    const keys = texts.map((text) => embeddingKey(this.model, kind, salt + text));
    const known = await cache.get([...new Set(keys)]);
    const vectors = new Map([...known].filter(([, vector]) => vector.length === this.dimension));
    const missing = new Map(keys.map((key, index) => [key, texts[index] ?? ''] as const).filter(([key]) => !vectors.has(key)));
    if (missing.size > 0) {
      const made = await embedder.embed([...missing.values()], kind, options);
      const entries = new Map(
        [...missing.keys()].flatMap((key, index) => (made[index] === undefined ? [] : [[key, made[index]] as const])),
      );
      await cache.put(entries);
      for (const [key, vector] of entries) vectors.set(key, vector);
    }
    return keys.flatMap((key) => vectors.get(key) ?? []);
  }

  close(): Promise<void> {
    return this.#options.embedder.close();
  }
}
