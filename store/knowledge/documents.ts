/** The rows of documents: the contents of knowledge bases, and the state of their ingestion. */
import { uuidv7 } from '../../platform/uuid.ts';
import type { Transaction } from '../database.ts';
import { StoreError } from '../error.ts';
import { Repository } from '../repository.ts';
import { COLLECTION_COLUMNS, fromCollectionRow, notifyCollection, type Collection, type CollectionRow } from './collections.ts';
import { uncountTerms } from './term-counts.ts';

export type DocumentStatus = 'processing' | 'completed' | 'failed';
export type DocumentStage = 'queued' | 'fetching' | 'parsing' | 'indexing' | 'verifying' | 'completed';

export interface PageOutcome {
  readonly url: string;
  readonly status: 'fetched' | 'failed';
  /** The reason of a failure, for a person. */
  readonly reason?: string;
  /** The key of the fetched content in the file storage, and its type. */
  readonly objectKey?: string;
  readonly contentType?: string;
  readonly extension?: 'html' | 'pdf' | 'txt';
  /** Title of the fetched page. */
  readonly title?: string;
}

export interface NewDocument {
  readonly org: string;
  /** An id made beforehand where a file is stored under it; see {@link newDocumentId}. */
  readonly id?: string;
  readonly collectionId: string;
  readonly kind: 'file' | 'website' | 'text';
  /** The owner's name for it; for a website its first address. */
  readonly filename: string;
  /** Extension of a file, without the dot, lower case. */
  readonly extension?: string;
  readonly objectKey?: string;
  readonly bytes?: number;
  readonly sha256?: string;
  readonly urls?: readonly string[];
  /** Content that came with the configuration. */
  readonly content?: string;
  readonly metadata?: Readonly<Record<string, string | number | boolean>>;
  /** Name of the resource's source that this document is to serve, and the state of it. */
  readonly source?: string;
  readonly sourceRevision?: string;
  readonly createdBy?: string | null;
}

export interface DocumentRecord {
  readonly org: string;
  readonly id: string;
  readonly collectionId: string;
  readonly kind: 'file' | 'website' | 'text';
  readonly filename: string;
  readonly extension: string | null;
  readonly objectKey: string | null;
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly urls: readonly string[] | null;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
  readonly source: string | null;
  readonly sourceRevision: string | null;
  readonly status: DocumentStatus;
  readonly stage: DocumentStage;
  readonly done: number;
  readonly total: number | null;
  /** The message for a person. */
  readonly message: string;
  readonly errorCode: string | null;
  readonly title: string | null;
  readonly pages: number | null;
  readonly warnings: readonly string[];
  readonly pageOutcomes: readonly PageOutcome[] | null;
  /** Chunks of a completed document; 0 before. */
  readonly chunkCount: number;
  readonly termTotal: number;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Time at which its ingestion last made progress. */
  readonly progressAt: Date;
}

interface DocumentRef {
  readonly org: string;
  readonly id: string;
}

/** A place in the list, oldest first: the next page begins behind it. */
export interface DocumentPosition {
  readonly createdAt: Date;
  readonly id: string;
}

const COLUMNS = `org, id, collection_id AS "collectionId", kind, filename, extension, object_key AS "objectKey", bytes::float8 AS bytes, sha256, urls, metadata,
  source, source_revision AS "sourceRevision", status, stage, done, total, message, error_code AS "errorCode", title, pages, warnings,
  page_outcomes AS "pageOutcomes", chunk_count AS "chunkCount", term_total::float8 AS "termTotal", created_by AS "createdBy",
  created_at AS "createdAt", updated_at AS "updatedAt", progress_at AS "progressAt"`;

const ID_SHAPE = /^doc_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function newDocumentId(uuid = uuidv7()): string {
  return `doc_${uuid}`;
}

export class Documents extends Repository {
  /**
   * Takes a document on, as `processing`. The same state of the same source is taken on once: otherwise the existing document is returned.
   * @throws StoreError `not_found` when the collection is gone
   */
  async create(document: NewDocument): Promise<DocumentRecord> {
    const { org, collectionId } = document;
    const id = document.id ?? newDocumentId();
    return this.database.asOrganization(org, async (transaction) => {
      // The row lock holds off a deletion that would miss the new document.
      const collection = await transaction.query(
        'SELECT FROM parley.collections WHERE org = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE',
        [org, collectionId],
      );
      if (collection.rowCount === 0) throw new StoreError('not_found', 'the knowledge base is gone');
      const { rows: made } = await transaction.query<DocumentRecord>(
        `INSERT INTO parley.documents
           (org, id, collection_id, kind, filename, extension, object_key, bytes, sha256, urls, content, metadata, source, source_revision, created_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT DO NOTHING
         RETURNING ${COLUMNS}`,
        [
          org,
          id,
          collectionId,
          document.kind,
          document.filename,
          document.extension ?? null,
          document.objectKey ?? null,
          document.bytes ?? null,
          document.sha256 ?? null,
          document.urls ?? null,
          document.content ?? null,
          JSON.stringify(document.metadata ?? {}),
          document.source ?? null,
          document.sourceRevision ?? null,
          document.createdBy ?? null,
        ],
      );
      if (made[0] !== undefined) {
        await notifyCollection(transaction, org, collectionId, { last: true });
        return made[0];
      }
      const { rows } = await transaction.query<DocumentRecord>(
        `SELECT ${COLUMNS} FROM parley.documents
         WHERE org = $1 AND (id = $2 OR (collection_id = $3 AND source = $4 AND source_revision = $5)) AND deleted_at IS NULL`,
        [org, id, collectionId, document.source ?? null, document.sourceRevision ?? null],
      );
      if (rows[0] === undefined) throw new StoreError('internal', `document ${id}: written and not found again`);
      return rows[0];
    });
  }

