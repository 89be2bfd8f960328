import { randomUUID } from 'node:crypto';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { allTerms, passageTerms } from '../../../knowledge/lexical/passage.ts';
import { readQuestion } from '../../../knowledge/lexical/question.ts';
import { dimensionsOf, documentVector, queryVector } from '../../../knowledge/lexical/vectors.ts';
import { type Scalar, type VectorHit, type VectorRecord, VectorStoreError } from '../../../knowledge/vector-stores/vector-store.ts';
import { failureOf } from '../store/support.ts';
import { eventually } from '../../support/eventually.ts';
import { milvus } from './milvus-slow-support.ts';
import { behindProxy, freshCollection, idsOf, pgvector, record, sparse } from './vector-stores-support.ts';

const onMilvus = milvus();
const both = [pgvector(), onMilvus];

beforeAll(() => Promise.all(both.map((tested) => tested.start())));
afterAll(() => Promise.all(both.map((tested) => tested.stop())));

for (const tested of both) {
  describe(`a collection in ${tested.name}`, () => {
    const store = () => tested.store();

    it('finds at once what a write has returned for, best first, ties by tie breaker and ordinal, and nothing without a shared term', async () => {
      const collection = freshCollection();
      await store().upsert(collection, [
        record('b:1', { words: { 7: 1 }, tieBreaker: 2 ** 53 - 1 }),
        record('z:10', { words: { 7: 1 }, tieBreaker: 1 }),
        record('z:2', { words: { 7: 1 }, tieBreaker: 1 }),
        record('c:0', { words: { 7: 1, 999_999_999: 1.5 } }),
        record('d:0', { words: { 8: 2 } }),
        record('e:0', { words: {} }),
      ]);
      const hits = await store().search(collection, { sparse: sparse({ 7: 2, 999_999_999: 4, 12: 1 }), topK: 10 });
      expect(idsOf(hits)).toEqual(['c:0', 'z:2', 'z:10', 'b:1']);
      expect(hits.map(({ score }) => score)).toEqual([8, 2, 2, 2]);
      expect(hits[0]).toEqual({ chunkId: 'c:0', documentId: 'c', ordinal: 0, tieBreaker: 0, score: 8 });
      expect(idsOf(await store().search(collection, { sparse: sparse({ 7: 1 }), topK: 2 }))).toEqual(['c:0', 'z:2']);
      expect(await store().search(collection, { sparse: sparse({}), topK: 10 })).toEqual([]);
      expect(await store().search(collection, { sparse: sparse({ 5: 1 }), topK: 10 })).toEqual([]);
      expect(await store().search(freshCollection(), { sparse: sparse({ 7: 1 }), topK: 10 })).toEqual([]);
    });

    it('keeps one of what is written again, with what it was last written with', async () => {
      const collection = freshCollection();
      const records = Array.from({ length: 40 }, (_, index) => record(`doc:${index}`, { words: { 3: 1, [100 + index]: 1 } }));
      await store().upsert(collection, records);
      await store().upsert(collection, records);
      await store().upsert(collection, [
        record('doc:5', { words: { 4: 1 }, metadata: { v: 1 } }),
        record('doc:5', { words: { 9: 1 }, metadata: { v: 2 } }),
      ]);
      expect(await store().count(collection)).toBe(40);
      expect(idsOf(await store().search(collection, { sparse: sparse({ 3: 1 }), topK: 100 }))).toHaveLength(39);
      expect(await store().search(collection, { sparse: sparse({ 105: 1 }), topK: 100 })).toEqual([]);
      expect(await store().search(collection, { sparse: sparse({ 4: 1 }), topK: 100 })).toEqual([]);
      expect(idsOf(await store().search(collection, { sparse: sparse({ 9: 1 }), filter: { v: 2 }, topK: 100 }))).toEqual(['doc:5']);
    });

    it('deletes a document, and a collection, and nothing else', async () => {
      const [collection, other] = [freshCollection(2), freshCollection(2)];
      const records = ['a', 'a-b', 'a.b', 'a:b', 'ab', 'b'].flatMap((id) =>
        Array.from({ length: 3 }, (_, index) => record(`${id}:${index}`, { dense: [1, index] })),
      );
      await Promise.all([store().upsert(collection, records), store().upsert(other, records)]);
      const query = { sparse: sparse({ 1: 1 }), dense: Float32Array.of(1, 1), topK: 100 };
      expect(await store().documentIds(collection, { limit: 100 })).toEqual(['a', 'a-b', 'a.b', 'a:b', 'ab', 'b']);
      expect(await store().documentIds(collection, { after: 'a-b', limit: 2 })).toEqual(['a.b', 'a:b']);
      expect(await store().documentIds(collection, { after: 'aa', limit: 2 })).toEqual(['ab', 'b']);
      expect(await store().count(collection, 'a')).toBe(3);
      await store().deleteDocument(collection, 'a');
      expect([await store().count(collection, 'a'), await store().count(collection)]).toEqual([0, 15]);
      expect((await store().search(collection, query)).some(({ documentId }) => documentId === 'a')).toBe(false);
      expect(await store().search(collection, query)).toHaveLength(15);
      await store().deleteDocument(collection, 'never');
      await store().deleteCollection(collection);
      expect([await store().count(collection), await store().search(collection, query)]).toEqual([0, []]);
      expect([await store().count(other), (await store().search(other, query)).length]).toEqual([18, 18]);
      await store().deleteCollection(collection);
      await store().upsert(collection, records.slice(0, 1));
      expect(idsOf(await store().search(collection, query))).toEqual(['a:0']);
    });

    it('keeps organisations and collections apart, the same ids in each', async () => {
      const id = freshCollection(2).collectionId;
      const ours = { ...freshCollection(2, 'acme'), collectionId: id };
      const theirs = { ...freshCollection(2, 'globex'), collectionId: id };
      const third = freshCollection(2, 'acme');
      for (const [collection, weight] of [
        [ours, 1],
        [theirs, 2],
        [third, 0.5],
      ] as const) {
        await store().upsert(collection, [record('doc:0', { words: { 5: weight }, dense: [weight, 1] })]);
      }
      for (const [collection, weight] of [
        [ours, 1],
        [theirs, 2],
        [third, 0.5],
      ] as const) {
        const hits = await store().search(collection, { sparse: sparse({ 5: 1 }), topK: 10 });
        expect(hits.map(({ score }) => score)).toEqual([weight]);
        expect(await store().search(collection, { sparse: sparse({ 5: 1 }), dense: Float32Array.of(1, 1), topK: 10 })).toHaveLength(1);
      }
      await store().deleteDocument(theirs, 'doc');
      expect([await store().count(ours), await store().count(theirs), await store().count(third)]).toEqual([1, 0, 1]);
    });

    it('filters by type and value, whatever the fields and values are made of', async () => {
      const collection = freshCollection(2);
      const texts = [
        '',
        ' ',
        '1',
        '1.0',
        'true',
        'null',
        "'",
        "''",
        '"',
        '\\',
        '\\"',
        '%',
        '_',
        "' or 1=1 --",
        '" or scope != "',
        '") or (1==1',
        '$1',
        '{}',
        '[]',
        'a\tb',
        'a\nb',
        'a\r\nb',
        'é',
        'e\u0301',
        'বাংলা',
        '日本',
        '👩‍👩‍👧',
        '__proto__',
        'constructor',
        '\u202e',
        'x'.repeat(512),
      ];
      const values: readonly Scalar[] = [...texts, 0, 1, -1, 1.5, 1e21, 5e-324, 2 ** 53, true, false];
      const keys = ['k', '__proto__', 'constructor', 'a.b', 'a-b', '"', "'", '\\', '%', 'k"] == 1 or scope["', 'ক'];
      const records = keys.flatMap((key, at) =>
        (at === 0 ? values : values.slice(0, 6)).map((value, index) =>
          record(`doc${at}:${index}`, {
            metadata: Object.fromEntries([
              [key, value],
              ['other', at],
            ]),
            dense: [1, index],
          }),
        ),
      );
      await store().upsert(collection, records);
      const find = async (filter: Readonly<Record<string, Scalar>>, dense?: Float32Array): Promise<readonly string[]> =>
        idsOf(await store().search(collection, { sparse: sparse({ 1: 1 }), filter, topK: 1000, ...(dense && { dense }) })).toSorted();
      const cases = keys.flatMap((key, at) =>
        (at === 0 ? values : values.slice(0, 6)).map((value, index) => ({ key, value, own: [`doc${at}:${index}`] })),
      );
      for (const { key, value, own } of cases)
        expect([key, value, await find(Object.fromEntries([[key, value]]))]).toEqual([key, value, own]);
      expect(await find({ k: -0 })).toEqual(await find({ k: 0 }));
      expect(await find({ k: 1, other: 0 }, Float32Array.of(1, 1))).toHaveLength(1);
      expect(await find({ k: 1, other: 1 }, Float32Array.of(1, 1))).toEqual([]);
      expect(await find({ missing: 1 })).toEqual([]);
    });

    it('finds with any allowed filter its own rows only', async () => {
      const collection = freshCollection();
      const scalar = fc.oneof(
        fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => !/\p{Cc}/u.test(text)),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
      );
      const values = fc.sample(scalar, { numRuns: 120, seed: 7 });
      await store().upsert(
        collection,
        values.map((value, index) => record(`doc:${index}`, { metadata: { f: value } })),
      );
      for (const value of values.slice(0, 40)) {
        const own = values.flatMap((other, index) => (other === value ? [`doc:${index}`] : [])).toSorted();
        expect(idsOf(await store().search(collection, { sparse: sparse({ 1: 1 }), filter: { f: value }, topK: 1000 })).toSorted()).toEqual(
          own,
        );
      }
    });

    it('leaves documents out within the ranking, or looks at one alone', async () => {
      const collection = freshCollection(2);
      const records = Array.from({ length: 120 }, (_, index) =>
        record(`doc${String(index % 6)}:${index}`, {
          words: { 1: 2 - index / 100 },
          dense: [120 - index, index],
          metadata: { half: index % 2 },
        }),
      );
      await store().upsert(collection, records);
      const exclude = ['doc0', 'doc1', 'never'];
      for (const dense of [undefined, Float32Array.of(1, 0)]) {
        const query = { sparse: sparse({ 1: 1 }), topK: 5, ...(dense && { dense }) };
        expect(idsOf(await store().search(collection, query))).toEqual(['doc0:0', 'doc1:1', 'doc2:2', 'doc3:3', 'doc4:4']);
        expect(idsOf(await store().search(collection, { ...query, exclude }))).toEqual(['doc2:2', 'doc3:3', 'doc4:4', 'doc5:5', 'doc2:8']);
        expect(idsOf(await store().search(collection, { ...query, document: 'doc4', topK: 2 }))).toEqual(['doc4:4', 'doc4:10']);
        const rest = await store().search(collection, { ...query, exclude, filter: { half: 0 }, topK: 120 });
        expect([...new Set(rest.map(({ documentId }) => documentId))]).toEqual(['doc2', 'doc4']);
        expect(rest).toHaveLength(40);
        expect(await store().search(collection, { ...query, document: 'doc4', exclude: ['doc4'] })).toEqual([]);
      }
      const many = Array.from({ length: 1_000 }, () => `doc_${randomUUID()}`);
      expect(await store().search(collection, { sparse: sparse({ 1: 1 }), topK: 5, exclude: many })).toHaveLength(5);
    });

    it('gives a thousand hits, the last of many that score alike decided by ordinal', async () => {
      const collection = freshCollection(2);
      const records = Array.from({ length: 1_300 }, (_, index) =>
        record(`doc:${index}`, { words: index < 100 ? { 1: 2 } : { 1: 1 }, dense: index < 100 ? [2, 1] : [1, 1] }),
      );
      await store().upsert(collection, records.toReversed());
      const name = (index: number): string => `doc:${index}`;
      const wanted = [
        ...Array.from({ length: 100 }, (_, index) => name(index)),
        ...Array.from({ length: 1_200 }, (_, index) => name(100 + index)),
      ];
      for (const topK of [3, 150, 1_000]) {
        const hits = await store().search(collection, { sparse: sparse({ 1: 1 }), topK });
        expect(idsOf(hits)).toEqual(wanted.slice(0, topK));
      }
      const hybrid = await store().search(collection, { sparse: sparse({ 1: 1 }), dense: Float32Array.of(1, 0), topK: 1_000 });
      expect(idsOf(hybrid)).toEqual(wanted.slice(0, 1_000));
    });

    it('ranks Bangla: the passage with the phrase comes first', async () => {
      const collection = freshCollection();
      const passages = [
        'আমাদের অফিস সকাল নয়টা থেকে বিকাল পাঁচটা পর্যন্ত খোলা থাকে।',
        'পণ্য ফেরত দেওয়ার শেষ সময় ক্রয়ের তারিখ থেকে চৌদ্দ দিন।',
        'ঢাকার ভিতরে পণ্য পৌঁছাতে দুই দিন লাগে, ঢাকার বাইরে পাঁচ দিন।',
        'ক্রয়ের রসিদ ছাড়া ওয়ারেন্টি পাওয়া যায় না।',
      ].map((text) => passageTerms(text, 'bn'));
      await store().upsert(
        collection,
        passages.map((terms, index): VectorRecord => ({
          chunkId: `doc:${index}`,
          documentId: 'doc',
          ordinal: index,
          tieBreaker: 0,
          sparse: documentVector(terms),
          metadata: {},
        })),
      );
      const query = readQuestion('পণ্য ফেরত দেওয়ার শেষ সময়', 'bn');
      const frequencyOf = (dimension: number): number =>
        passages.filter((terms) => dimensionsOf(allTerms(terms)).includes(dimension)).length;
      const hits = await store().search(collection, { sparse: queryVector(query, { documentCount: 4, frequencyOf }), topK: 3 });
      expect(hits[0]?.chunkId).toBe('doc:1');
    });

    it('takes passages without words and vectors of many dimensions', async () => {
      for (const dimension of [2_500, 4_500]) {
        const collection = freshCollection(dimension);
        const direction = (axis: number): number[] => Array.from({ length: dimension }, (_, index) => (index === axis ? 1 : 0.001));
        await store().upsert(
          collection,
          [0, 1, 2].map((axis) => record(`doc:${axis}`, { words: {}, dense: direction(axis) })),
        );
        const hits = await store().search(collection, { sparse: sparse({}), dense: Float32Array.from(direction(1)), topK: 1 });
        expect(idsOf(hits)).toEqual(['doc:1']);
        await store().deleteCollection(collection);
      }
    });

    it('lets many write, delete and search at once, and misses nothing that was there before', async () => {
      const collection = freshCollection(4);
      const standing = Array.from({ length: 30 }, (_, index) =>
        record(`stays:${index}`, { words: { 2: 2 }, dense: [9, 1, index / 10, 0] }),
      );
      await store().upsert(collection, standing);
      const writers = Array.from({ length: 6 }, async (_, writer) => {
        for (let round = 0; round < 4; round += 1) {
          const id = `w${writer}r${round}`;
          await store().upsert(
            collection,
            Array.from({ length: 20 }, (__, index) => record(`${id}:${index}`, { words: { 2: 1 }, dense: [1, 1, 1, 1] })),
          );
          if (round % 2 === 0) await store().deleteDocument(collection, id);
          // The same chunks again, as another attempt writes them.
          await store().upsert(collection, standing.slice(writer * 5, writer * 5 + 5));
        }
      });
      const searches = Array.from({ length: 6 }, async () => {
        for (let round = 0; round < 6; round += 1) {
          const hits = await store().search(collection, { sparse: sparse({ 2: 1 }), dense: Float32Array.of(9, 1, 1, 0), topK: 30 });
          expect(idsOf(hits).filter((id) => id.startsWith('stays:'))).toHaveLength(30);
        }
      });
      await Promise.all([...writers, ...searches]);
      expect(await store().count(collection)).toBe(30 + 6 * 2 * 20);
      expect(await store().documentIds(collection, { limit: 100 })).toEqual(
        ['stays', ...Array.from({ length: 6 }, (_, writer) => [`w${writer}r1`, `w${writer}r3`]).flat()].toSorted(),
      );
    });

    it('refuses what it cannot keep or be asked, and does nothing then', async () => {
      const [plain, dense] = [freshCollection(), freshCollection(2)];
      const write = (given: Partial<VectorRecord>, collection = plain): Promise<void> =>
        store().upsert(collection, [record('fine:0', collection === dense ? { dense: [1, 0] } : {}), { ...record('doc:0'), ...given }]);
      const attempts: readonly (() => Promise<unknown>)[] = [
        () => write({ chunkId: 'doc:1' }),
        () => write({ documentId: 'a"b', chunkId: 'a"b:0' }),
        () => write({ ordinal: -1, chunkId: 'doc:-1' }),
        () => write({ sparse: { indices: [2, 1], values: [1, 1] } }),
        () => write({ sparse: { indices: [0], values: [1] } }),
        () => write({ sparse: { indices: [1], values: [Number.NaN] } }),
        () => write({ sparse: { indices: [1], values: [100] } }),
        () => write({ dense: Float32Array.of(1, 1) }),
        () => write({}, dense),
        () => write({ dense: Float32Array.of(1) }, dense),
        () => write({ dense: Float32Array.of(0, 0) }, dense),
        () => write({ dense: Float32Array.of(Number.NaN, 1) }, dense),
        () => write({ metadata: { text: 'a\0b' } }),
        () => write({ metadata: { text: '\ud83d' } }),
        () => write({ metadata: { n: Infinity } }),
        () => store().search(plain, { sparse: sparse({ 1: 1 }), topK: 0 }),
        () => store().search(plain, { sparse: sparse({ 1: 1 }), topK: 1_001 }),
        () => store().search(plain, { sparse: sparse({ 1: 1 }), topK: 1, dense: Float32Array.of(1) }),
        () => store().search(plain, { sparse: sparse({ 1: 1 }), topK: 1, document: "'" }),
        () => store().search({ ...plain, org: 'acme" or "' }, { sparse: sparse({ 1: 1 }), topK: 1 }),
        () => store().count({ ...plain, collectionId: "x' or true --" }),
        () => store().deleteDocument(plain, ''),
      ];
      for (const attempt of attempts)
        expect(await failureOf(attempt())).toMatchObject({ name: 'VectorStoreError', kind: 'invalid', retryable: false });
      expect([await store().count(plain), await store().count(dense)]).toEqual([0, 0]);
    });

    it('says that it is unavailable while its server is cut off, and goes on by itself afterwards', async () => {
      const { proxy, store: remote } = await behindProxy(tested);
      const collection = freshCollection();
      await remote.upsert(collection, [record('doc:0')]);
      const query = { sparse: sparse({ 1: 1 }), topK: 5 };
      const calls = (): readonly Promise<unknown>[] => [
        remote.search(collection, query),
        remote.upsert(collection, [record('doc:1')]),
        remote.count(collection),
        remote.deleteDocument(collection, 'doc'),
        remote.documentIds(collection, { limit: 1 }),
        remote.health(),
      ];
      proxy.cut();
      for (const failure of await Promise.all(calls().map(failureOf))) {
        expect(failure).toMatchObject({ name: 'VectorStoreError', kind: 'unavailable', retryable: true });
      }
      proxy.restore();
      const found = await eventually(() => remote.search(collection, query));
      expect(idsOf(found)).toContain('doc:0');
      await eventually(() => remote.health());
    });

    it('does not wait for ever on a server that says nothing', async () => {
      const { proxy, store: remote } = await behindProxy(tested);
      const collection = freshCollection();
      await remote.upsert(collection, [record('doc:0')]);
      proxy.stall();
      expect(await failureOf(remote.search(collection, { sparse: sparse({ 1: 1 }), topK: 5 }))).toMatchObject({
        name: 'VectorStoreError',
        kind: 'unavailable',
      });
      proxy.restore();
      expect(idsOf(await eventually(() => remote.search(collection, { sparse: sparse({ 1: 1 }), topK: 5 })))).toEqual(['doc:0']);
    });
  });
}

