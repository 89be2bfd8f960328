/** Measures how long a search of a large knowledge base takes, and how many of the exact hits it finds. */
import { collectionRef, createSearch } from '../../../../knowledge/search/create-search.ts';
import type { Search } from '../../../../knowledge/search/search.ts';
import { PgvectorStore } from '../../../../knowledge/vector-stores/pgvector/pgvector-store.ts';
import type { VectorStore } from '../../../../knowledge/vector-stores/vector-store.ts';
import type { Collection } from '../../../../store/index.ts';
import { query } from '../../../support/sql.ts';
import { percentile } from '../../harness/stats.ts';
import { duration, figure, megabytes, type Table } from '../../harness/table.ts';
import type { KnowledgeHost } from '../host.ts';
import type { KnowledgePart } from '../part.ts';
import { createTexts } from '../texts.ts';
import { bulkLoad, type Loaded } from './bulk-load.ts';
import { FIELDS, metadataOf, VOCABULARY, vectorOf, wordsOf, type SyntheticField } from './synthetic.ts';

const topK = 10;
const QUESTIONS = 200;
/** Questions for which all vectors are compared: that takes seconds where there are many. */
const EXACT_QUESTIONS = 40;
const WARM_UPS = 20;
/** Records that one request writes. */
const RECORDS_AT_ONCE = 500;

const filters: readonly (SyntheticField | undefined)[] = [undefined, 'tenth', 'hundredth', 'thousandth'];

interface Question {
  readonly text: string;
  readonly vector: Float32Array;
  readonly filter: Readonly<Record<SyntheticField, string>>;
}

interface Contender {
  readonly name: string;
  readonly vectors: VectorStore;
  readonly questions: number;
}

interface Measured {
  readonly ms: readonly number[];
  readonly nodeMs: number;
  readonly postgresMs: number | undefined;
  readonly hits: readonly (readonly string[])[];
}

export const large: KnowledgePart = async ({ host: startedHost, scale, flags: { dimensions: dimension, store: stores }, progress }) => {
  const host = await startedHost();
  const { chunks } = scale;
  const collection = await host.collection({ org: 'bench', ranking: 'hybrid', dimension });
  const loaded = await bulkLoad({ databaseUrl: host.databaseUrl, collection, chunks, progress });
  const contenders: Contender[] = [
    { name: 'pgvector', vectors: new PgvectorStore(host.store.database), questions: QUESTIONS },
    { name: EXACT, vectors: new PgvectorStore(host.store.database, { graphFrom: Infinity }), questions: EXACT_QUESTIONS },
  ];
  const written: Record<string, number> = {};
  if (stores.includes('milvus')) {
    const vectors = (await host.vectorStores())['milvus-lite'];
    if (vectors === undefined) throw new Error('Milvus is not there: it needs Python 3.10 or newer');
    written['milvus-lite'] = await write(vectors, collection, { chunks, documentIds: loaded.documentIds, progress });
    contenders.push({ name: 'milvus-lite', vectors, questions: EXACT_QUESTIONS });
  }
  const compared = await compare({ host, collection, contenders, chunks, progress });
  return {
    figures: { loaded: { loadMs: loaded.loadMs, graphMs: loaded.graphMs }, written, ...compared.figures },
    tables: [await sizes(host, { chunks, loaded, written }), compared.table],
  };
};

const EXACT = 'pgvector, exact';

interface Row {
  readonly ranking: 'words' | 'hybrid';
  readonly filter: SyntheticField | undefined;
  readonly contender: string;
  readonly measured: Measured;
}

