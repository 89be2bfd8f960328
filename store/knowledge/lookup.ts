/** Answers the queries of a search: how rare its terms are, and which chunks the hits of the vector store are. */
import { Repository } from '../repository.ts';
import { COLLECTION_COLUMNS, fromCollectionRow, type Collection, type CollectionRow } from './collections.ts';
import { readChunks, type StoredChunk } from './ingestion.ts';

export interface FoundChunk extends Omit<StoredChunk, 'indexedText' | 'tokens'> {
  readonly documentId: string;
  readonly filename: string;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
}

/** The state of a collection when a search begins. */
export interface Prepared {
  readonly collection: Collection;
  /** Numbers of findable chunks by term, for each term that is in any. */
  readonly frequencies: ReadonlyMap<number, number>;
  /** Documents that may have vectors and must not be found. */
  readonly hidden: readonly string[];
  /** True if `hidden` has all such documents. */
  readonly allHidden: boolean;
  /** Hidden documents that will replace another one at the moment in which searches find them. */
  readonly arriving: readonly string[];
}

interface PreparedRow extends CollectionRow {
  readonly frequencies: readonly (readonly [number, number])[] | null;
  readonly hidden: readonly (readonly [string, boolean])[] | null;
}

/** Most documents that a search excludes by name; beyond these, {@link KnowledgeLookup.resolve} has to do. */
const HIDDEN_LIMIT = 1_000;

const searching = { prepared: true, quick: true, samePlans: true };

export class KnowledgeLookup extends Repository {
  /**
   * Reads everything in one statement, so that all of it is of one moment. @returns undefined for a collection that is not there, deleted
   * or released
   */
  async prepare({
    org,
    name,
    terms,
  }: {
    readonly org: string;
    readonly name: string;
    readonly terms: readonly number[];
  }): Promise<Prepared | undefined> {
    const { rows } = await this.database.queryAs<PreparedRow>(
      org,
      `SELECT ${COLLECTION_COLUMNS},
         (SELECT jsonb_agg(jsonb_build_array(f.term, f.chunks)) FROM parley.term_frequencies f
          WHERE f.org = $1 AND f.collection_id = c.id AND f.term = ANY ($3::int[])) AS frequencies,
         (SELECT jsonb_agg(jsonb_build_array(d.id, d.arriving)) FROM (
            SELECT id, source IS NOT NULL AND status = 'processing' AND deleted_at IS NULL AS arriving FROM parley.documents
            WHERE org = $1 AND collection_id = c.id AND (status <> 'completed' OR deleted_at IS NOT NULL) LIMIT $4) AS d) AS hidden
       FROM parley.collections AS c WHERE c.org = $1 AND c.name = $2 AND c.deleted_at IS NULL AND c.released_at IS NULL`,
      [org, name, terms, HIDDEN_LIMIT],
      searching,
    );
    if (rows[0] === undefined) return undefined;
    const { frequencies, hidden: found, ...collection } = rows[0];
    const hidden = found ?? [];
    return {
      collection: fromCollectionRow(collection),
      frequencies: new Map(frequencies),
      hidden: hidden.map(([id]) => id),
      allHidden: hidden.length < HIDDEN_LIMIT,
      arriving: hidden.filter(([, arriving]) => arriving).map(([id]) => id),
    };
  }

  /** Tells whether searches find one of these documents by now. */
  async arrived({ org, ids }: { readonly org: string; readonly ids: readonly string[] }): Promise<boolean> {
    if (ids.length === 0) return false;
    const { rowCount } = await this.database.queryAs(
      org,
      `SELECT FROM parley.documents WHERE org = $1 AND id = ANY ($2) AND status = 'completed' AND deleted_at IS NULL LIMIT 1`,
      [org, ids],
    );
    return rowCount > 0;
  }

  /**
   * Returns the chunks of hits, in any order: only those of this collection whose document may be found at this moment. Nothing else guards
   * the results of a search.
   */
  async resolve({
    org,
    collectionId,
    hits,
  }: {
    readonly org: string;
    readonly collectionId: string;
    readonly hits: readonly { readonly documentId: string; readonly ordinal: number }[];
  }): Promise<readonly FoundChunk[]> {
    if (hits.length === 0) return [];
    // Each row is read by its whole key, the one plan that is always right and need not be made again each time.
    const { rows } = await this.database.queryAs<FoundChunk & { [column: string]: unknown }>(
      org,
      `SELECT h.document_id AS "documentId", h.ordinal, k.text, k.heading_path AS "headingPath", k.page, k.sheet, k.url, k.first_row AS "firstRow",
         k.last_row AS "lastRow", d.filename, d.metadata,
         CASE WHEN d.kind = 'website' THEN (SELECT p ->> 'title' FROM jsonb_array_elements(d.page_outcomes) AS p WHERE p ->> 'url' = k.url LIMIT 1)
           ELSE d.title END AS title
       FROM unnest($3::text[], $4::int[]) AS h (document_id, ordinal)
       CROSS JOIN LATERAL (
         SELECT kind, filename, title, metadata, page_outcomes FROM parley.documents
         WHERE org = $1 AND id = h.document_id AND collection_id = $2 AND status = 'completed' AND deleted_at IS NULL OFFSET 0) AS d
       CROSS JOIN LATERAL (
         SELECT text, heading_path, page, sheet, url, first_row, last_row FROM parley.chunks
         WHERE org = $1 AND document_id = h.document_id AND ordinal = h.ordinal OFFSET 0) AS k
       WHERE EXISTS (SELECT FROM parley.collections WHERE org = $1 AND id = $2 AND deleted_at IS NULL AND released_at IS NULL)`,
      [org, collectionId, hits.map(({ documentId }) => documentId), hits.map(({ ordinal }) => ordinal)],
      searching,
    );
    return rows;
  }

  /** Returns a page of a document's chunks, for people and for exports. */
  async chunksOf(options: {
    readonly org: string;
    readonly documentId: string;
    readonly after?: number;
    readonly limit: number;
  }): Promise<readonly StoredChunk[]> {
    const { org, documentId, ...page } = options;
    return this.database.asOrganization(org, (transaction) => readChunks(transaction, { org, id: documentId }, page));
  }
}
