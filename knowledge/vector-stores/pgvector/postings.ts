/**
 * The inverted index: it has the chunks of each term. A row has up to 1,024 entries, of chunks whose numbers ascend from its block on and
 * share all but their lower 16 bits: rare terms have one row for 65,536 chunks, frequent ones one for each thousand.
 */
import type { Transaction } from '../../../store/database.ts';
import type { QueryUnits, SparseUnits } from '../exact-weights.ts';
import type { VectorQuery } from '../vector-store.ts';
import { sqlConditions, numbersOf, type Scope } from './scope.ts';

const BLOCK_BITS = 10;
/** Most entries of a row, so that those of its own block always fit. */
export const BLOCK_SIZE = 1 << BLOCK_BITS;
const SEGMENT_BITS = 16;
export const SEGMENT_SIZE = 1 << SEGMENT_BITS;
const BLOCKS_IN_SEGMENT = SEGMENT_SIZE / BLOCK_SIZE;
const ENTRY_BYTES = 4;
/** Term that every chunk has: it counts the chunks in the index. Terms of words are above, those of filters below. */
const EVERY_CHUNK = 0;

export function blockOf(number: number): number {
  return number >>> BLOCK_BITS;
}

export function segmentOf(number: number): number {
  return number >>> SEGMENT_BITS;
}

export function startOf(segment: number): number {
  return segment * SEGMENT_SIZE;
}

interface Row {
  readonly term: number;
  readonly block: number;
  readonly entries: Buffer;
}

/** A row as a search reads it: decoding text in place costs half as much as the driver's buffers, and makes less garbage. */
interface ReadRow extends Omit<Row, 'entries'> {
  readonly base64: string;
}

export interface IndexedChunk {
  readonly number: number;
  readonly sparse: SparseUnits;
  readonly filterTerms: readonly number[];
}

/** Adds the chunks' terms. The caller locks the collection, so that no other writer appends to its last rows. */
export async function addPostings(transaction: Transaction, { org, collectionId }: Scope, chunks: readonly IndexedChunk[]): Promise<void> {
  // This goes block by block: two blocks of one statement would append to the same row.
  for (const block of new Set(chunks.map(({ number }) => blockOf(number)))) {
    const terms = new Map<number, number[]>();
    const add = (term: number, number: number, units: number): void => {
      const entry = (((number & (SEGMENT_SIZE - 1)) << 16) | units) >>> 0;
      const list = terms.get(term);
      if (list === undefined) terms.set(term, [entry]);
      else list.push(entry);
    };
    for (const { number, sparse, filterTerms } of chunks) {
      if (blockOf(number) !== block) continue;
      for (const [position, term] of sparse.indices.entries()) add(term, number, sparse.units[position] ?? 0);
      for (const term of [EVERY_CHUNK, ...filterTerms]) add(term, number, 1);
    }
    await transaction.query(
      `INSERT INTO parley.vector_postings (org, collection_id, term, block, entries)
       SELECT $1, $2, given.term, coalesce(last.block, $3), given.entries
       FROM unnest($4::int[], $5::bytea[]) AS given (term, entries) ${lastRow(block - (block % BLOCKS_IN_SEGMENT))}
       ORDER BY given.term
       ON CONFLICT (org, collection_id, term, block) DO UPDATE SET entries = vector_postings.entries || excluded.entries`,
      [org, collectionId, block, [...terms.keys()], [...terms.values()].map(toBuffer)],
    );
  }
}

/**
 * Selects the last row of a segment that a term has, if there is room in it. The order is one that a single index has, whatever the
 * statistics of the table.
 */
function lastRow(firstBlock: number): string {
  return `LEFT JOIN LATERAL (
    SELECT block, octet_length(entries) AS bytes FROM parley.vector_postings
    WHERE org = $1 AND collection_id = $2 AND term >= given.term AND term <= given.term ORDER BY term DESC, block DESC LIMIT 1
  ) AS last ON last.block >= ${firstBlock} AND last.bytes + octet_length(given.entries) <= ${BLOCK_SIZE * ENTRY_BYTES}`;
}

/** The scores of some chunks, in units; 0 for those that share no term with the query. */
export interface ChunkScores {
  readonly scores: Uint32Array;
  /** Index behind the last chunk that has a score. */
  readonly end: number;
  readonly numberAt: (index: number) => number;
}