export async function compare({
  host,
  collection,
  contenders,
  chunks,
  progress,
}: {
  readonly host: Pick<KnowledgeHost, 'store' | 'serverCpuMs'>;
  readonly collection: Collection;
  readonly contenders: readonly Contender[];
  readonly chunks: number;
  readonly progress: (line: string) => void;
}): Promise<{ readonly figures: { readonly rows: readonly unknown[] }; readonly table: Table }> {
  const questions = questionsOf(chunks, collection.dimension);
  const rows: Row[] = [];
  for (const ranking of collection.dimension === 0 ? (['words'] as const) : (['words', 'hybrid'] as const)) {
    for (const filter of filters) {
      for (const contender of contenders) {
        if (ranking === 'words' && contender.name === EXACT) continue;
        progress(`${ranking}, ${filter ?? 'no filter'}: ${contender.name}`);
        rows.push({
          ranking,
          filter,
          contender: contender.name,
          measured: await measure({ host, collection, contender, questions, ranking, filter }),
        });
      }
    }
  }
  // Rankings by words are exact in Postgres.
  const exactOf = (row: Row): Measured | undefined =>
    rows.find(
      ({ ranking, filter, contender }) =>
        ranking === row.ranking && filter === row.filter && contender === (ranking === 'words' ? 'pgvector' : EXACT),
    )?.measured;
  const table: Table = {
    title: `Search in ${figure(chunks)} chunks, vectors of ${collection.dimension} dimensions, one at a time`,
    columns: ['', 'filter leaves', 'p50', 'p95', 'CPU: Node', 'Postgres', `recall@${topK}`],
    rows: rows.map((row) => [
      `${row.ranking}, ${row.contender}`,
      row.filter === undefined ? 'all' : `1 of ${FIELDS[row.filter]}`,
      duration(percentile(row.measured.ms, 50)),
      duration(percentile(row.measured.ms, 95)),
      duration(row.measured.nodeMs),
      duration(row.measured.postgresMs),
      figure(recall(row.measured, exactOf(row))),
    ]),
    notes: [
      `${QUESTIONS} questions of 3 to 9 words from a vocabulary of ${figure(VOCABULARY)}, chunks of 220; the ${topK} best hits, as the api role finds them, without HTTP and without the embedding server.`,
      'Vectors lie in clusters (subjects of 50 chunks, 20 of them to a theme), and questions in the same. Exact: all vectors that the filter leaves are compared one by one. Rankings by words are always exact.',
    ],
  };
  return { figures: { rows: rows.map(compact) }, table };
}

function compact({ measured, ...row }: Row): unknown {
  const { hits: _, ...figures } = measured;
  return { ...row, ...figures };
}

function questionsOf(chunks: number, dimension: number): readonly Question[] {
  const texts = createTexts(7, VOCABULARY);
  return Array.from({ length: QUESTIONS + WARM_UPS }, (_, asked) => {
    const about = Math.floor(texts.random() * chunks);
    return { text: texts.question(), vector: vectorOf(about, chunks, dimension, asked + 1), filter: metadataOf(about) };
  });
}

async function measure({
  host,
  collection,
  contender: { vectors, questions: count },
  questions,
  ranking,
  filter,
}: {
  readonly host: Pick<KnowledgeHost, 'store' | 'serverCpuMs'>;
  readonly collection: Collection;
  readonly contender: Contender;
  readonly questions: readonly Question[];
  readonly ranking: 'words' | 'hybrid';
  readonly filter: SyntheticField | undefined;
}): Promise<Measured> {
  const hybrid = searchOf(host, vectors, ranking === 'hybrid' ? questions : undefined, collection);
  const ask = async ({ text, filter: values }: Question): Promise<readonly string[]> => {
    const hits = await hybrid.search({
      org: collection.org,
      knowledgeBase: collection.name,
      query: text,
      topK,
      ...(filter && { filter: { [filter]: values[filter] } }),
    });
    if (hits === undefined) throw new Error('the knowledge base is gone');
    return hits.map(({ chunkId }) => chunkId);
  };
  for (const question of questions.slice(QUESTIONS)) await ask(question);
  const ms: number[] = [];
  const hits: (readonly string[])[] = [];
  const cpu = process.cpuUsage();
  const postgres = host.serverCpuMs('postgres');
  for (const question of questions.slice(0, count)) {
    const startedAt = performance.now();
    hits.push(await ask(question));
    ms.push(performance.now() - startedAt);
  }
  const { user, system } = process.cpuUsage(cpu);
  const postgresNow = host.serverCpuMs('postgres');
  return {
    ms,
    hits,
    nodeMs: (user + system) / 1_000 / count,
    postgresMs: postgres === undefined || postgresNow === undefined ? undefined : (postgresNow - postgres) / count,
  };
}

