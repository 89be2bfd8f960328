/** A search reads its question as the knowledge base last looked: it has to notice when that is over. */
import { expect, it } from 'vitest';

import type { Embedder } from '../../../knowledge/embedding/embedder.ts';
import { EmbeddingError } from '../../../knowledge/embedding/embedding-error.ts';
import { readQuestion, termsInQuestion } from '../../../knowledge/lexical/question.ts';
import { dimensionsOf } from '../../../knowledge/lexical/vectors.ts';
import { createSearch } from '../../../knowledge/search/create-search.ts';
import type { CollectionRef, VectorHit, VectorQuery, VectorStore } from '../../../knowledge/vector-stores/vector-store.ts';
import { freshStore } from '../store/support.ts';

const org = 'acme';

it('analyses a question again when the knowledge base got another language or model, and finds nothing of a deleted one', async () => {
  const { store } = await freshStore();
  const { collections } = store.knowledge;
  const asked: (VectorQuery & { readonly ref: CollectionRef })[] = [];
  const vectors: Pick<VectorStore, 'search'> = {
    search(ref, query): Promise<readonly VectorHit[]> {
      asked.push({ ref, ...query });
      return Promise.resolve([]);
    },
  };
  const embedder: Embedder = {
    model: 'e5',
    dimension: 2,
    embed: (texts) => Promise.resolve(texts.map(() => Float32Array.of(1, 0))),
    close: () => Promise.resolve(),
  };
  let refused: string | undefined;
  const search = createSearch({
    knowledge: store.knowledge,
    vectors: vectors as VectorStore,
    embedderOf: ({ profile, model }) => {
      if (profile === refused) throw new EmbeddingError('misconfigured', `profile "${profile}" is not configured`);
      return model === 'e5' ? embedder : undefined;
    },
  });
  const ask = () => search.search({ org, knowledgeBase: 'manuals', query: 'running dogs', topK: 3 });
  const spec = { org, name: 'manuals', maxTokens: 400, overlapTokens: 50 };
  const words = { profile: 'default', model: 'bm25', dimension: 0 };

  expect(await ask()).toBeUndefined();
  const first = await collections.ensure({ ...spec, ...words, uid: 'first', language: 'en' });
  expect(await ask()).toEqual([]);
  await collections.ensure({ ...spec, ...words, uid: 'first', language: 'vi' });
  expect(await ask()).toEqual([]);
  expect(asked.map(({ sparse }) => sparse.indices)).toEqual(
    ['en', 'vi'].map((language) => dimensionsOf(termsInQuestion(readQuestion('running dogs', language)))),
  );
  expect(asked[0]?.sparse.indices).not.toEqual(asked[1]?.sparse.indices);

  await collections.tombstone({ org, uid: 'first' });
  expect(await ask()).toBeUndefined();
  // The profile of the deleted one may be gone with it.
  refused = 'default';
  const second = await collections.ensure({ ...spec, profile: 'e5', model: 'e5', dimension: 2, uid: 'second', language: 'vi' });
  expect(await ask()).toEqual([]);
  expect(asked.map(({ ref, dense }) => [ref.collectionId, ref.space.dimension, dense?.length])).toEqual([
    [first.id, 0, undefined],
    [first.id, 0, undefined],
    [second.id, 2, 2],
  ]);
});

it('follows a knowledge base that was deleted and created again between two searches', async () => {
  const { store } = await freshStore();
  const { collections } = store.knowledge;
  const found: string[] = [];
  const vectors: Pick<VectorStore, 'search'> = {
    search(ref) {
      found.push(ref.collectionId);
      return Promise.resolve([]);
    },
  };
  const search = createSearch({
    knowledge: store.knowledge,
    vectors: vectors as VectorStore,
    embedderOf: ({ profile }) => {
      if (profile === 'old') throw new EmbeddingError('misconfigured', 'profile "old" is not configured');
      return undefined;
    },
  });
  const ask = () => search.search({ org, knowledgeBase: 'faq', query: 'gate', topK: 3 });
  const spec = { org, name: 'faq', model: 'bm25', dimension: 0, maxTokens: 400, overlapTokens: 50, language: 'en' };
  const first = await collections.ensure({ ...spec, profile: 'old', uid: 'first' });
  await expect(ask()).rejects.toThrow('profile "old" is not configured');
  await collections.tombstone({ org, uid: 'first' });
  const second = await collections.ensure({ ...spec, profile: 'new', uid: 'second' });
  expect(second.id).not.toBe(first.id);
  expect(await ask()).toEqual([]);
  expect(found).toEqual([second.id]);
});