/** Inner products of a query, as far as its terms have been read, with every chunk that has one of these; also with some deleted ones. */
export interface Scores {
  /** @param numbers returns the scores of these chunks alone; of all by default */
  chunks(numbers?: Int32Array): readonly ChunkScores[];
  readonly scoreOf: (number: number) => number;
  read(query: QueryUnits): Promise<void>;
}

/** @param use gets scores without any term, until it resolves */
export async function withScores<T>(
  transaction: Transaction,
  { org, collectionId }: Scope,
  use: (scores: Scores) => Promise<T>,
): Promise<T> {
  return withSums((sums) =>
    use({
      chunks: (numbers) => sums.chunks(numbers),
      scoreOf: sums.scoreOf,
      async read(query) {
        const sql = postingsOf('unnest($3::int[]) AS wanted (term)');
        const { rows } = await transaction.query<ReadRow>(sql, [org, collectionId, query.indices], { prepared: true });
        sums.add(rows, weightsOf(query));
      },
    }),
  );
}

/** Adds a query's terms to the scores of some chunks. For terms that most chunks have, it reads a few rows in place of all. */
export async function addScores(
  transaction: Transaction,
  { org, collectionId }: Scope,
  query: QueryUnits,
  scores: Map<number, number>,
): Promise<void> {
  // A block's entries are in the row that begins with it, or in the one before.
  const { rows } = await transaction.query<ReadRow>(
    `SELECT term, block, ${BASE64} FROM (
       SELECT DISTINCT posting.term, posting.block
       FROM unnest($3::int[]) AS wanted (term) CROSS JOIN unnest($4::int[]) AS holding (block) CROSS JOIN LATERAL (
         SELECT term, block FROM parley.vector_postings
         WHERE org = $1 AND collection_id = $2 AND term = wanted.term AND block <= holding.block ORDER BY block DESC LIMIT 2
       ) AS posting
     ) AS found CROSS JOIN LATERAL (
       SELECT entries FROM parley.vector_postings WHERE org = $1 AND collection_id = $2 AND term = found.term AND block = found.block OFFSET 0
     ) AS posting`,
    [org, collectionId, query.indices, [...new Set([...scores.keys()].map(blockOf))]],
    { prepared: true },
  );
  await withSums((sums) => {
    sums.add(rows, weightsOf(query));
    for (const [number, score] of scores) scores.set(number, score + sums.scoreOf(number));
  });
}

function weightsOf(query: QueryUnits): (term: number) => number {
  const weights = new Map(query.indices.map((term, position) => [term, query.units[position] ?? 0]));
  return (term) => weights.get(term) ?? 0;
}

/** Numbers of the chunks that meet a query's filter, or are of its document, and of none that it excludes: hardly any others than these. */
export async function numbersThatMeet(transaction: Transaction, { org, collectionId }: Scope, query: VectorQuery): Promise<Int32Array> {
  if (query.document !== undefined) {
    const condition = sqlConditions(query, 3);
    const { rows } = await transaction.query<{ number: number }>(
      `SELECT chunk.number FROM parley.vector_chunks AS chunk WHERE chunk.org = $1 AND chunk.collection_id = $2${condition.sql}`,
      [org, collectionId, ...condition.values],
    );
    return Int32Array.from(rows, ({ number }) => number);
  }
  const excluded = new Set(query.exclude?.length ? await numbersOf(transaction, { org, collectionId }, query.exclude) : []);
  return (await numbersFiltered(transaction, { org, collectionId }, JSON.stringify(query.filter))).filter(
    (number) => !excluded.has(number),
  );
}

/** Numbers of the chunks whose metadata has each field of a filter with its value; few others may be among them. */
async function numbersFiltered(transaction: Transaction, { org, collectionId }: Scope, filter: string): Promise<Int32Array> {
  const { rows } = await transaction.query<ReadRow & { fields: number }>(
    postingsOf(
      '(SELECT parley.filter_terms($3::jsonb) AS terms) AS filter CROSS JOIN LATERAL unnest(filter.terms) AS wanted (term)',
      'cardinality(filter.terms) AS fields',
    ),
    [org, collectionId, filter],
    { prepared: true },
  );
  const fields = rows[0]?.fields ?? 0;
  return withSums((sums) => {
    sums.add(rows, () => 1);
    const numbers = new Int32Array(sums.added);
    let found = 0;
    for (const { scores, end, numberAt } of sums.chunks())
      for (let index = 0; index < end; index += 1) if (scores[index] === fields) numbers[found++] = numberAt(index);
    return numbers.subarray(0, found);
  });
}

