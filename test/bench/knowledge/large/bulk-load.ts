/** Fills a collection's tables in Postgres in bulk, as they are after an ingestion that would take hours. */
import { Client } from 'pg';

import { denseUnits, passageUnits } from '../../../../knowledge/vector-stores/exact-weights.ts';
import type { Collection } from '../../../../store/index.ts';
import { metadataOf, vectorOf, wordsOf } from './synthetic.ts';

/** Chunks whose entries share rows, and those that share them in the first of these segments. */
const [SEGMENT, BLOCK] = [65_536, 1_024];
export const CHUNKS_IN_DOCUMENT = 1_000;
const ROWS_AT_ONCE = 2_000;

export interface BulkOptions {
  readonly databaseUrl: string;
  readonly collection: Collection;
  readonly chunks: number;
  readonly progress: (line: string) => void;
}

export interface Loaded {
  readonly documentIds: readonly string[];
  readonly loadMs: number;
  /** Time to build the graph over vectors; undefined where there are none. */
  readonly graphMs: number | undefined;
}

export async function bulkLoad(options: BulkOptions): Promise<Loaded> {
  const client = new Client({ connectionString: options.databaseUrl });
  await client.connect();
  try {
    return await loadWith(client, options);
  } finally {
    await client.end();
  }
}

async function loadWith(client: Client, { collection, chunks, progress }: BulkOptions): Promise<Loaded> {
  const { org, id, dimension } = collection;
  const scope = [org, id];
  const startedAt = performance.now();
  await client.query(`SET parley.org = '${org}'`);
  await client.query('INSERT INTO parley.vector_collections (org, collection_id, next_number) VALUES ($1, $2, $3)', [...scope, chunks]);
  const graph = dimension > 0 ? await emptyGraph(client, collection) : undefined;
  const documentIds = await addDocuments(client, collection, chunks);
  const frequencies = new Map<number, number>();
  for (let start = 0; start < chunks; start += SEGMENT) {
    const end = Math.min(chunks, start + SEGMENT);
    const postings = new Map<number, number[]>();
    for (let from = start; from < end; from += ROWS_AT_ONCE) {
      progress(`chunk ${from} of ${chunks}`);
      const numbers = Array.from({ length: Math.min(ROWS_AT_ONCE, end - from) }, (_, index) => from + index);
      const add = (term: number, number: number, units: number): void => {
        const entry = (((number % SEGMENT) << 16) | units) >>> 0;
        const list = postings.get(term);
        if (list === undefined) postings.set(term, [entry]);
        else list.push(entry);
      };
      for (const number of numbers) {
        const { indices, units } = passageUnits(wordsOf(number));
        for (const [position, term] of indices.entries()) {
          frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
          add(term, number, units[position] ?? 0);
        }
      }
      for (const { number, terms } of await addChunks(client, collection, numbers, documentIds))
        for (const term of terms) add(term, number, 1);
      if (graph !== undefined)
        await client.query(`INSERT INTO parley.${graph.table} SELECT $1, $2, * FROM unnest($3::int[], $4::text[]::${graph.type}[])`, [
          ...scope,
          numbers,
          numbers.map((number) => `[${denseUnits(vectorOf(number, chunks, dimension), dimension).join(',')}]`),
        ]);
    }
    await addPostings(client, collection, { start, postings });
  }
  const terms = [...frequencies];
  for (let from = 0; from < terms.length; from += 10_000) {
    const slice = terms.slice(from, from + 10_000);
    await client.query('INSERT INTO parley.term_frequencies SELECT $1, $2, * FROM unnest($3::int[], $4::int[])', [
      ...scope,
      slice.map(([term]) => term),
      slice.map(([, count]) => count),
    ]);
  }
  await client.query('UPDATE parley.collections SET chunk_count = $3 WHERE org = $1 AND id = $2', [...scope, chunks]);
  for (const table of ['vector_chunks', 'vector_postings', 'chunks', 'term_frequencies'])
    await client.query(`VACUUM ANALYZE parley.${table}`);
  const loadMs = performance.now() - startedAt;
  if (graph === undefined) return { documentIds, loadMs, graphMs: undefined };
  progress(`building the graph of ${chunks} vectors`);
  const builtAt = performance.now();
  // Beyond this memory a graph is built on disk, which takes many times as long.
  await client.query("SET maintenance_work_mem = '3GB'");
  await client.query(graph.index);
  await client.query(`VACUUM ANALYZE parley.${graph.table}`);
  return { documentIds, loadMs, graphMs: performance.now() - builtAt };
}