  /** Returns undefined for a deleted document. */
  async get({ org, id, collectionId }: DocumentRef & { readonly collectionId?: string | undefined }): Promise<DocumentRecord | undefined> {
    if (!ID_SHAPE.test(id)) return undefined;
    const { rows } = await this.database.queryAs<DocumentRecord>(
      org,
      `SELECT ${COLUMNS} FROM parley.documents WHERE org = $1 AND id = $2 AND deleted_at IS NULL AND collection_id = coalesce($3, collection_id)`,
      [org, id, collectionId ?? null],
    );
    return rows[0];
  }

  /** Returns those of the documents that are at work, with their collections where these are not deleted. */
  async openAll({
    org,
    ids,
  }: {
    readonly org: string;
    readonly ids: readonly string[];
  }): Promise<ReadonlyMap<string, { readonly document: DocumentRecord; readonly collection: Collection }>> {
    return this.database.asOrganization(org, async (transaction) => {
      const { rows: documents } = await transaction.query<DocumentRecord>(
        `SELECT ${COLUMNS} FROM parley.documents WHERE org = $1 AND id = ANY ($2) AND status = 'processing' AND deleted_at IS NULL`,
        [org, ids],
      );
      const { rows } = await transaction.query<CollectionRow>(
        `SELECT ${COLLECTION_COLUMNS} FROM parley.collections WHERE org = $1 AND id = ANY ($2) AND deleted_at IS NULL`,
        [org, documents.map(({ collectionId }) => collectionId)],
      );
      const collections = new Map(rows.map((row) => [row.id, fromCollectionRow(row)]));
      return new Map(
        documents.flatMap((document) => {
          const collection = collections.get(document.collectionId);
          return collection === undefined ? [] : [[document.id, { document, collection }] as const];
        }),
      );
    });
  }

  async content({ org, id }: DocumentRef): Promise<string | undefined> {
    const { rows } = await this.database.queryAs<{ content: string | null }>(
      org,
      'SELECT content FROM parley.documents WHERE org = $1 AND id = $2',
      [org, id],
    );
    return rows[0]?.content ?? undefined;
  }

  /** Lists documents, oldest first. */
  async list(options: {
    readonly org: string;
    readonly collectionId: string;
    readonly pageSize: number;
    readonly after?: DocumentPosition | undefined;
  }): Promise<{ readonly items: readonly DocumentRecord[]; readonly next?: DocumentPosition }> {
    const { org, collectionId, pageSize, after } = options;
    const { rows } = await this.database.queryAs<DocumentRecord>(
      org,
      `SELECT ${COLUMNS} FROM parley.documents WHERE org = $1 AND collection_id = $2 AND deleted_at IS NULL
           AND ($3::timestamptz IS NULL OR (created_at, id) > ($3, $4)) ORDER BY created_at, id LIMIT $5`,
      [org, collectionId, after?.createdAt ?? null, after?.id ?? null, pageSize + 1],
    );
    const items = rows.slice(0, pageSize);
    const last = items.at(-1);
    return rows.length > pageSize && last !== undefined ? { items, next: { createdAt: last.createdAt, id: last.id } } : { items };
  }

  /** Returns the newest completed document of each of a collection's sources, and the newest of any state. */
  async ofSources({ org, collectionId }: { readonly org: string; readonly collectionId: string }): Promise<readonly DocumentRecord[]> {
    const { rows } = await this.database.queryAs<DocumentRecord>(
      org,
      `SELECT ${COLUMNS} FROM parley.documents WHERE org = $1 AND collection_id = $2 AND source IS NOT NULL AND deleted_at IS NULL ORDER BY created_at, id`,
      [org, collectionId],
    );
    return rows;
  }

  /** Returns documents that are neither completed nor failed, and deleted ones that are not cleared away: for the sweep of lost work. */
  async unsettled({
    org,
    limit,
  }: {
    readonly org: string;
    readonly limit: number;
  }): Promise<readonly (DocumentRecord & { readonly deleted: boolean })[]> {
    const { rows } = await this.database.queryAs<DocumentRecord & { readonly deleted: boolean }>(
      org,
      `SELECT ${COLUMNS}, deleted_at IS NOT NULL AS deleted FROM parley.documents
       WHERE org = $1 AND (status = 'processing' OR deleted_at IS NOT NULL) ORDER BY progress_at LIMIT $2`,
      [org, limit],
    );
    return rows;
  }