const BASE64 = "encode(entries, 'base64') AS base64";

/**
 * Selects postings by one look-up by the whole key for each term: a plan that needs no statistics, which a table that has just been filled
 * doesn't have.
 */
function postingsOf(wanted: string, ...columns: readonly string[]): string {
  return `SELECT ${['posting.*', ...columns].join(', ')} FROM ${wanted} CROSS JOIN LATERAL (
    SELECT term, block, ${BASE64} FROM parley.vector_postings WHERE org = $1 AND collection_id = $2 AND term = wanted.term OFFSET 0
  ) AS posting`;
}

/**
 * Arrays of former searches: making new ones for each, 4 MB for a million chunks, takes the garbage collector longer than the rest of a
 * search.
 */
const spare: Uint32Array[] = [];
const MAX_SPARE = 64;

interface Segment {
  readonly scores: Uint32Array;
  end: number;
}

class Sums {
  readonly #segments = new Map<number, Segment>();
  /** Number of entries so far: no fewer than there are chunks with a score. */
  added = 0;

  /** Returns 0 for chunks without a score. */
  readonly scoreOf = (number: number): number => this.#segments.get(segmentOf(number))?.scores[number % SEGMENT_SIZE] ?? 0;

  chunks(numbers?: Int32Array): readonly ChunkScores[] {
    if (numbers !== undefined) return [{ scores: this.#scoresOf(numbers), end: numbers.length, numberAt: (index) => numbers[index] ?? 0 }];
    return Array.from(this.#segments, ([segment, { scores, end }]) => ({ scores, end, numberAt: (index) => startOf(segment) + index }));
  }

  add(rows: readonly ReadRow[], weightOf: (term: number) => number): void {
    for (const { term, block, base64: entries } of rows) {
      const number = Math.floor(block / BLOCKS_IN_SEGMENT);
      let segment = this.#segments.get(number);
      if (segment === undefined) {
        segment = { scores: spare.pop()?.fill(0) ?? new Uint32Array(SEGMENT_SIZE), end: 0 };
        this.#segments.set(number, segment);
      }
      this.added += addTo(segment, { entries, weight: weightOf(term) });
    }
  }

  /** Reads the scores segment by segment: a look-up of the segment for each number would take longer. */
  #scoresOf(numbers: Int32Array): Uint32Array {
    const found = new Uint32Array(numbers.length);
    let segment: number | undefined;
    let scores: Uint32Array | undefined;
    for (let index = 0; index < found.length; index += 1) {
      const number = numbers[index] ?? 0;
      if (segmentOf(number) !== segment) scores = this.#segments.get((segment = segmentOf(number)))?.scores;
      found[index] = scores?.[number % SEGMENT_SIZE] ?? 0;
    }
    return found;
  }

  /** Gives the arrays back; there are no scores from then on. */
  close(): void {
    for (const { scores } of this.#segments.values()) if (spare.length < MAX_SPARE) spare.push(scores);
    this.#segments.clear();
  }
}

async function withSums<T>(use: (sums: Sums) => T | Promise<T>): Promise<T> {
  const sums = new Sums();
  try {
    return await use(sums);
  } finally {
    sums.close();
  }
}

const decoded = Buffer.allocUnsafeSlow(BLOCK_SIZE * ENTRY_BYTES);
const view = new DataView(decoded.buffer);

/** @returns how many entries there were */
function addTo(segment: Segment, { entries, weight }: { readonly entries: string; readonly weight: number }): number {
  const { scores } = segment;
  const length = decoded.write(entries, 'base64');
  for (let offset = 0; offset < length; offset += ENTRY_BYTES) {
    const entry = view.getUint32(offset, true);
    const local = entry >>> 16;
    scores[local] = (scores[local] ?? 0) + weight * (entry & 0xffff);
    if (local >= segment.end) segment.end = local + 1;
  }
  return length / ENTRY_BYTES;
}

/** The number of a segment's chunks in the index, and its live chunks. */
export interface SegmentCount {
  readonly indexed: number;
  /** Chunks with numbers from here on may be under way. */
  readonly end: number;
  readonly live: ReadonlySet<number>;
}

/** Counts a segment. Until the transaction ends, the collection can't be deleted, nor its numbers start again. */
export async function countSegment(transaction: Transaction, { org, collectionId }: Scope, segment: number): Promise<SegmentCount> {
  const first = segment * BLOCKS_IN_SEGMENT;
  // This runs before the chunks are read: each chunk with a number below the end by now is among them, unless it is deleted.
  const { rows: counts } = await transaction.query<{ indexed: number; end: number }>(
    `SELECT next_number AS end, (SELECT coalesce(sum(octet_length(entries)) / ${ENTRY_BYTES}, 0)::int FROM parley.vector_postings
       WHERE org = $1 AND collection_id = $2 AND term = ${EVERY_CHUNK} AND block BETWEEN $3 AND $4) AS indexed
     FROM parley.vector_collections WHERE org = $1 AND collection_id = $2 FOR KEY SHARE`,
    [org, collectionId, first, first + BLOCKS_IN_SEGMENT - 1],
  );
  const { rows } = await transaction.query<{ number: number }>(
    'SELECT number FROM parley.vector_chunks WHERE org = $1 AND collection_id = $2 AND number >= $3 AND number < $4',
    [org, collectionId, startOf(segment), startOf(segment + 1)],
  );
  return { indexed: counts[0]?.indexed ?? 0, end: counts[0]?.end ?? 0, live: new Set(rows.map(({ number }) => number)) };
}

export function blocksOf(segment: number, { end }: SegmentCount): readonly number[] {
  const first = segment * BLOCKS_IN_SEGMENT;
  return Array.from({ length: Math.min(BLOCKS_IN_SEGMENT, blockOf(end - 1) - first + 1) }, (_, index) => first + index);
}

/** Removes the entries of deleted chunks from the rows that begin in a block. */
export async function compactBlock(
  transaction: Transaction,
  { org, collectionId }: Scope,
  block: number,
  { end, live }: SegmentCount,
): Promise<void> {
  const { rows } = await transaction.query<Row>(
    `SELECT term, block, entries FROM parley.vector_postings WHERE org = $1 AND collection_id = $2 AND block = $3 ORDER BY term FOR UPDATE`,
    [org, collectionId, block],
  );
  const start = startOf(Math.floor(block / BLOCKS_IN_SEGMENT));
  const emptied: number[] = [];
  const kept: Pick<Row, 'term' | 'entries'>[] = [];
  for (const { term, entries } of rows) {
    const rest: number[] = [];
    for (let offset = 0; offset < entries.length; offset += ENTRY_BYTES) {
      const entry = entries.readUInt32LE(offset);
      const number = start + (entry >>> 16);
      if (number >= end || live.has(number)) rest.push(entry);
    }
    if (rest.length === 0) emptied.push(term);
    else if (rest.length * ENTRY_BYTES < entries.length) kept.push({ term, entries: toBuffer(rest) });
  }
  await transaction.query(
    `UPDATE parley.vector_postings AS posting SET entries = given.entries FROM unnest($4::int[], $5::bytea[]) AS given (term, entries)
     WHERE posting.org = $1 AND posting.collection_id = $2 AND posting.block = $3 AND posting.term = given.term`,
    [org, collectionId, block, kept.map(({ term }) => term), kept.map(({ entries }) => entries)],
  );
  await transaction.query(
    'DELETE FROM parley.vector_postings WHERE org = $1 AND collection_id = $2 AND block = $3 AND term = ANY($4::int[])',
    [org, collectionId, block, emptied],
  );
}

function toBuffer(entries: readonly number[]): Buffer {
  const packed = Buffer.allocUnsafe(entries.length * ENTRY_BYTES);
  for (const [position, entry] of entries.entries()) packed.writeUInt32LE(entry, position * ENTRY_BYTES);
  return packed;
}
