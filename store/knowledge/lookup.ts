/** What a search asks of Postgres: how rare its terms are, and what stands behind the hits of the vector store. */
import type { Database } from '../database.ts';
import { readChunks, type StoredChunk } from './ingestion.ts';

export interface FoundChunk extends StoredChunk {
  readonly documentId: string;
  readonly filename: string;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
  readonly documentCreatedAt: Date;
}

/** How a collection stands at the moment a search begins. */
export interface Prepared {
  /** For each of the terms that is in a findable chunk at all, in how many. */
  readonly frequencies: ReadonlyMap<number, number>;
  /** Documents that may have vectors and are not to be found. */
  readonly hidden: readonly string[];
  /** There are no others. */
  readonly allHidden: boolean;
  /** Those of them that are to take the place of another document, in the moment in which they can be found. */
  readonly arriving: readonly string[];
}

/** Documents that are kept out of a search by name; beyond these the wall behind the search has to do. */
const HIDDEN_LIMIT = 1_000;

export class Lookup {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async prepare({
    org,
    collectionId,
    terms,
  }: {
    readonly org: string;
    readonly collectionId: string;
    readonly terms: readonly number[];
  }): Promise<Prepared> {
    return this.#database.asOrganization(org, async (transaction) => {
      const { rows } = await transaction.query<{ term: number; chunks: number }>(
        'SELECT term, chunks FROM parley.term_frequencies WHERE org = $1 AND collection_id = $2 AND term = ANY ($3)',
        [org, collectionId, terms],
        { prepared: true },
      );
      const hidden = await transaction.query<{ id: string; arriving: boolean }>(
        `SELECT id, source IS NOT NULL AND status = 'processing' AND deleted_at IS NULL AS arriving FROM parley.documents WHERE org = $1 AND collection_id = $2 AND (status <> 'completed' OR deleted_at IS NOT NULL) LIMIT $3`,
        [org, collectionId, HIDDEN_LIMIT],
        { prepared: true },
      );
      return {
        frequencies: new Map(rows.map(({ term, chunks }) => [term, chunks])),
        hidden: hidden.rows.map(({ id }) => id),
        allHidden: hidden.rows.length < HIDDEN_LIMIT,
        arriving: hidden.rows.filter(({ arriving }) => arriving).map(({ id }) => id),
      };
    });
  }

  /** Whether one of these documents can be found by now. */
  async arrived({ org, ids }: { readonly org: string; readonly ids: readonly string[] }): Promise<boolean> {
    if (ids.length === 0) return false;
    return this.#database.asOrganization(org, async (transaction) => {
      const { rowCount } = await transaction.query(
        `SELECT FROM parley.documents WHERE org = $1 AND id = ANY ($2) AND status = 'completed' AND deleted_at IS NULL LIMIT 1`,
        [org, ids],
      );
      return rowCount > 0;
    });
  }

  /** The chunks behind hits, in any order: only those of this collection whose document can be found at this moment. This is the wall. */
  async resolve({
    org,
    collectionId,
    hits,
  }: {
    readonly org: string;
    readonly collectionId: string;
    readonly hits: readonly { readonly documentId: string; readonly ordinal: number }[];
  }): Promise<readonly FoundChunk[]> {
    return this.#database.asOrganization(org, async (transaction) => {
      const { rows } = await transaction.query<FoundChunk & { [column: string]: unknown }>(
        `SELECT k.document_id AS "documentId", k.ordinal, k.text, k.indexed_text AS "indexedText", k.tokens, k.heading_path AS "headingPath", k.page, k.sheet,
           k.url, k.first_row AS "firstRow", k.last_row AS "lastRow", d.filename, d.title, d.metadata, d.created_at AS "documentCreatedAt"
         FROM unnest($3::text[], $4::int[]) AS h (document_id, ordinal)
         JOIN parley.chunks k ON k.org = $1 AND k.document_id = h.document_id AND k.ordinal = h.ordinal
         JOIN parley.documents d ON d.org = $1 AND d.id = k.document_id AND d.collection_id = $2 AND d.status = 'completed' AND d.deleted_at IS NULL
         JOIN parley.collections c ON c.org = $1 AND c.id = $2 AND c.deleted_at IS NULL AND c.released_at IS NULL`,
        [org, collectionId, hits.map(({ documentId }) => documentId), hits.map(({ ordinal }) => ordinal)],
        { prepared: true },
      );
      return rows;
    });
  }

  /** A document's chunks, all of them in pages: for people and for exports. */
  async chunksOf(options: {
    readonly org: string;
    readonly documentId: string;
    readonly after?: number;
    readonly limit: number;
  }): Promise<readonly StoredChunk[]> {
    const { org, documentId, ...page } = options;
    return this.#database.asOrganization(org, (transaction) => readChunks(transaction, { org, id: documentId }, page));
  }
}
