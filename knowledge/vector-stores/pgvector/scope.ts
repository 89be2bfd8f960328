import type { CollectionRef, VectorQuery } from '../vector-store.ts';

/** A collection within its organisation. */
export type Scope = Pick<CollectionRef, 'org' | 'collectionId'>;

/** A condition on parley.vector_chunks, with its parameters. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** What a query demands of chunks. Its parameters are numbered from `from` on. */
export function conditionOf({ filter, exclude, document }: VectorQuery, from: number): Condition {
  const parts: string[] = [];
  const values: unknown[] = [];
  const add = (sql: (place: string) => string, value: unknown): void => {
    parts.push(` AND ${sql(`$${from + values.length}`)}`);
    values.push(value);
  };
  // Containment compares by type and value: 1 is 1.0, and neither is "1" or true.
  if (filter !== undefined && Object.keys(filter).length > 0) add((place) => `chunk.metadata @> ${place}::jsonb`, JSON.stringify(filter));
  if (exclude !== undefined && exclude.length > 0) add((place) => `chunk.document_id <> ALL(${place}::text[])`, exclude);
  if (document !== undefined) add((place) => `chunk.document_id = ${place}`, document);
  return { sql: parts.join(''), values };
}
