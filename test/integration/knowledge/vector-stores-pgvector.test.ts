/** Tests what only the store in Postgres has: row-level security, a graph for large collections, and an inverted index that is tidied. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { passageUnits, queryUnits } from '../../../knowledge/vector-stores/exact-weights.ts';
import { PgvectorStore } from '../../../knowledge/vector-stores/pgvector/pgvector-store.ts';
import { Database } from '../../../store/database.ts';
import { mulberry } from '../../../platform/mulberry.ts';
import { failureOf, session } from '../store/support.ts';
import { eventually } from '../../support/eventually.ts';
import { migratedDatabase } from '../../support/postgres.ts';
import { freshCollection, idsOf, record, sparse } from './vector-stores-support.ts';

let url: string;
let connections: Database;
let store: PgvectorStore;

beforeAll(async () => {
  ({ url } = await migratedDatabase());
  connections = new Database({ databaseUrl: url, poolSize: 6 });
  store = new PgvectorStore(connections, { graphFrom: 300 });
});
afterAll(() => connections.close());

const circle = (index: number, of: number): number[] => [Math.cos((index / of) * Math.PI), Math.sin((index / of) * Math.PI), 0.2];

describe('row-level security', () => {
  it('shows no row to another organisation, in any table, those made on demand included', async () => {
    const collection = freshCollection(3);
    await store.upsert(collection, [record('doc:0', { dense: [1, 2, 3] })]);
    const tables = ['vector_collections', 'vector_chunks', 'vector_postings', 'vector_dense_3'];
    const rowsOf = (org: string, table: string): Promise<number> =>
      connections.asOrganization(org, async (transaction) => (await transaction.query(`SELECT FROM parley.${table}`)).rowCount);
    for (const table of tables) {
      expect([table, await rowsOf('acme', table), await rowsOf('globex', table)]).toEqual([table, expect.any(Number), 0]);
      expect(await rowsOf('acme', table)).toBeGreaterThan(0);
      expect(await connections.query(`SELECT FROM parley.${table}`)).toEqual([]);
    }
    const admin = await session(url);
    const { rows } = await admin.query(
      `SELECT relname FROM pg_class WHERE relnamespace = 'parley'::regnamespace AND relkind = 'r' AND relname LIKE 'vector\\_%'
         AND NOT (relrowsecurity AND relforcerowsecurity)`,
    );
    expect(rows).toEqual([]);
    // The functions do one thing each, for every caller and input.
    expect(await failureOf(connections.query('SELECT parley.prepare_dense_vectors(0)'))).toMatchObject({ kind: 'invalid' });
    expect(await failureOf(connections.query('SELECT parley.prepare_dense_vectors(16001)'))).toMatchObject({ kind: 'invalid' });
  });

  it('makes the table of a dimension once when many ask for it together', async () => {
    const stores = Array.from({ length: 6 }, () => new PgvectorStore(connections));
    const collection = freshCollection(5);
    await Promise.all(stores.map((other, index) => other.upsert(collection, [record(`doc${index}:0`, { dense: [1, 2, 3, 4, index] })])));
    expect(await store.count(collection)).toBe(6);
  });
});

describe('a large collection', () => {
  it('moves into the graph bit by bit, and is searched whole at every moment', async () => {
    const [collection, neighbour] = [freshCollection(3), freshCollection(3, 'globex')];
    const size = 900;
    const all = Array.from({ length: size }, (_, index) =>
      record(`doc${index % 3}:${index}`, { dense: circle(index, size), metadata: { third: index % 3, rare: index === 700 } }),
    );
    // The chunks are another organisation's, all of them nearer to the query.
    await store.upsert(
      neighbour,
      Array.from({ length: 400 }, (_, index) => record(`n:${index}`, { dense: circle(450, size) })),
    );
    const query = { sparse: sparse({}), dense: Float32Array.from(circle(450, size)), topK: 20 };
    const nearest = (index: number): boolean => Math.abs(index - 450) <= 12;
    const tables = async (): Promise<readonly (string | null)[]> => {
      const { rows } = await connections.asOrganization('acme', (transaction) =>
        transaction.query<{ graph: string | null }>('SELECT graph FROM parley.vector_collections WHERE collection_id = $1', [
          collection.collectionId,
        ]),
      );
      return rows.map(({ graph }) => graph);
    };
    const flat = (): Promise<number> =>
      connections.asOrganization('acme', async (transaction) => {
        const { rowCount } = await transaction.query('SELECT FROM parley.vector_dense_3 WHERE collection_id = $1', [
          collection.collectionId,
        ]);
        return rowCount;
      });
    for (let from = 0; from < size; from += 100) {
      await store.upsert(collection, all.slice(from, from + 100));
      const hits = await store.search(collection, query);
      expect(hits).toHaveLength(20);
      if (from >= 500) expect(hits.every(({ ordinal }) => nearest(ordinal))).toBe(true);
    }
    const [graph] = await tables();
    expect([typeof graph, await flat()]).toEqual(['string', 0]);
    // The searches have a filter that a scan of the graph would hardly ever meet, one that it often does, and deep results.
    expect(idsOf(await store.search(collection, { ...query, filter: { rare: true } }))).toEqual(['doc1:700']);
    expect((await store.search(collection, { ...query, filter: { third: 1 } })).every(({ documentId }) => documentId === 'doc1')).toBe(
      true,
    );
    expect(await store.search(collection, { ...query, topK: 880 })).toHaveLength(880);
    expect((await store.search(collection, { ...query, exclude: ['doc0', 'doc1'] })).every(({ documentId }) => documentId === 'doc2')).toBe(
      true,
    );
    await store.deleteDocument(collection, 'doc0');
    const left = await store.search(collection, { ...query, topK: 1_000 });
    expect([left.length, left.some(({ documentId }) => documentId === 'doc0')]).toEqual([600, false]);
    await store.deleteCollection(collection);
    expect(await store.search(collection, query)).toEqual([]);
    expect((await (await session(url)).query('SELECT to_regclass($1) AS graph', [`parley.${graph}`])).rows).toEqual([{ graph: null }]);
  });

  it('finds all that is asked for among many equal vectors, which a graph does not connect', async () => {
    const collection = freshCollection(3);
    const equal = (from: number): ReturnType<typeof record>[] =>
      Array.from({ length: 250 }, (_, index) => record(`equal:${from + index}`, { dense: [1, 0, 0] }));
    for (let from = 0; from < 1_000; from += 250) await store.upsert(collection, equal(from));
    const others = Array.from({ length: 60 }, (_, index) => record(`other:${index}`, { dense: circle(400 + index, 900) }));
    await store.upsert(collection, others);
    await store.upsert(collection, [record('last:0', { dense: [0, 0, 1] })]);
    const query = { sparse: sparse({}), topK: 1_000 };
    expect(await store.search(collection, { ...query, dense: Float32Array.of(1, 0, 0) })).toHaveLength(1_000);
    const near = await store.search(collection, { ...query, dense: Float32Array.from(circle(430, 900)), topK: 30 });
    expect(near).toHaveLength(30);
  });
});

describe('approximate rankings', () => {
  it('find what exact ones do, whatever a filter leaves', async () => {
    const exact = new PgvectorStore(connections, { graphFrom: Infinity });
    const exactInHalves = new PgvectorStore(connections, { graphFrom: Infinity, halvesFrom: 20 });
    const random = mulberry(5);
    const normal = (): number => random() + random() + random() - 1.5;
    const themes = Array.from({ length: 40 }, () => Array.from({ length: 32 }, normal));
    const near = (theme: number): number[] => (themes[theme] ?? []).map((value) => value + 0.5 * normal());
    const collection = freshCollection(32);
    for (let from = 0; from < 3_000; from += 500)
      await store.upsert(
        collection,
        Array.from({ length: 500 }, (_, index) => {
          const at = from + index;
          return record(`doc${at % 7}:${at}`, {
            dense: near(at % 40),
            metadata: { half: at % 2, tenth: at % 10, hundredth: Math.floor(at / 30) },
          });
        }),
      );
    const filters = [
      undefined,
      { half: 1 },
      { tenth: 3 },
      { half: 1, tenth: 3 },
      { hundredth: 42 },
      { half: 1, hundredth: 7 },
      { half: 2 },
    ];
    for (const filter of filters) {
      let [found, wanted] = [0, 0];
      for (let theme = 0; theme < 40; theme += 1) {
        const query = { sparse: sparse({}), dense: Float32Array.from(near(theme)), topK: 10, ...(filter && { filter }) };
        const best = idsOf(await exact.search(collection, query));
        expect(idsOf(await exactInHalves.search(collection, query))).toEqual(best);
        const hits = idsOf(await store.search(collection, query));
        expect(hits).toHaveLength(best.length);
        wanted += best.length;
        found += best.filter((id) => hits.includes(id)).length;
      }
      expect([filter, found >= 0.95 * wanted]).toEqual([filter, true]);
    }
    expect(await store.search(collection, { sparse: sparse({ 1: 1 }), topK: 10, filter: { tenth: 3, hundredth: 0 } })).toHaveLength(3);
  });
});

describe('the inverted index', () => {
  const postings = async (collectionId: string): Promise<{ readonly rows: number; readonly entries: number }> => {
    const { rows } = await (
      await session(url)
    ).query<{ rows: number; entries: number }>(
      `SELECT count(*)::int AS rows, coalesce(sum(octet_length(entries) / 4), 0)::int AS entries FROM parley.vector_postings WHERE collection_id = $1`,
      [collectionId],
    );
    return rows[0] ?? { rows: -1, entries: -1 };
  };

  it('gives back the room of what was replaced and deleted', async () => {
    const collection = freshCollection();
    const write = (document: string, amount: number): Promise<void> =>
      store.upsert(
        collection,
        Array.from({ length: amount }, (_, index) => record(`${document}:${index}`, { words: { 1: 1, 2: 1, [1_000 + index]: 1 } })),
      );
    for (const document of ['a', 'b', 'c']) await write(document, 900);
    expect(await postings(collection.collectionId)).toMatchObject({ entries: 2_700 * 4 });
    for (let round = 0; round < 3; round += 1) await write('a', 900);
    // The index never has more entries than about twice what is there, and a block.
    expect((await postings(collection.collectionId)).entries).toBeLessThan((2 * 2_700 + 1_024) * 4);
    expect(idsOf(await store.search(collection, { sparse: sparse({ 1_005: 1 }), topK: 10 }))).toEqual(['a:5', 'b:5', 'c:5']);
    for (const document of ['a', 'b']) await store.deleteDocument(collection, document);
    expect((await postings(collection.collectionId)).entries).toBeLessThan((2 * 900 + 1_024) * 4);
    expect(await store.search(collection, { sparse: sparse({ 1: 1 }), topK: 1_000 })).toHaveLength(900);
    await store.deleteCollection(collection);
    expect(await postings(collection.collectionId)).toEqual({ rows: 0, entries: 0 });
  });

  it('has one row in 65,536 chunks for a rare term, and one for each 1,024 of a frequent one', async () => {
    const collection = freshCollection();
    await store.upsert(collection, [record('first:0', { words: { 1: 1, 2: 1 } })]);
    const admin = await session(url);
    await admin.query('UPDATE parley.vector_collections SET next_number = 63000 WHERE collection_id = $1', [collection.collectionId]);
    await store.upsert(
      collection,
      Array.from({ length: 5_000 }, (_, index) =>
        record(`doc${index % 10}:${index}`, {
          words: { 1: 1, ...(index % 500 === 0 && { 2: 1 + index / 10_000 }) },
          metadata: { tenth: index % 10 },
        }),
      ),
    );
    const rowsOf = async (term: number): Promise<number> =>
      (
        await admin.query<{ rows: number }>(
          'SELECT count(*)::int AS rows FROM parley.vector_postings WHERE collection_id = $1 AND term = $2',
          [collection.collectionId, term],
        )
      ).rows[0]?.rows ?? -1;
    // Term 1 has number 0 with 63,000 to 63,487, two blocks up to 65,535, and 2,464 more in three.
    expect([await rowsOf(1), await rowsOf(2)]).toEqual([6, 2]);
    const rare = [...Array.from({ length: 10 }, (_, index) => 4_500 - index * 500).map((index) => `doc0:${index}`), 'first:0'];
    expect(idsOf(await store.search(collection, { sparse: sparse({ 2: 1 }), topK: 20 }))).toEqual(
      rare.toSpliced(9, 2, 'doc0:0', 'first:0'),
    );
    expect(await store.search(collection, { sparse: sparse({ 1: 1 }), filter: { tenth: 3 }, topK: 1_000 })).toHaveLength(500);
    for (const document of [0, 1, 2, 3, 4, 5]) await store.deleteDocument(collection, `doc${document}`);
    expect(idsOf(await store.search(collection, { sparse: sparse({ 2: 1 }), topK: 20 }))).toEqual(['first:0']);
    expect(await store.search(collection, { sparse: sparse({ 1: 1 }), topK: 1_000 })).toHaveLength(1_000);
  });

  it('reads of frequent terms only what can change the best hits, and finds what reading all does', async () => {
    const collection = freshCollection();
    await store.upsert(collection, [record('first:0', { words: { 1: 1 } })]);
    await (
      await session(url)
    ).query('UPDATE parley.vector_collections SET next_number = 63000 WHERE collection_id = $1', [collection.collectionId]);
    const random = mulberry(11);
    const weight = (): number => 0.2 + 2 * random();
    const chunks = Array.from({ length: 5_000 }, (_, index) => ({
      id: `doc${index % 50}:${index}`,
      metadata: { half: index % 2 },
      words: {
        1: weight(),
        ...(random() < 0.5 && { 2: weight() }),
        ...(random() < 0.05 && { 3: weight() }),
        ...(random() < 0.03 && { 4: weight() }),
      },
    }));
    await store.upsert(
      collection,
      chunks.map(({ id, words, metadata }) => record(id, { words, metadata })),
    );
    let partly = 0;
    const watched = new PgvectorStore({
      query: (...args) => connections.query(...args),
      asOrganization: (org, work, options) =>
        connections.asOrganization(
          org,
          (transaction) =>
            work({
              ...transaction,
              query: (sql, ...rest) => {
                if (sql.includes('AS holding')) partly += 1;
                return transaction.query(sql, ...rest);
              },
            }),
          options,
        ),
    });
    const asked = queryUnits(sparse({ 1: 0.1, 2: 0.4, 3: 5, 4: 6 }));
    const best = (wanted: (chunk: (typeof chunks)[number]) => boolean): readonly string[] =>
      chunks
        .filter(wanted)
        .map(({ id, words }) => {
          const passage = passageUnits(sparse(words));
          const units = passage.indices.map((term, at) => (asked.units[asked.indices.indexOf(term)] ?? 0) * (passage.units[at] ?? 0));
          return { id, score: units.reduce((sum, product) => sum + product, 0) };
        })
        .toSorted((left, right) => right.score - left.score || (left.id < right.id ? -1 : 1))
        .slice(0, 10)
        .map(({ id }) => id);
    const query = { sparse: sparse({ 1: 0.1, 2: 0.4, 3: 5, 4: 6 }), topK: 10 };
    expect(idsOf(await watched.search(collection, query))).toEqual(best(() => true));
    expect(idsOf(await watched.search(collection, { ...query, filter: { half: 1 } }))).toEqual(best(({ metadata }) => metadata.half === 1));
    const [first] = best(() => true);
    const document = first!.split(':')[0]!;
    expect(idsOf(await watched.search(collection, { ...query, exclude: [document] }))).toEqual(
      best(({ id }) => !id.startsWith(`${document}:`)),
    );
    expect(partly).toBe(3);
    // Where the rare terms decide nothing, all is read.
    expect(await watched.search(collection, { ...query, topK: 1_000 })).toHaveLength(1_000);
    expect(partly).toBe(3);
  });

  it('scores as a plain sum does after any writes and deletions', async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('write' as const),
        document: fc.integer({ min: 0, max: 5 }),
        words: fc.array(fc.dictionary(fc.integer({ min: 1, max: 12 }).map(String), fc.integer({ min: 1, max: 2_000 }), { maxKeys: 6 }), {
          minLength: 1,
          maxLength: 300,
        }),
      }),
      fc.record({ do: fc.constant('delete' as const), document: fc.integer({ min: 0, max: 5 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 9 }), async (steps) => {
        const collection = freshCollection();
        const model = new Map<string, Readonly<Record<string, number>>>();
        for (const action of steps) {
          if (action.do === 'delete') {
            await store.deleteDocument(collection, `d${action.document}`);
            for (const id of model.keys()) if (id.startsWith(`d${action.document}:`)) model.delete(id);
            continue;
          }
          const written = action.words.map((words, index) => ({ id: `d${action.document}:${index}`, words }));
          for (const { id, words } of written) model.set(id, words);
          await store.upsert(
            collection,
            written.map(({ id, words }) =>
              record(id, { words: Object.fromEntries(Object.entries(words).map(([term, units]) => [term, units / 1_024])) }),
            ),
          );
        }
        const expected = [...model]
          .map(([chunkId, words]) => ({ chunkId, score: ((words['3'] ?? 0) * 2 + (words['7'] ?? 0)) / 1_024 }))
          .filter(({ score }) => score > 0)
          .toSorted((left, right) => right.score - left.score || (left.chunkId < right.chunkId ? -1 : 1));
        const hits = await store.search(collection, { sparse: sparse({ 3: 2, 7: 1 }), topK: 1_000 });
        expect(hits.map(({ chunkId, score }) => ({ chunkId, score }))).toEqual(expected.slice(0, 1_000));
        expect(await store.count(collection)).toBe(model.size);
      }),
      { numRuns: 12 },
    );
  });

  it('does not hold up others while a big document goes', async () => {
    const [big, small] = [freshCollection(), freshCollection()];
    await store.upsert(
      big,
      Array.from({ length: 6_000 }, (_, index) => record(`big:${index}`, { words: { 1: 1, [10 + (index % 50)]: 1 } })),
    );
    await store.upsert(big, [record('small:0')]);
    await store.upsert(small, [record('doc:0')]);
    // A session holds the deletion up in its second part, behind 5,000 chunks, whichever Postgres takes first.
    const holder = await session(url);
    await holder.query(`
      CREATE SEQUENCE parley.test_deleted;
      CREATE FUNCTION parley.wait_for_test() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
        IF nextval('parley.test_deleted') > 5000 THEN PERFORM pg_advisory_xact_lock(4711); END IF;
        RETURN OLD; END $$;
      CREATE TRIGGER wait_for_test BEFORE DELETE ON parley.vector_chunks FOR EACH ROW WHEN (OLD.chunk_id LIKE 'big:%')
        EXECUTE FUNCTION parley.wait_for_test()`);
    await holder.query('BEGIN; SELECT pg_advisory_xact_lock(4711)');
    const deletion = store.deleteDocument(big, 'big');
    await eventually(async () => expect(await store.count(big, 'big')).toBeLessThanOrEqual(1_000));
    expect(idsOf(await store.search(small, { sparse: sparse({ 1: 1 }), topK: 1 }))).toEqual(['doc:0']);
    await store.upsert(big, [record('new:0', { words: { 2: 1 } })]);
    expect(await store.count(big, 'big')).toBeGreaterThan(0);
    await holder.query('COMMIT');
    await deletion;
    await holder.query('DROP FUNCTION parley.wait_for_test() CASCADE; DROP SEQUENCE parley.test_deleted');
    expect(await store.count(big, 'big')).toBe(0);
    expect(idsOf(await store.search(big, { sparse: sparse({ 1: 1 }), topK: 10 }))).toEqual(['small:0']);
  });
});
