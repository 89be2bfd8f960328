/** The same documents rank the same: hits and scores follow from what is in a knowledge base, and from nothing that happened before. */
import { createHash, randomUUID } from 'node:crypto';

import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { clearDocument } from '../../../knowledge/ingestion/clear-document.ts';
import { indexDocument } from '../../../knowledge/ingestion/index-document.ts';
import { allTerms, passageTerms } from '../../../knowledge/lexical/passage.ts';
import { dimensionsOf } from '../../../knowledge/lexical/vectors.ts';
import { createSearch } from '../../../knowledge/search/create-search.ts';
import type { FileStorage } from '../../../knowledge/storage/file-storage.ts';
import type { Collection } from '../../../store/index.ts';
import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import type { StoreUnderTest } from './vector-stores-support.ts';
import { completeDocument } from '../../support/complete-document.ts';

/** The words are few and the chunks short, so that many chunks score alike. */
const word = fc.constantFrom('gate', 'north', 'code', 'river', 'bridge', 'the', 'opens', 'lock');
const chunkOf = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(' '));
const documents = fc.uniqueArray(
  fc.record({ name: fc.constantFrom('a.txt', 'b.txt', 'c.txt'), chunks: fc.array(chunkOf, { minLength: 1, maxLength: 6 }) }),
  { minLength: 2, maxLength: 7, selector: (document) => JSON.stringify(document) },
);
type Document = { readonly name: string; readonly chunks: readonly string[] };

/** Describes the way of a document into the knowledge base. */
const journey = fc.record({
  order: fc.double({ noNaN: true }),
  /** The document is added, found, removed and added again. */
  twice: fc.boolean(),
  /** The indexing breaks off before this chunk, and begins again. */
  breaksAt: fc.option(fc.nat(5)),
  /** The whole step runs again after its end. */
  repeated: fc.boolean(),
});

const questions = ['north gate code', 'the river', 'bridge lock opens the gate', 'code'];

/** Declares the test for one store. */
export function itRanksTheSame(tested: StoreUnderTest): void {
  const store = suiteFixture(async () => openPatientStore((await migratedDatabase()).url));
  beforeAll(() => tested.start());
  afterAll(() => tested.stop());

  it(`rank the same in whatever order and with whatever interruptions they came (${tested.name})`, async () => {
    await fc.assert(
      fc.asyncProperty(
        documents,
        fc.array(fc.record({ journeys: fc.array(journey, { minLength: 7, maxLength: 7 }), others: documents }), {
          minLength: 2,
          maxLength: 2,
        }),
        async (wanted, histories) => {
          const plain = await newBase();
          for (const document of wanted) await add(plain, document);
          const expected = await answers(plain);
          expect(expected.flat().length).toBeGreaterThan(0);
          for (const { journeys, others } of histories) {
            const base = await newBase();
            const unwanted: string[] = [];
            // Whatever was there first and is gone by now must leave no trace.
            for (const other of others) unwanted.push(await add(base, other));
            const inOrder = wanted
              .map((document, index) => ({ document, way: journeys[index] ?? failed() }))
              .toSorted((left, right) => left.way.order - right.way.order);
            for (const { document, way } of inOrder) {
              if (way.twice) await remove(base, await add(base, document));
              await add(base, document, way);
              const gone = unwanted.pop();
              if (gone !== undefined) await remove(base, gone);
            }
            for (const gone of unwanted) await remove(base, gone);
            expect(await answers(base)).toEqual(expected);
          }
        },
      ),
      // A failure is reported at once: finding a smaller one takes minutes.
      { numRuns: 6, endOnFailure: true },
    );
  });

  const newBase = (): Promise<Collection> =>
    store.knowledge.collections.ensure({
      org: 'acme',
      name: `base-${randomUUID()}`,
      uid: randomUUID(),
      profile: 'default',
      model: 'bm25',
      dimension: 0,
      language: 'en',
      maxTokens: 400,
      overlapTokens: 50,
    });

  async function add(
    { org, id: collectionId }: Collection,
    { name, chunks }: Document,
    { breaksAt = null, repeated = false }: { readonly breaksAt?: number | null; readonly repeated?: boolean } = {},
  ): Promise<string> {
    const { documents: rows, ingestion, collections } = store.knowledge;
    const sha256 = createHash('sha256').update(JSON.stringify(chunks)).digest('hex');
    const { id } = await rows.create({ org, collectionId, kind: 'file', filename: name, sha256 });
    const ref = { org, id };
    const place = { headingPath: [], page: null, sheet: null, url: null, firstRow: null, lastRow: null };
    await ingestion.addChunks(
      ref,
      chunks.map((text, ordinal) => ({ ordinal, text, indexedText: text, tokens: 10, ...place })),
    );
    const lists = chunks.map((text) => passageTerms(text, 'en'));
    const counts = new Map<number, number>();
    for (const list of lists) for (const term of dimensionsOf(allTerms(list))) counts.set(term, (counts.get(term) ?? 0) + 1);
    const sorted = [...counts].toSorted(([left], [right]) => left - right);
    await ingestion.parsed(ref, {
      warnings: [],
      chunkCount: chunks.length,
      termTotal: lists.flatMap(({ words }) => words).length,
      terms: { terms: sorted.map(([term]) => term), chunks: sorted.map(([, count]) => count) },
    });
    const [document, collection] = await Promise.all([rows.get(ref), collections.get({ org, id: collectionId })]);
    if (document === undefined || collection === undefined) throw new Error('the document is gone');
    const vectors = tested.store();
    const step = { document, collection, signal: new AbortController().signal };
    const run = (from: number, report: () => Promise<void> = () => Promise.resolve()): Promise<void> =>
      indexDocument({ ...step, from, report }, { knowledge: store.knowledge, vectors, embedderOf: () => undefined });
    if (breaksAt !== null) {
      let reports = 0;
      const breaks = (): Promise<void> => (++reports > 1 ? Promise.reject(new Error('killed')) : Promise.resolve());
      // This run begins behind the first chunks, to leave an order of its own behind; the second report comes after the write.
      await expect(run(Math.min(breaksAt, chunks.length - 1), breaks)).rejects.toThrow('killed');
    }
    await run(0);
    if (repeated) await run(0);
    await completeDocument(store.knowledge, ref);
    if (repeated) await completeDocument(store.knowledge, ref);
    while (await ingestion.countMoreTerms(ref));
    return id;
  }

  async function remove(collection: Collection, documentId: string): Promise<void> {
    const { org, id: collectionId } = collection;
    await store.knowledge.documents.tombstone({ org, id: documentId, collectionId });
    const clear = () =>
      clearDocument({ collection, documentId }, { knowledge: store.knowledge, vectors: tested.store(), storage: noFiles });
    await clear();
    await clear();
  }

  /** Returns what a client sees, but for ids. */
  async function answers({ org, name }: Collection): Promise<readonly (readonly unknown[])[]> {
    const search = createSearch({ knowledge: store.knowledge, vectors: tested.store(), embedderOf: () => undefined });
    const asked: (readonly unknown[])[] = [];
    for (const query of questions)
      for (const topK of [3, 50]) {
        const hits = (await search.search({ org, knowledgeBase: name, query, topK })) ?? [];
        asked.push(hits.map(({ filename, content, score, chunkIndex, metadata }) => ({ filename, content, score, chunkIndex, metadata })));
      }
    return asked;
  }
}

function failed(): never {
  throw new Error('there are more documents than journeys');
}

const noFiles = { list: () => Promise.resolve([]) } satisfies Pick<FileStorage, 'list'> as unknown as FileStorage;