/** @param asked questions with vectors, which no model has to make; undefined for a search by words */
function searchOf(
  host: Pick<KnowledgeHost, 'store'>,
  vectors: VectorStore,
  asked: readonly Question[] | undefined,
  { dimension, model }: Collection,
): Search {
  const vectorsOf = new Map(asked?.map(({ text, vector }) => [text, vector]));
  const embedder = {
    model,
    dimension,
    embed: (texts: readonly string[]) => Promise.resolve(texts.map((text) => vectorsOf.get(text) ?? new Float32Array(dimension).fill(1))),
    close: () => Promise.resolve(),
  };
  return createSearch({ knowledge: host.store.knowledge, vectors, embedderOf: () => (asked === undefined ? undefined : embedder) });
}

function recall({ hits }: Measured, exact: Measured | undefined): number | undefined {
  if (exact === undefined) return undefined;
  let found = 0;
  let all = 0;
  for (const [index, wanted] of exact.hits.entries()) {
    all += wanted.length;
    found += wanted.filter((id) => hits[index]?.includes(id)).length;
  }
  return found / all;
}

/** Writes through the front door, as an ingestion does. @returns milliseconds */
async function write(
  vectors: VectorStore,
  collection: Collection,
  {
    chunks,
    documentIds,
    progress,
  }: { readonly chunks: number; readonly documentIds: readonly string[]; readonly progress: (line: string) => void },
): Promise<number> {
  const startedAt = performance.now();
  for (let from = 0; from < chunks; from += RECORDS_AT_ONCE) {
    progress(`writing chunk ${from} of ${chunks} into ${vectors.name}`);
    const inDocument = Math.ceil(chunks / documentIds.length);
    const records = Array.from({ length: Math.min(RECORDS_AT_ONCE, chunks - from) }, (_, index) => {
      const number = from + index;
      const documentId = documentIds[Math.floor(number / inDocument)] ?? '';
      const ordinal = number % inDocument;
      return {
        chunkId: `${documentId}:${ordinal}`,
        documentId,
        ordinal,
        tieBreaker: number,
        sparse: wordsOf(number),
        dense: vectorOf(number, chunks, collection.dimension),
        metadata: metadataOf(number),
      };
    });
    await vectors.upsert(collectionRef(collection), records);
  }
  return performance.now() - startedAt;
}

async function sizes(
  host: KnowledgeHost,
  { chunks, loaded, written }: { readonly chunks: number; readonly loaded: Loaded; readonly written: Readonly<Record<string, number>> },
): Promise<Table> {
  const found = await query<{ part: string; size: string }>(
    host.databaseUrl,
    `SELECT CASE WHEN relname LIKE 'vector\\_graph%' THEN 'vectors and their graph' ELSE relname END AS part,
       sum(pg_total_relation_size(oid))::text AS size FROM pg_class
     WHERE relnamespace = 'parley'::regnamespace AND relkind = 'r' AND (relname LIKE 'vector\\_graph%' OR relname IN ('vector_chunks', 'vector_postings'))
     GROUP BY 1 ORDER BY 1`,
  );
  const ofPart = found.map(({ part, size }) => [part, megabytes(Number(size)), `${figure(Number(size) / chunks)} B`]);
  return {
    title: `What ${figure(chunks)} chunks take in Postgres`,
    columns: ['', 'size', 'a chunk'],
    rows: ofPart,
    notes: [
      `Rows in bulk: ${duration(loaded.loadMs)}; the graph of vectors over them: ${loaded.graphMs === undefined ? '–' : duration(loaded.graphMs)}.`,
      ...Object.entries(written).map(([store, ms]) => `Written into ${store}, 500 chunks at a time: ${duration(ms)}.`),
    ],
  };
}
