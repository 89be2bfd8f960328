/** Ranks by words and meaning, as a knowledge base with an embedding profile does, comparing vectors one by one. */
import { createEmbedders } from '../../../knowledge/embedding/create-embedders.ts';
import type { Embedder } from '../../../knowledge/embedding/embedder.ts';
import { candidatesFor, fuseRankings } from '../../../knowledge/vector-stores/fuse-rankings.ts';
import type { VectorHit } from '../../../knowledge/vector-stores/vector-store.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import type { ExactIndex, Passage } from '../../support/exact-index.ts';

/** Returns the embedder of the first profile in PARLEY_EMBEDDING_PROFILES that has vectors. */
export function configuredEmbedder(env: NodeJS.ProcessEnv): Embedder | undefined {
  const profiles = loadConfig(env).PARLEY_EMBEDDING_PROFILES;
  const profile = profiles.find(({ provider }) => provider !== 'lexical');
  if (profile === undefined) return undefined;
  const { name, model, dimension } = profile;
  return createEmbedders({ profiles, env }).embedderOf({ profile: name, model, dimension });
}

const AT_ONCE = 256;

export async function hybridIndex(
  chunks: readonly Passage[],
  words: ExactIndex,
  embedder: Embedder,
): Promise<(query: string, topK: number) => Promise<readonly string[]>> {
  const vectors: Float32Array[] = [];
  for (let from = 0; from < chunks.length; from += AT_ONCE) {
    const texts = chunks.slice(from, from + AT_ONCE).map(({ text }) => text);
    vectors.push(...(await embedder.embed(texts, 'passage')).map(normalized));
  }
  return async (query, topK) => {
    const [vector] = await embedder.embed([query], 'query');
    if (vector === undefined) throw new Error('the embedding server gave no vector');
    const asked = normalized(vector);
    const limit = candidatesFor(topK);
    const near = vectors
      .map((other, position) => ({ id: chunks[position]?.id ?? '', score: dot(asked, other) }))
      .toSorted((left, right) => right.score - left.score)
      .slice(0, limit);
    return fuseRankings([near.map(toHit), words.search(query, limit).map(toHit)], topK).map(({ chunkId }) => chunkId);
  };
}

const toHit = ({ id, score }: { readonly id: string; readonly score: number }): VectorHit => ({
  chunkId: id,
  documentId: id,
  ordinal: 0,
  tieBreaker: 0,
  score,
});

function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return vector.map((value) => value / length);
}

function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index += 1) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return sum;
}