  /**
   * Hides the document from searches from the moment this returns. Its terms are subtracted from the counts in the same transaction.
   *
   * @param unlessCompleted - leaves it alone where searches find it already, as a caller that saw it unfinished wants
   * @returns false when there is no such document, or it was left alone
   */
  async tombstone({
    org,
    id,
    collectionId,
    unlessCompleted = false,
  }: DocumentRef & { readonly collectionId: string; readonly unlessCompleted?: boolean }): Promise<boolean> {
    if (!ID_SHAPE.test(id)) return false;
    return this.database.asOrganization(org, async (transaction) => {
      // The lock comes before the look at the document: of two deletions one reports that it was the first.
      await lockCounters(transaction, { org, id: collectionId });
      const { rows } = await transaction.query<{ deleted: boolean; status: DocumentStatus }>(
        'SELECT deleted_at IS NOT NULL AS deleted, status FROM parley.documents WHERE org = $1 AND id = $2 AND collection_id = $3',
        [org, id, collectionId],
      );
      if (rows[0] === undefined || rows[0].deleted || (unlessCompleted && rows[0].status === 'completed')) return false;
      await hideDocument(transaction, { org, id, collectionId });
      await notifyCollection(transaction, org, collectionId, { last: true });
      return true;
    });
  }

  /** Subtracts more terms of a large deleted document from the counts. @returns whether more are left */
  async uncountMoreTerms({ org, id }: DocumentRef): Promise<boolean> {
    return this.database.asOrganization(org, async (transaction) => {
      const { rows } = await transaction.query<{ id: string }>(
        `SELECT c.id FROM parley.collections c JOIN parley.documents d ON d.org = c.org AND d.collection_id = c.id
         WHERE d.org = $1 AND d.id = $2 AND d.deleted_at IS NOT NULL AND c.deleted_at IS NULL FOR NO KEY UPDATE OF c`,
        [org, id],
      );
      const collectionId = rows[0]?.id;
      return collectionId !== undefined && uncountTerms(transaction, { org, id, collectionId });
    });
  }

  /** Deletes the rows of a deleted document. Idempotent; leaves one that isn't deleted alone. */
  async remove({ org, id }: DocumentRef): Promise<void> {
    await this.database.asOrganization(org, async (transaction) => {
      await transaction.query(
        `DELETE FROM parley.documents d WHERE org = $1 AND id = $2 AND (deleted_at IS NOT NULL
         OR EXISTS (SELECT FROM parley.collections c WHERE c.org = d.org AND c.id = d.collection_id AND c.deleted_at IS NOT NULL))`,
        [org, id],
      );
    });
  }

  /** Returns those of the ids that have a row, deleted ones too. */
  async existing({ org, ids }: { readonly org: string; readonly ids: readonly string[] }): Promise<ReadonlySet<string>> {
    const { rows } = await this.database.queryAs<{ id: string }>(org, 'SELECT id FROM parley.documents WHERE org = $1 AND id = ANY ($2)', [
      org,
      ids,
    ]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Returns ids of all of a collection's documents, deleted ones too, ascending. */
  async idsOf(options: {
    readonly org: string;
    readonly collectionId: string;
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly string[]> {
    const { rows } = await this.database.queryAs<{ id: string }>(
      options.org,
      'SELECT id FROM parley.documents WHERE org = $1 AND collection_id = $2 AND id > $3 ORDER BY id LIMIT $4',
      [options.org, options.collectionId, options.after ?? '', options.limit],
    );
    return rows.map(({ id }) => id);
  }
}

/** Removes a document from searches and counts, within the caller's transaction. @returns false when it was removed before */
export async function hideDocument(
  transaction: Transaction,
  { org, id, collectionId }: DocumentRef & { readonly collectionId: string },
): Promise<boolean> {
  await lockCounters(transaction, { org, id: collectionId });
  const { rows } = await transaction.query<{ status: DocumentStatus; chunk_count: number; term_total: string }>(
    `UPDATE parley.documents SET deleted_at = now(), updated_at = now() WHERE org = $1 AND id = $2 AND deleted_at IS NULL RETURNING status, chunk_count, term_total`,
    [org, id],
  );
  const hidden = rows[0];
  if (hidden?.status !== 'completed') return hidden !== undefined;
  await transaction.query(
    'UPDATE parley.collections SET chunk_count = chunk_count - $3, term_total = term_total - $4 WHERE org = $1 AND id = $2',
    [org, collectionId, hidden.chunk_count, hidden.term_total],
  );
  await uncountTerms(transaction, { org, id, collectionId });
  return true;
}

/** Lets one completion or deletion run at a time in a collection: all share the rows of its term frequencies. */
async function lockCounters(transaction: Transaction, { org, id }: DocumentRef): Promise<void> {
  await transaction.query('SELECT FROM parley.collections WHERE org = $1 AND id = $2 FOR NO KEY UPDATE', [org, id]);
}