/** Creates the table of the collection's graph as the store does, without the index, which is built over the rows at the end. */
async function emptyGraph(
  client: Client,
  { org, id, dimension }: Collection,
): Promise<{ readonly table: string; readonly type: string; readonly index: string }> {
  const { rows } = await client.query<{ graph: string }>(
    'UPDATE parley.vector_collections SET graph = parley.make_vector_graph($2, $3) WHERE org = $1 AND collection_id = $2 RETURNING graph',
    [org, id, dimension],
  );
  const table = rows[0]?.graph ?? '';
  const { rows: made } = await client.query<{ index: string; type: string }>(
    `SELECT pg_get_indexdef($1::regclass) AS index,
       (SELECT atttypid::regtype::text FROM pg_attribute WHERE attrelid = $2::regclass AND attname = 'embedding') AS type`,
    [`parley.${table}_hnsw`, `parley.${table}`],
  );
  await client.query(`DROP INDEX parley.${table}_hnsw`);
  return { table, type: made[0]?.type ?? '', index: made[0]?.index ?? '' };
}

async function addDocuments(client: Client, { org, id }: Collection, chunks: number): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO parley.documents (org, id, collection_id, kind, filename, status, stage, chunk_count)
     SELECT $1, 'doc_' || gen_random_uuid(), $2, 'text', 'synthetic-' || at, 'completed', 'completed', ${CHUNKS_IN_DOCUMENT}
     FROM generate_series(1, $3) AS at RETURNING id`,
    [org, id, Math.ceil(chunks / CHUNKS_IN_DOCUMENT)],
  );
  return rows.map((row) => row.id);
}

/** Filters can ask this of a chunk; every chunk has the term. */
interface FilterTerms {
  readonly number: number;
  readonly terms: readonly number[];
}

async function addChunks(
  client: Client,
  { org, id }: Collection,
  numbers: readonly number[],
  documentIds: readonly string[],
): Promise<readonly FilterTerms[]> {
  const documents = numbers.map((number) => documentIds[Math.floor(number / CHUNKS_IN_DOCUMENT)] ?? '');
  const ordinals = numbers.map((number) => number % CHUNKS_IN_DOCUMENT);
  await client.query(
    `INSERT INTO parley.chunks (org, document_id, ordinal, text, indexed_text, tokens)
     SELECT $1, document, ordinal, 'chunk ' || ordinal, 'chunk ' || ordinal, 400 FROM unnest($2::text[], $3::int[]) AS given (document, ordinal)`,
    [org, documents, ordinals],
  );
  const { rows } = await client.query<FilterTerms>(
    `INSERT INTO parley.vector_chunks (org, collection_id, number, chunk_id, document_id, ordinal, metadata, tie_breaker, filterable)
     SELECT $1, $2, number, document || ':' || ordinal, document, ordinal, metadata::jsonb, hashtext(document)::bigint + 2147483648, true
     FROM unnest($3::int[], $4::text[], $5::int[], $6::text[]) AS given (number, document, ordinal, metadata)
     RETURNING number, parley.filter_terms(metadata) || 0 AS terms`,
    [org, id, numbers, documents, ordinals, numbers.map((number) => JSON.stringify(metadataOf(number)))],
  );
  return rows;
}

/** Splits a list into rows: a block each in the first segment, as many entries elsewhere. */
function partsOf(list: readonly number[], isFirst: boolean): readonly (readonly number[])[] {
  const parts: number[][] = [];
  for (const [index, entry] of list.entries()) {
    const part = isFirst ? entry >>> 26 : Math.floor(index / BLOCK);
    (parts[part] ??= []).push(entry);
  }
  return parts.filter((part) => part.length > 0);
}

async function addPostings(
  client: Client,
  { org, id }: Collection,
  { start, postings }: { readonly start: number; readonly postings: ReadonlyMap<number, readonly number[]> },
): Promise<void> {
  let rows: { readonly term: number; readonly block: number; readonly entries: Buffer }[] = [];
  const write = async (): Promise<void> => {
    await client.query('INSERT INTO parley.vector_postings SELECT $1, $2, * FROM unnest($3::int[], $4::int[], $5::bytea[])', [
      org,
      id,
      rows.map(({ term }) => term),
      rows.map(({ block }) => block),
      rows.map(({ entries }) => entries),
    ]);
    rows = [];
  };
  for (const [term, list] of postings) {
    for (const part of partsOf(list, start === 0)) {
      const entries = Buffer.allocUnsafe(part.length * 4);
      for (const [index, entry] of part.entries())
        entries.writeUInt32LE(start === 0 ? (entry & (((BLOCK - 1) << 16) | 0xffff)) >>> 0 : entry, index * 4);
      rows.push({ term, block: (start + ((part[0] ?? 0) >>> 16)) >>> 10, entries });
      if (rows.length === 5_000) await write();
    }
  }
  if (rows.length > 0) await write();
}
