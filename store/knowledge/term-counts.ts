/**
 * Adds a document's terms to its collection's frequencies, and subtracts them again. It works in slices, so that no transaction takes long.
 * The first slice is counted with the change that makes the document found or hidden, and for most documents it is all. Frequencies that
 * lag behind move a score a little, and nothing else.
 * The caller locks the collection: all share the rows of its frequencies.
 */
import type { Transaction } from '../database.ts';

const COUNTED_AT_ONCE = 50_000;
/** Terms that one transaction subtracts: fewer than are added, because a client waits for the answer to a deletion. */
const UNCOUNTED_AT_ONCE = 20_000;

interface CountedDocument {
  readonly org: string;
  readonly id: string;
  readonly collectionId: string;
}

/** Counts the next slice of each document. @returns whether there are more */
export async function countTerms(
  transaction: Transaction,
  { org, collectionId, ids }: Omit<CountedDocument, 'id'> & { readonly ids: readonly string[] },
): Promise<boolean> {
  await transaction.query(
    `INSERT INTO parley.term_frequencies AS f (org, collection_id, term, chunks)
     SELECT $1, $2, t.term, sum(t.chunks) FROM (
       SELECT unnest(terms[counted + 1:counted + $4::int]) AS term, unnest(chunks[counted + 1:counted + $4::int]) AS chunks
       FROM parley.document_terms WHERE org = $1 AND document_id = ANY ($3)) t
     GROUP BY t.term
     ON CONFLICT (org, collection_id, term) DO UPDATE SET chunks = f.chunks + excluded.chunks`,
    [org, collectionId, ids, COUNTED_AT_ONCE],
  );
  const { rows } = await transaction.query<{ more: boolean }>(
    `UPDATE parley.document_terms SET counted = least(cardinality(terms), counted + $3) WHERE org = $1 AND document_id = ANY ($2)
     RETURNING counted < cardinality(terms) AS more`,
    [org, ids, COUNTED_AT_ONCE],
  );
  return rows.some(({ more }) => more);
}

/** @returns whether there are more */
export async function uncountTerms(transaction: Transaction, document: CountedDocument): Promise<boolean> {
  const known = await countedOf(transaction, document);
  if (known === undefined || known.counted === 0) return false;
  const from = Math.max(0, known.counted - UNCOUNTED_AT_ONCE);
  const range = { from: from + 1, until: known.counted };
  await subtractSlice(transaction, document, range);
  await transaction.query(
    `DELETE FROM parley.term_frequencies WHERE ctid = ANY(ARRAY(
       SELECT found.ctid FROM (${SLICE}) t CROSS JOIN LATERAL (
         SELECT ctid, chunks FROM parley.term_frequencies WHERE org = $1 AND collection_id = $2 AND term = t.term OFFSET 0) found
       WHERE found.chunks <= 0))`,
    [document.org, document.collectionId, document.id, range.from, range.until],
  );
  await setCounted(transaction, document, from);
  return from > 0;
}

/**
 * Subtracts row by row, by the whole key: a join would be planned by statistics, which a collection that has just been filled doesn't have,
 * and would then compare each term with all others.
 */
async function subtractSlice(
  transaction: Transaction,
  { org, collectionId, id }: CountedDocument,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<void> {
  await transaction.query(
    `INSERT INTO parley.term_frequencies AS f (org, collection_id, term, chunks)
     SELECT $1, $2, t.term, -t.chunks FROM (${SLICE}) t
     ON CONFLICT (org, collection_id, term) DO UPDATE SET chunks = f.chunks + excluded.chunks`,
    [org, collectionId, id, from, until],
  );
}

const SLICE = `SELECT unnest(terms[$4::int:$5::int]) AS term, unnest(chunks[$4::int:$5::int]) AS chunks
  FROM parley.document_terms WHERE org = $1 AND document_id = $3`;

async function countedOf(
  transaction: Transaction,
  { org, id }: CountedDocument,
): Promise<{ readonly counted: number; readonly total: number } | undefined> {
  const { rows } = await transaction.query<{ counted: number; total: number }>(
    'SELECT counted, cardinality(terms) AS total FROM parley.document_terms WHERE org = $1 AND document_id = $2',
    [org, id],
  );
  return rows[0];
}

async function setCounted(transaction: Transaction, { org, id }: CountedDocument, counted: number): Promise<void> {
  await transaction.query('UPDATE parley.document_terms SET counted = $3 WHERE org = $1 AND document_id = $2', [org, id, counted]);
}
