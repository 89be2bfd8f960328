import { describe, expect, it } from 'vitest';

import { uuidv7 } from '../../../platform/uuid.ts';
import { newDocumentId, type CollectionSpec, type Store } from '../../../store/index.ts';
import { failureOf, freshStore, session } from './support.ts';
import { completeDocument } from '../../support/complete-document.ts';

const spec: CollectionSpec = {
  org: 'acme',
  name: 'manuals',
  uid: 'uid-1',
  profile: 'default',
  model: 'bm25',
  dimension: 0,
  language: 'en',
  maxTokens: 400,
  overlapTokens: 50,
};

async function freshCollection() {
  const { url, store } = await freshStore();
  return { url, store, collection: await store.knowledge.collections.ensure(spec) };
}

/** Makes a document of `texts.length` chunks whose terms are `terms`, up to the point where it can be completed. */
async function readyDocument(
  store: Store,
  collectionId: string,
  terms: readonly number[],
  more: { readonly source?: string; readonly sourceRevision?: string } = {},
) {
  const { org } = spec;
  const { id } = await store.knowledge.documents.create({ org, collectionId, kind: 'file', filename: 'a.txt', ...more });
  const ref = { org, id };
  const chunk = {
    indexedText: 'x',
    tokens: 1,
    headingPath: ['A', 'B "quoted", with {braces}'],
    page: 3,
    sheet: null,
    url: null,
    firstRow: null,
    lastRow: null,
  };
  await store.knowledge.ingestion.addChunks(ref, [
    { ...chunk, ordinal: 0, text: 'first \\ "ক্ষ"' },
    { ...chunk, ordinal: 1, text: 'second' },
  ]);
  await store.knowledge.ingestion.parsed(ref, {
    warnings: ['page 2 has no text'],
    chunkCount: 2,
    termTotal: 10,
    terms: { terms, chunks: terms.map(() => 1) },
  });
  return ref;
}

const frequencies = async (store: Store, terms: readonly number[]) =>
  Object.fromEntries((await store.knowledge.lookup.prepare({ org: spec.org, name: spec.name, terms }))?.frequencies ?? []);

describe('the collection of a knowledge base', () => {
  it('is made once, follows the resource, and is the same for every caller', async () => {
    const { store } = await freshStore();
    const made = await Promise.all(Array.from({ length: 8 }, () => store.knowledge.collections.ensure(spec)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    const changed = await store.knowledge.collections.ensure({ ...spec, language: 'bn', maxTokens: 200 });
    expect(changed).toMatchObject({ id: made[0]?.id, language: 'bn', maxTokens: 200 });
  });

  it('is not mixed with vectors of another model', async () => {
    const { store } = await freshCollection();
    expect(await failureOf(store.knowledge.collections.ensure({ ...spec, model: 'e5', dimension: 384 }))).toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('"bm25"'),
    });
  });

  it('is hidden while no resource owns it, and taken over by a new resource of its name', async () => {
    const { store, collection } = await freshCollection();
    await store.knowledge.collections.release({ org: 'acme', uid: 'uid-1' });
    expect(await store.knowledge.collections.byName({ org: 'acme', name: 'manuals' })).toBeUndefined();
    expect(await store.knowledge.collections.ensure({ ...spec, uid: 'uid-2', profile: 'renamed' })).toMatchObject({
      profile: 'renamed',
      id: collection.id,
      uid: 'uid-2',
      released: false,
    });
  });

  it('gives way to a new one once it is deleted, and is not found again', async () => {
    const { store, collection } = await freshCollection();
    expect(await store.knowledge.collections.tombstone({ org: 'acme', uid: 'uid-1' })).toEqual([collection.id]);
    expect(await store.knowledge.collections.byName({ org: 'acme', name: 'manuals' })).toBeUndefined();
    expect(
      await failureOf(store.knowledge.documents.create({ org: 'acme', collectionId: collection.id, kind: 'file', filename: 'a' })),
    ).toMatchObject({
      kind: 'not_found',
    });
    const recreated = await store.knowledge.collections.ensure({ ...spec, uid: 'uid-2' });
    expect(recreated.id).not.toBe(collection.id);
    expect((await store.knowledge.collections.tombstoned('acme')).map(({ id }) => id)).toEqual([collection.id]);
    await store.knowledge.collections.remove({ org: 'acme', id: collection.id });
    expect(await store.knowledge.collections.tombstoned('acme')).toEqual([]);
  });
});

