/** Caches vectors by the text that they embed. */
import { createHash } from 'node:crypto';

import { LruMap } from '../../platform/lru.ts';
import type { Embedder, EmbeddingKind } from './embedder.ts';

export interface EmbeddingCache {
  /** @param keys SHA-256, lower-case hex. @returns the vectors of known keys */
  get(keys: readonly string[]): Promise<ReadonlyMap<string, Float32Array>>;
  put(entries: ReadonlyMap<string, Float32Array>): Promise<void>;
}

/** Returns the SHA-256 of model, kind and text, lower-case hex. */
export function embeddingKey(model: string, kind: EmbeddingKind, text: string): string {
  // The length comes first, so that no model's name can run into a text.
  return createHash('sha256').update(`${model.length}:${model}\n${kind}\n${text}`).digest('hex');
}

/** Keeps the most recently used vectors in memory: questions are asked again within minutes. */
export function memoryEmbeddingCache(capacity = 1_000): EmbeddingCache {
  const vectors = new LruMap<string, Float32Array>(capacity);
  return {
    async get(keys) {
      return new Map(
        keys.flatMap((key) => {
          const vector = vectors.get(key);
          return vector === undefined ? [] : [[key, vector] as const];
        }),
      );
    },
    async put(entries) {
      for (const [key, vector] of entries) vectors.set(key, vector);
    },
  };
}

/**
 * Sends only texts to the embedder that the cache doesn't have, and each once.
 *
 * @param salt makes the same text another vector: the profile's prefix
 */
export function cachedEmbed(embedder: Embedder, cache: EmbeddingCache, salt = ''): Embedder['embed'] {
  const { model, dimension } = embedder;
  return async (texts, kind, options) => {
    const keys = texts.map((text) => embeddingKey(model, kind, salt + text));
    const known = await cache.get([...new Set(keys)]);
    const vectors = new Map([...known].filter(([, vector]) => vector.length === dimension));
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
  };
}
