import { describe, expect, it } from 'vitest';

import type { Embedder } from './embedder.ts';
import { cachedEmbed, embeddingKey, memoryEmbeddingCache } from './embedding-cache.ts';

/** Records the texts of each request; the vector of a text is its length. */
function counting(): Embedder & { readonly asked: string[][] } {
  const asked: string[][] = [];
  return {
    asked,
    model: 'm',
    dimension: 2,
    embed: (texts) => {
      asked.push([...texts]);
      return Promise.resolve(texts.map((text) => Float32Array.of(text.length, 1)));
    },
    close: () => Promise.resolve(),
  };
}

describe('a cached embedder', () => {
  it('asks for each text once, in any call, and answers in the order of the texts', async () => {
    const embedder = counting();
    const cached = cachedEmbed(embedder, memoryEmbeddingCache());
    const first = await cached(['aa', 'b', 'aa', 'cccc'], 'passage');
    expect(first.map(([length]) => length)).toEqual([2, 1, 2, 4]);
    const second = await cached(['cccc', 'dd', 'b'], 'passage');
    expect(second.map(([length]) => length)).toEqual([4, 2, 1]);
    expect(embedder.asked).toEqual([['aa', 'b', 'cccc'], ['dd']]);
  });

  it('keeps questions, passages and prefixes apart', async () => {
    const embedder = counting();
    const cache = memoryEmbeddingCache();
    await cachedEmbed(embedder, cache)(['a'], 'passage');
    await cachedEmbed(embedder, cache)(['a'], 'query');
    await cachedEmbed(embedder, cache, 'query: ')(['a'], 'query');
    expect(embedder.asked).toHaveLength(3);
  });

  it('does not take a vector of another length', async () => {
    const embedder = counting();
    const cache = memoryEmbeddingCache();
    await cache.put(new Map([[embeddingKey('m', 'query', 'a'), Float32Array.of(1, 2, 3)]]));
    expect(await cachedEmbed(embedder, cache)(['a'], 'query')).toEqual([Float32Array.of(1, 1)]);
  });
});

describe('the memory', () => {
  it('forgets what was not used for longest', async () => {
    const cache = memoryEmbeddingCache(2);
    await cache.put(new Map([['a', Float32Array.of(1)]]));
    await cache.put(new Map([['b', Float32Array.of(2)]]));
    await cache.get(['a']);
    await cache.put(new Map([['c', Float32Array.of(3)]]));
    expect([...(await cache.get(['a', 'b', 'c'])).keys()]).toEqual(['a', 'c']);
  });
});

it('makes keys that differ by model, kind and text', () => {
  const keys = [
    embeddingKey('m', 'query', 'a'),
    embeddingKey('m', 'passage', 'a'),
    embeddingKey('m2', 'query', 'a'),
    embeddingKey('m', 'query', 'b'),
  ];
  expect(new Set(keys).size).toBe(4);
  expect(keys.every((hash) => /^[0-9a-f]{64}$/.test(hash))).toBe(true);
});