describe('a document', () => {
  it('counts from its completion to its deletion, each of which happens once', async () => {
    const { store, collection } = await freshCollection();
    const a = await readyDocument(store, collection.id, [1, 2]);
    const b = await readyDocument(store, collection.id, [2, 3]);
    expect(await frequencies(store, [1, 2, 3])).toEqual({});
    const ends = await Promise.all([a, a, b, b].map((ref) => completeDocument(store.knowledge, ref)));
    expect(ends.filter((end) => end !== undefined)).toHaveLength(2);
    expect(await frequencies(store, [1, 2, 3])).toEqual({ 1: 1, 2: 2, 3: 1 });
    expect(await store.knowledge.collections.get({ org: 'acme', id: collection.id })).toMatchObject({ chunkCount: 4, termTotal: 20 });

    const deletions = await Promise.all(
      [a, a].map(({ org, id }) => store.knowledge.documents.tombstone({ org, id, collectionId: collection.id })),
    );
    expect(deletions.toSorted((one, other) => Number(one) - Number(other))).toEqual([false, true]);
    expect(await frequencies(store, [1, 2, 3])).toEqual({ 2: 1, 3: 1 });
    expect(await store.knowledge.collections.overview({ org: 'acme', id: collection.id })).toEqual({
      documents: { total: 1, processing: 0, completed: 1, failed: 0 },
      chunks: 2,
    });
  });

  it('of very many terms is found and hidden at once, and counted step by step', async () => {
    const { url, store, collection } = await freshCollection();
    const database = await session(url);
    const common = await readyDocument(store, collection.id, [1, 2]);
    await completeDocument(store.knowledge, common);
    const terms = Array.from({ length: 65_000 }, (_, index) => index + 1);
    const vast = await readyDocument(store, collection.id, terms);
    const counted = async () => (await database.query<{ n: number }>('SELECT count(*)::int AS n FROM parley.term_frequencies')).rows[0]?.n;

    expect(await store.knowledge.ingestion.countMoreTerms(vast)).toBe(false);
    await completeDocument(store.knowledge, vast);
    expect(await counted()).toBe(50_000);
    while (await store.knowledge.ingestion.countMoreTerms(vast));
    expect(await counted()).toBe(65_000);
    expect(await store.knowledge.ingestion.countMoreTerms(vast)).toBe(false);
    expect(await frequencies(store, [1, 3, 65_000])).toEqual({ 1: 2, 3: 1, 65_000: 1 });

    await store.knowledge.documents.tombstone({ ...vast, collectionId: collection.id });
    expect(await store.knowledge.ingestion.countMoreTerms(vast)).toBe(false);
    expect(await counted()).toBe(45_000);
    while (await store.knowledge.documents.uncountMoreTerms(vast));
    expect(await frequencies(store, terms)).toEqual({ 1: 1, 2: 1 });
    expect(await store.knowledge.documents.uncountMoreTerms(vast)).toBe(false);
  });

  it('whose terms are still being counted takes away again what was counted, and no more', async () => {
    const { store, collection } = await freshCollection();
    const terms = Array.from({ length: 65_000 }, (_, index) => index + 1);
    const vast = await readyDocument(store, collection.id, terms);
    await completeDocument(store.knowledge, vast);
    await store.knowledge.ingestion.countMoreTerms(vast);
    await store.knowledge.documents.tombstone({ ...vast, collectionId: collection.id });
    while (await store.knowledge.documents.uncountMoreTerms(vast));
    expect(await frequencies(store, terms)).toEqual({});
    await store.knowledge.documents.remove(vast);
  });

  it('is found with its position while it is completed, and only in its organisation', async () => {
    const { store, collection } = await freshCollection();
    const ref = await readyDocument(store, collection.id, [1]);
    const find = async (org: string) =>
      store.knowledge.lookup.resolve({
        org,
        collectionId: collection.id,
        hits: [
          { documentId: ref.id, ordinal: 0 },
          { documentId: ref.id, ordinal: 7 },
        ],
      });
    expect(await find('acme')).toEqual([]);
    expect((await store.knowledge.lookup.prepare({ org: 'acme', name: collection.name, terms: [] }))?.hidden).toEqual([ref.id]);
    await completeDocument(store.knowledge, ref);
    expect(await find('acme')).toMatchObject([
      { documentId: ref.id, text: 'first \\ "ক্ষ"', headingPath: ['A', 'B "quoted", with {braces}'], page: 3, filename: 'a.txt' },
    ]);
    expect(await find('other')).toEqual([]);
    await store.knowledge.documents.tombstone({ ...ref, collectionId: collection.id });
    expect(await find('acme')).toEqual([]);
  });

  it('that is completed in one go has nothing of an attempt that broke off, and is heard of', async () => {
    const { url, store, collection } = await freshCollection();
    const { org, id } = await readyDocument(store, collection.id, [1, 2]);
    const changed: (string | undefined)[] = [];
    const listener = await session(url);
    listener.on('notification', ({ payload }) => changed.push(payload));
    await listener.query('LISTEN parley_knowledge');
    const chunk = { ordinal: 0, text: 'whole', indexedText: 'x', tokens: 1, headingPath: [], page: null, sheet: null, url: null };
    const eventOf = () => ({ id: uuidv7(), org, name: 'KnowledgeBase.DocumentCompleted', body: new Uint8Array() });
    const content = {
      warnings: [],
      chunks: [{ ...chunk, firstRow: null, lastRow: null }],
      termTotal: 5,
      terms: { terms: [2], chunks: [1] },
    };
    await store.knowledge.completion.complete(org, [{ id, message: 'done', content, eventOf }]);
    const kept = await store.knowledge.lookup.chunksOf({ org, documentId: id, limit: 10 });
    expect(kept.map(({ text }) => text)).toEqual(['whole']);
    expect(await frequencies(store, [1, 2])).toEqual({ 2: 1 });
    // Notifications come before the next answer.
    await listener.query('SELECT');
    expect(changed).toEqual(['acme/manuals']);
  });

  it('that replaces another does so in the moment of its completion', async () => {
    const { store, collection } = await freshCollection();
    const old = await readyDocument(store, collection.id, [1], { source: 'faq', sourceRevision: 'r1' });
    await completeDocument(store.knowledge, old);
    const next = await readyDocument(store, collection.id, [2], { source: 'faq', sourceRevision: 'r2' });
    expect(await frequencies(store, [1, 2])).toEqual({ 1: 1 });
    expect(await completeDocument(store.knowledge, next)).toEqual([old.id]);
    expect(await frequencies(store, [1, 2])).toEqual({ 2: 1 });
    const again = await store.knowledge.documents.create({
      org: 'acme',
      collectionId: collection.id,
      kind: 'file',
      filename: 'a.txt',
      source: 'faq',
      sourceRevision: 'r2',
    });
    expect(again.id).toBe(next.id);
  });

  it('that is in the way goes only while it is unfinished: its source is never without an answer', async () => {
    const { store, collection } = await freshCollection();
    const collectionId = collection.id;
    let served = await readyDocument(store, collectionId, [1], { source: 'faq', sourceRevision: 'r0' });
    await completeDocument(store.knowledge, served);
    expect(await store.knowledge.documents.tombstone({ ...served, collectionId, unlessCompleted: true })).toBe(false);
    for (let round = 1; round <= 20; round += 1) {
      const next = await readyDocument(store, collectionId, [1], { source: 'faq', sourceRevision: `r${round}` });
      const [completed, gone] = await Promise.all([
        completeDocument(store.knowledge, next),
        store.knowledge.documents.tombstone({ ...next, collectionId, unlessCompleted: true }),
      ]);
      expect(gone).toBe(completed === undefined);
      if (completed !== undefined) served = next;
      expect(await store.knowledge.documents.ofSources({ org: 'acme', collectionId })).toMatchObject([
        { id: served.id, status: 'completed' },
      ]);
    }
  });

  it('that failed keeps its reason and nothing else', async () => {
    const { url, store, collection } = await freshCollection();
    const ref = await readyDocument(store, collection.id, [1]);
    expect(await store.knowledge.ingestion.fail(ref, { code: 'corrupt_file', message: 'the file ends in the middle' })).toBe(true);
    expect(await completeDocument(store.knowledge, ref)).toBeUndefined();
    expect(await store.knowledge.documents.get(ref)).toMatchObject({ status: 'failed', errorCode: 'corrupt_file', chunkCount: 0 });
    const client = await session(url);
    for (const table of ['chunks', 'document_terms', 'term_frequencies'])
      expect((await client.query(`SELECT count(*)::int AS n FROM parley.${table}`)).rows).toEqual([{ n: 0 }]);
  });

  it('reports no progress once it is deleted, and its rows go with it', async () => {
    const { url, store, collection } = await freshCollection();
    const ref = await readyDocument(store, collection.id, [1]);
    expect(await store.knowledge.ingestion.progress(ref, { stage: 'indexing', done: 1, total: 2 })).toBe(true);
    await store.knowledge.documents.remove(ref);
    expect(await store.knowledge.documents.get(ref)).toMatchObject({ stage: 'indexing', done: 1, total: 2 });
    await store.knowledge.collections.tombstone({ org: 'acme', uid: 'uid-1' });
    expect(await store.knowledge.ingestion.progress(ref, { stage: 'indexing', done: 2 })).toBe(false);
    await store.knowledge.documents.remove(ref);
    const client = await session(url);
    expect((await client.query('SELECT count(*)::int AS n FROM parley.chunks')).rows).toEqual([{ n: 0 }]);
  });

  it('is listed page by page in the order of arrival', async () => {
    const { store, collection } = await freshCollection();
    const ids = Array.from({ length: 5 }, () => newDocumentId());
    for (const id of ids)
      await store.knowledge.documents.create({
        org: 'acme',
        id,
        collectionId: collection.id,
        kind: 'website',
        filename: 'w',
        urls: ['https://a'],
      });
    const seen: string[] = [];
    for (let after: { createdAt: Date; id: string } | undefined; ;) {
      const page = await store.knowledge.documents.list({ org: 'acme', collectionId: collection.id, pageSize: 2, after });
      seen.push(...page.items.map(({ id }) => id));
      if (page.next === undefined) break;
      after = page.next;
    }
    expect(seen).toEqual(ids);
    expect((await store.knowledge.documents.unsettled({ org: 'acme', limit: 10 })).map(({ deleted }) => deleted)).toEqual(
      ids.map(() => false),
    );
  });
});

describe('vectors that were paid for', () => {
  it('come back as they were, to their own organisation', async () => {
    const { store } = await freshCollection();
    await store.organizations.create({ name: 'other' });
    const key = 'ab'.repeat(32);
    const vector = Float32Array.of(0.25, -1e-7, 3);
    await store.knowledge.embeddingCache.put('acme', new Map([[key, vector]]));
    expect((await store.knowledge.embeddingCache.get('acme', [key, 'cd'.repeat(32)])).get(key)).toEqual(vector);
    expect(await store.knowledge.embeddingCache.get('other', [key])).toEqual(new Map());
    expect(await store.knowledge.embeddingCache.prune({ org: 'acme' })).toBe(0);
    expect(await store.knowledge.embeddingCache.prune({ org: 'acme', unusedForMs: -1 })).toBe(1);
  });
});