describe('both stores', () => {
  const word = fc.integer({ min: 1, max: 60 });
  const weight = fc.double({ min: 0.05, max: 2.1, noNaN: true });
  const rarity = fc.double({ min: 0.05, max: 9, noNaN: true });
  const dimension = 8;
  const dense = fc
    .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: dimension, maxLength: dimension })
    .filter((vector) => vector.some((value) => Math.abs(value) > 0.01));
  const words = (values: fc.Arbitrary<number>, most: number) => fc.dictionary(word.map(String), values, { minKeys: 1, maxKeys: most });
  const passages = fc.array(fc.record({ words: words(weight, 20), dense }), { minLength: 80, maxLength: 200 });
  const questions = fc.array(fc.record({ words: words(rarity, 8), dense, topK: fc.integer({ min: 1, max: 60 }) }), {
    minLength: 6,
    maxLength: 6,
  });

  const scoreOf = (query: Readonly<Record<string, number>>, passage: Readonly<Record<string, number>>): number =>
    Object.entries(query).reduce((sum, [term, value]) => sum + value * (passage[term] ?? 0), 0);
  const cosine = (left: readonly number[], right: readonly number[]): number => {
    const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
    return dot(left, right) / Math.sqrt(dot(left, left) * dot(right, right));
  };

  it('rank alike, and as exact scores do', async () => {
    await fc.assert(
      fc.asyncProperty(passages, questions, async (given, asked) => {
        const collection = freshCollection(dimension);
        const records = given.map((passage, index) =>
          record(`doc${index % 9}:${index}`, { ...passage, metadata: { odd: index % 2 === 1 } }),
        );
        await Promise.all(both.map(({ store }) => untilAvailable(() => store().upsert(collection, records))));
        for (const { words: terms, dense: direction, topK } of asked) {
          const byWords = await answers((tested) => tested.search(collection, { sparse: sparse(terms), topK }));
          const exact = new Map(records.map(({ chunkId }, index) => [chunkId, scoreOf(terms, given[index]?.words ?? {})]));
          const matching = [...exact.values()].filter((score) => score > 0).toSorted((left, right) => right - left);
          expect(byWords).toHaveLength(Math.min(topK, matching.length));
          for (const [position, hit] of byWords.entries()) {
            // Weights are kept in 1,024ths, and a query's in steps.
            const error = 0.02 + 0.02 * (matching[position] ?? 0);
            expect(Math.abs(hit.score - (exact.get(hit.chunkId) ?? 0))).toBeLessThan(error);
            expect(Math.abs(hit.score - (matching[position] ?? 0))).toBeLessThan(error);
          }
          const query = { sparse: sparse({}), dense: Float32Array.from(direction), topK };
          const byDirection = await answers((tested) => tested.search(collection, { ...query, filter: { odd: true } }));
          const cosines = new Map(
            records.flatMap(({ chunkId }, index) =>
              index % 2 === 1 ? [[chunkId, cosine(direction, given[index]?.dense ?? [])] as const] : [],
            ),
          );
          const nearest = [...cosines.values()].toSorted((left, right) => right - left);
          expect(byDirection).toHaveLength(Math.min(topK, nearest.length));
          for (const [position, hit] of byDirection.entries()) {
            expect(Math.abs((cosines.get(hit.chunkId) ?? -2) - (nearest[position] ?? 2))).toBeLessThan(0.003);
          }
          await answers((tested) => tested.search(collection, { ...query, sparse: sparse(terms), exclude: ['doc3'] }));
        }
      }),
      { numRuns: 4 },
    );
  });

  /** Asks again, because a store on a busy machine may be slow for a while. */
  async function untilAvailable<T>(ask: () => Promise<T>): Promise<T> {
    const answer = await eventually(async () => {
      const [settled] = await Promise.allSettled([ask()]);
      if (settled.status === 'rejected' && settled.reason instanceof VectorStoreError && settled.reason.retryable) throw settled.reason;
      return settled;
    });
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  }

  /** Asks both stores the same and demands the same answer, to the last score. */
  async function answers(
    ask: (store: ReturnType<(typeof both)[number]['store']>) => Promise<readonly VectorHit[]>,
  ): Promise<readonly VectorHit[]> {
    const [first, ...others] = await Promise.all(both.map(({ store }) => untilAvailable(() => ask(store()))));
    for (const other of others) expect(other).toEqual(first);
    return first ?? [];
  }
});

describe('milvus that dies', () => {
  it('has what it said it has when it is back', async () => {
    const collection = freshCollection(2);
    const store = onMilvus.store();
    await store.upsert(
      collection,
      Array.from({ length: 50 }, (_, index) => record(`doc:${index}`, { dense: [1, index] })),
    );
    await onMilvus.process().kill();
    expect(await failureOf(store.search(collection, { sparse: sparse({ 1: 1 }), topK: 5 }))).toMatchObject({ kind: 'unavailable' });
    await onMilvus.process().start();
    await eventually(() => store.health());
    expect(await eventually(() => store.count(collection))).toBe(50);
    expect(await store.search(collection, { sparse: sparse({ 1: 1 }), dense: Float32Array.of(1, 1), topK: 50 })).toHaveLength(50);
  });
});
