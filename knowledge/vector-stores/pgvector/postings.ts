/** The inverted index: which chunks have a term, packed in blocks of 1,024 chunks. */
import type { Transaction } from '../../../store/database.ts';
import type { QueryUnits, SparseUnits } from '../exact-weights.ts';
import type { Scope } from './scope.ts';

const BLOCK_BITS = 10;
const BLOCK_SIZE = 1 << BLOCK_BITS;

export function blockOf(number: number): number {
  return number >>> BLOCK_BITS;
}

/** First number of a block. */
export function startOf(block: number): number {
  return block * BLOCK_SIZE;
}

/** Adds the chunks' terms. The caller holds the collection, so that no other writer appends to its last block. */
export async function addPostings(
  transaction: Transaction,
  { org, collectionId }: Scope,
  chunks: readonly { readonly number: number; readonly sparse: SparseUnits }[],
): Promise<void> {
  const entries = new Map<number, Map<number, number[]>>();
  for (const { number, sparse } of chunks) {
    const block = blockOf(number);
    let terms = entries.get(block);
    if (terms === undefined) entries.set(block, (terms = new Map()));
    for (const [position, term] of sparse.indices.entries()) {
      const entry = pack(number, sparse.units[position] ?? 0);
      const list = terms.get(term);
      if (list === undefined) terms.set(term, [entry]);
      else list.push(entry);
    }
  }
  const rows = [...entries].flatMap(([block, terms]) => [...terms].map(([term, list]) => ({ block, term, packed: toBuffer(list) })));
  if (rows.length === 0) return;
  await transaction.query(
    `INSERT INTO parley.vector_postings (org, collection_id, term, block, entries)
     SELECT $1, $2, given.term, given.block, given.entries FROM unnest($3::int[], $4::int[], $5::bytea[]) AS given (term, block, entries)
     ORDER BY given.term, given.block
     ON CONFLICT (org, collection_id, term, block) DO UPDATE SET entries = vector_postings.entries || excluded.entries`,
    [org, collectionId, rows.map(({ term }) => term), rows.map(({ block }) => block), rows.map(({ packed }) => packed)],
  );
}

/** What the chunks of a block score, in units; 0 for those that share no term with the query. */
export interface BlockScores {
  /** Number of the first. */
  readonly start: number;
  readonly scores: Float64Array;
}

/** Inner products of a query with every chunk that shares a term with it. Chunks that are gone may be among them. */
export async function scorePostings(
  transaction: Transaction,
  { org, collectionId }: Scope,
  query: QueryUnits,
): Promise<readonly BlockScores[]> {
  const weights = new Map(query.indices.map((term, position) => [term, query.units[position] ?? 0]));
  // One look-up by the whole key for each term: a plan that needs no statistics, which a table that has just been filled doesn't have.
  const { rows } = await transaction.query<{ term: number; block: number; entries: Buffer }>(
    `SELECT posting.term, posting.block, posting.entries FROM unnest($3::int[]) AS wanted (term) CROSS JOIN LATERAL (
       SELECT term, block, entries FROM parley.vector_postings WHERE org = $1 AND collection_id = $2 AND term = wanted.term OFFSET 0
     ) AS posting`,
    [org, collectionId, query.indices],
    { prepared: true },
  );
  const blocks = new Map<number, Float64Array>();
  for (const { term, block, entries } of rows) {
    let scores = blocks.get(block);
    if (scores === undefined) blocks.set(block, (scores = new Float64Array(BLOCK_SIZE)));
    addTo(scores, entries, weights.get(term) ?? 0);
  }
  return [...blocks].map(([block, scores]) => ({ start: startOf(block), scores }));
}

function addTo(scores: Float64Array, entries: Buffer, weight: number): void {
  const view = new DataView(entries.buffer, entries.byteOffset, entries.length);
  for (let offset = 0; offset < entries.length; offset += 4) {
    const local = view.getUint16(offset + 2, true);
    scores[local] = (scores[local] ?? 0) + weight * view.getUint16(offset, true);
  }
}

/** Drops what is left of chunks that are gone from a block that is complete. */
export async function compactBlock(
  transaction: Transaction,
  { org, collectionId }: Scope,
  block: number,
  live: ReadonlySet<number>,
): Promise<void> {
  const { rows } = await transaction.query<{ term: number; entries: Buffer }>(
    `SELECT term, entries FROM parley.vector_postings WHERE org = $1 AND collection_id = $2 AND block = $3 ORDER BY term FOR UPDATE`,
    [org, collectionId, block],
  );
  const emptied: number[] = [];
  const kept: { readonly term: number; readonly packed: Buffer }[] = [];
  for (const { term, entries } of rows) {
    const rest = unpack(entries).filter((entry) => live.has(startOf(block) + (entry >>> 16)));
    if (rest.length === 0) emptied.push(term);
    else if (rest.length * 4 < entries.length) kept.push({ term, packed: toBuffer(rest) });
  }
  await transaction.query(
    `UPDATE parley.vector_postings AS posting SET entries = given.entries FROM unnest($4::int[], $5::bytea[]) AS given (term, entries)
     WHERE posting.org = $1 AND posting.collection_id = $2 AND posting.block = $3 AND posting.term = given.term`,
    [org, collectionId, block, kept.map(({ term }) => term), kept.map(({ packed }) => packed)],
  );
  await transaction.query(
    'DELETE FROM parley.vector_postings WHERE org = $1 AND collection_id = $2 AND block = $3 AND term = ANY($4::int[])',
    [org, collectionId, block, emptied],
  );
}

function pack(number: number, units: number): number {
  return (((number & (BLOCK_SIZE - 1)) << 16) | units) >>> 0;
}

function toBuffer(entries: readonly number[]): Buffer {
  const packed = Buffer.allocUnsafe(entries.length * 4);
  for (const [position, entry] of entries.entries()) packed.writeUInt32LE(entry, position * 4);
  return packed;
}

function unpack(packed: Buffer): readonly number[] {
  return Array.from({ length: packed.length / 4 }, (_, position) => packed.readUInt32LE(position * 4));
}
