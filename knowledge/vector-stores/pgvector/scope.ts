import type { Transaction } from '../../../store/database.ts';
import type { CollectionRef, VectorQuery } from '../vector-store.ts';

/** A collection within its organisation. */
export type Scope = Pick<CollectionRef, 'org' | 'collectionId'>;

/** A condition on parley.vector_chunks, with its parameters. */
export interface SqlCondition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Writes a query's conditions on chunks. Its parameters are numbered from `from` on. */
export function sqlConditions({ filter, exclude, document }: VectorQuery, from: number): SqlCondition {
  const parts: string[] = [];
  const values: unknown[] = [];
  const add = (sql: (place: string) => string, value: unknown): void => {
    parts.push(` AND ${sql(`$${from + values.length}`)}`);
    values.push(value);
  };
  // Containment compares by type and value: 1 is 1.0, and neither is "1" or true.
  if (filter !== undefined && Object.keys(filter).length > 0) add((place) => `chunk.metadata @> ${place}::jsonb`, JSON.stringify(filter));
  if (exclude !== undefined && exclude.length > 0) add((place) => `chunk.document_id <> ALL(${place}::text[])`, exclude);
  if (document !== undefined) add((place) => documentIs(place, 'chunk.'), document);
  return { sql: parts.join(''), values };
}

/** Writes the condition on a document. Its second half lets the planner use the index by document. */
export function documentIs(place: string, table = ''): string {
  return `${table}document_id = ${place} AND ${table}document_id <> ''`;
}

/** Of the chunks of some documents. */
export async function numbersOf(
  transaction: Transaction,
  { org, collectionId }: Scope,
  documents: readonly string[],
): Promise<readonly number[]> {
  const { rows } = await transaction.query<{ number: number }>(
    `SELECT chunk.number FROM unnest($3::text[]) AS document (id) CROSS JOIN LATERAL (
       SELECT number FROM parley.vector_chunks WHERE org = $1 AND collection_id = $2 AND ${documentIs('document.id')} OFFSET 0
     ) AS chunk`,
    [org, collectionId, documents],
  );
  return rows.map(({ number }) => number);
}
