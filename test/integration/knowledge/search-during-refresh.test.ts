/** A search misses neither a document that takes another's place in the middle of it, nor one that stands behind what may not be shown. */
import { expect, it } from 'vitest';

import { createSearch } from '../../../knowledge/search/create-search.ts';
import type { VectorHit, VectorStore } from '../../../knowledge/vector-stores/vector-store.ts';
import type { Store } from '../../../store/index.ts';
import { freshStore, session } from '../store/support.ts';
import { completeDocument } from '../../support/complete-document.ts';

const org = 'acme';
const spec = { language: 'en', profile: 'default', model: 'bm25', dimension: 0, maxTokens: 400, overlapTokens: 50 };

/** Adds a document of one chunk, all but completed. */
async function arriving(
  store: Store,
  collectionId: string,
  sourceRevision: string,
): Promise<{ readonly org: string; readonly id: string }> {
  const { id } = await store.knowledge.documents.create({
    org,
    collectionId,
    kind: 'text',
    filename: 'faq.md',
    source: 'faq',
    sourceRevision,
  });
  const ref = { org, id };
  const place = { tokens: 1, headingPath: [], page: null, sheet: null, url: null, firstRow: null, lastRow: null };
  await store.knowledge.ingestion.addChunks(ref, [{ ordinal: 0, text: sourceRevision, indexedText: sourceRevision, ...place }]);
  await store.knowledge.ingestion.parsed(ref, { warnings: [], chunkCount: 1, termTotal: 1, terms: { terms: [1], chunks: [1] } });
  return ref;
}

it.each([
  ['while the old one still has vectors', false],
  ['after the vectors of the old one went', true],
])('finds the new document %s', async (_when, cleared) => {
  const { store } = await freshStore();
  const { id: collectionId } = await store.knowledge.collections.ensure({ org, name: 'faq', uid: 'u', ...spec });
  const old = await arriving(store, collectionId, 'old');
  await completeDocument(store.knowledge, old);
  const next = await arriving(store, collectionId, 'new');

  let searches = 0;
  const vectors: Pick<VectorStore, 'search'> = {
    // The collection holds both documents, and the search ranks while the new one is completed.
    async search(_collection, { exclude = [] }): Promise<readonly VectorHit[]> {
      searches += 1;
      if (searches === 1) expect(await completeDocument(store.knowledge, next)).toEqual([old.id]);
      return [old, next]
        .filter(({ id }) => !exclude.includes(id) && !(cleared && id === old.id))
        .map(({ id }) => ({ chunkId: `${id}:0`, documentId: id, ordinal: 0, tieBreaker: 0, score: 1 }));
    },
  };
  const search = createSearch({ knowledge: store.knowledge, vectors: vectors as VectorStore, embedderOf: () => undefined });
  const hits = await search.search({ org, knowledgeBase: 'faq', query: 'penguin', topK: 3 });
  expect(hits).toMatchObject([{ documentId: next.id, content: 'new' }]);
  expect(searches).toBe(2);
});

it('looks deeper where more documents are at work than a store can be told to leave out', async () => {
  const { url, store } = await freshStore();
  const { id: collectionId } = await store.knowledge.collections.ensure({ org, name: 'faq', uid: 'u', ...spec });
  const found = await arriving(store, collectionId, 'found');
  await completeDocument(store.knowledge, found);
  const ahead = await arriving(store, collectionId, 'ahead');
  const admin = await session(url);
  await admin.query(
    `INSERT INTO parley.documents (org, id, collection_id, kind, filename)
     SELECT $1, 'doc_' || gen_random_uuid(), $2, 'text', 'more.md' FROM generate_series(1, 1_000)`,
    [org, collectionId],
  );
  const asked: number[] = [];
  const vectors: Pick<VectorStore, 'search'> = {
    async search(_collection, { topK }) {
      asked.push(topK);
      return [ahead, found]
        .slice(0, topK)
        .map(({ id }, place) => ({ chunkId: `${id}:0`, documentId: id, ordinal: 0, tieBreaker: 0, score: 2 - place }));
    },
  };
  const search = createSearch({ knowledge: store.knowledge, vectors: vectors as VectorStore, embedderOf: () => undefined });
  expect(await search.search({ org, knowledgeBase: 'faq', query: 'penguin', topK: 1 })).toMatchObject([{ documentId: found.id }]);
  expect(asked).toEqual([1, 4]);
});
