/** Writes the rows of an ingestion: progress, chunks, and its one end. Every step may be repeated. */
import type { Transaction } from '../database.ts';
import { Repository } from '../repository.ts';
import { insertEvents } from '../webhooks/events.ts';
import type { NewEvent } from '../webhooks/types.ts';
import { notifyCollection } from './collections.ts';
import { hideDocument, type DocumentStage, type PageOutcome } from './documents.ts';
import { countTerms } from './term-counts.ts';

export interface StoredChunk {
  readonly ordinal: number;
  readonly text: string;
  readonly indexedText: string;
  readonly tokens: number;
  readonly headingPath: readonly string[];
  readonly page: number | null;
  readonly sheet: string | null;
  readonly url: string | null;
  readonly firstRow: number | null;
  readonly lastRow: number | null;
}

export interface DocumentTerms {
  /** Dimensions of sparse vectors, ascending. */
  readonly terms: readonly number[];
  /** The number of the document's chunks that each term is in. */
  readonly chunks: readonly number[];
}

/** A document at its end, from which its event is made. */
export interface EndedDocument {
  readonly org: string;
  readonly id: string;
  /** Name of the KnowledgeBase. */
  readonly knowledgeBase: string;
  readonly workspace: string | undefined;
  /** 0 if it failed. */
  readonly chunkCount: number;
}

interface DocumentRef {
  readonly org: string;
  readonly id: string;
}

/** SQL condition: the document is at work and its knowledge base is there. */
const LIVE = `d.status = 'processing' AND d.deleted_at IS NULL
  AND EXISTS (SELECT FROM parley.collections c WHERE c.org = d.org AND c.id = d.collection_id AND c.deleted_at IS NULL)`;

export class Ingestion extends Repository {
  /** @returns false when the document is deleted or at an end: there is nothing left to do for it */
  async progress(
    ref: DocumentRef,
    step: { readonly stage: DocumentStage; readonly done: number; readonly total?: number },
  ): Promise<boolean> {
    const { rowCount } = await this.database.queryAs(
      ref.org,
      `UPDATE parley.documents d SET stage = $3, done = $4, total = $5, updated_at = now(),
         progress_at = CASE WHEN (d.stage, d.done) IS DISTINCT FROM ($3, $4::int) THEN now() ELSE d.progress_at END
       WHERE d.org = $1 AND d.id = $2 AND ${LIVE}`,
      [ref.org, ref.id, step.stage, step.done, step.total ?? null],
    );
    return rowCount > 0;
  }

  async pageOutcomes(ref: DocumentRef, outcomes: readonly PageOutcome[]): Promise<void> {
    await this.database.queryAs(
      ref.org,
      'UPDATE parley.documents SET page_outcomes = $3, updated_at = now(), progress_at = now() WHERE org = $1 AND id = $2',
      [ref.org, ref.id, JSON.stringify(outcomes)],
    );
  }

  /** Deletes the chunks of an earlier attempt. */
  async clearChunks(ref: DocumentRef): Promise<void> {
    await this.database.asOrganization(ref.org, async (transaction) => {
      await transaction.query(
        `DELETE FROM parley.chunks c USING parley.documents d
         WHERE c.org = $1 AND c.document_id = $2 AND d.org = c.org AND d.id = c.document_id AND d.status = 'processing'`,
        [ref.org, ref.id],
      );
    });
  }

  async addChunks(ref: DocumentRef, chunks: readonly StoredChunk[]): Promise<void> {
    await this.database.asOrganization(ref.org, (transaction) =>
      insertChunks(
        transaction,
        ref.org,
        chunks.map((chunk) => ({ documentId: ref.id, chunk })),
      ),
    );
  }

  /** Stores the facts of a fully parsed document. */
  async parsed(
    ref: DocumentRef,
    facts: {
      readonly title?: string | undefined;
      readonly pages?: number | undefined;
      readonly warnings: readonly string[];
      readonly chunkCount: number;
      readonly termTotal: number;
      readonly terms: DocumentTerms;
    },
  ): Promise<void> {
    await this.database.asOrganization(ref.org, async (transaction) => {
      const { rowCount } = await transaction.query(
        `UPDATE parley.documents d SET title = $3, pages = $4, warnings = $5, chunk_count = $6, term_total = $7, updated_at = now(), progress_at = now()
         WHERE d.org = $1 AND d.id = $2 AND ${LIVE}`,
        [ref.org, ref.id, facts.title ?? null, facts.pages ?? null, facts.warnings, facts.chunkCount, facts.termTotal],
      );
      if (rowCount === 0) return;
      await insertTerms(transaction, ref.org, [{ id: ref.id, terms: facts.terms }]);
    });
  }

  /** Returns chunks in the order of the document, behind `after`. */
  async chunks({ org, id }: DocumentRef, page: { readonly after?: number; readonly limit: number }): Promise<readonly StoredChunk[]> {
    return this.database.asOrganization(org, (transaction) => readChunks(transaction, { org, id }, page));
  }

  /** Counts more of the terms of a completed document that has very many. @returns whether there are more yet */
  async countMoreTerms(ref: DocumentRef): Promise<boolean> {
    return this.database.asOrganization(ref.org, async (transaction) => {
      const collection = await lockCollection(transaction, ref);
      if (collection === undefined) return false;
      const { rowCount } = await transaction.query(
        `SELECT FROM parley.documents WHERE org = $1 AND id = $2 AND status = 'completed' AND deleted_at IS NULL`,
        [ref.org, ref.id],
      );
      return rowCount > 0 && countTerms(transaction, { org: ref.org, collectionId: collection.id, ids: [ref.id] });
    });
  }

  /**
   * @param event the failure's event, written in this same transaction
   * @returns false when the document was deleted or at an end already
   */
  async fail(
    { org, id }: DocumentRef,
    failure: { readonly code: string; readonly message: string },
    event?: (ended: EndedDocument) => NewEvent,
  ): Promise<boolean> {
    return this.database.asOrganization(org, async (transaction) => {
      const { rows } = await transaction.query<{ collection_id: string }>(
        `UPDATE parley.documents d SET status = 'failed', error_code = $3, message = $4, chunk_count = 0, term_total = 0, updated_at = now(), progress_at = now()
         WHERE d.org = $1 AND d.id = $2 AND ${LIVE} RETURNING collection_id`,
        [org, id, failure.code, failure.message.slice(0, 4096)],
      );
      if (rows[0] === undefined) return false;
      await transaction.query('DELETE FROM parley.chunks WHERE org = $1 AND document_id = $2', [org, id]);
      await transaction.query('DELETE FROM parley.document_terms WHERE org = $1 AND document_id = $2', [org, id]);
      await notifyCollection(transaction, org, rows[0].collection_id);
      if (event !== undefined) await tellOfEnd(transaction, { org, id, collectionId: rows[0].collection_id, chunkCount: 0 }, event);
      return true;
    });
  }
}

/** Writes terms that are not counted yet. Writing them again replaces them. */
export async function insertTerms(
  transaction: Transaction,
  org: string,
  documents: readonly { readonly id: string; readonly terms: DocumentTerms }[],
): Promise<void> {
  await transaction.query(
    `INSERT INTO parley.document_terms (org, document_id, terms, chunks)
     SELECT $1, x.id, x.terms, x.chunks FROM jsonb_to_recordset($2::jsonb) AS x (id text, terms int[], chunks int[])
     ON CONFLICT (org, document_id) DO UPDATE SET terms = excluded.terms, chunks = excluded.chunks`,
    [org, JSON.stringify(documents.map(({ id, terms: { terms, chunks } }) => ({ id, terms, chunks })))],
  );
}

/** Writes chunks. Writing one again replaces it. */
export async function insertChunks(
  transaction: Transaction,
  org: string,
  chunks: readonly { readonly documentId: string; readonly chunk: StoredChunk }[],
): Promise<void> {
  await transaction.query(
    `INSERT INTO parley.chunks (org, document_id, ordinal, text, indexed_text, tokens, heading_path, page, sheet, url, first_row, last_row)
     SELECT $1, x.document_id, x.ordinal, x.text, x.indexed_text, x.tokens, x.heading_path, x.page, x.sheet, x.url, x.first_row, x.last_row
     FROM jsonb_to_recordset($2::jsonb) AS x (document_id text, ordinal int, text text, indexed_text text, tokens int, heading_path text[],
       page int, sheet text, url text, first_row int, last_row int)
     ON CONFLICT (org, document_id, ordinal) DO UPDATE SET text = excluded.text, indexed_text = excluded.indexed_text, tokens = excluded.tokens,
       heading_path = excluded.heading_path, page = excluded.page, sheet = excluded.sheet, url = excluded.url,
       first_row = excluded.first_row, last_row = excluded.last_row`,
    [
      org,
      JSON.stringify(
        chunks.map(({ documentId, chunk }) => ({
          document_id: documentId,
          ordinal: chunk.ordinal,
          text: chunk.text,
          indexed_text: chunk.indexedText,
          tokens: chunk.tokens,
          heading_path: chunk.headingPath,
          page: chunk.page,
          sheet: chunk.sheet,
          url: chunk.url,
          first_row: chunk.firstRow,
          last_row: chunk.lastRow,
        })),
      ),
    ],
  );
}

export async function readChunks(
  transaction: Transaction,
  { org, id }: DocumentRef,
  { after = -1, limit }: { readonly after?: number; readonly limit: number },
): Promise<readonly StoredChunk[]> {
  const { rows } = await transaction.query<StoredChunk & { [column: string]: unknown }>(
    `SELECT ordinal, text, indexed_text AS "indexedText", tokens, heading_path AS "headingPath", page, sheet, url, first_row AS "firstRow", last_row AS "lastRow"
     FROM parley.chunks WHERE org = $1 AND document_id = $2 AND ordinal > $3 ORDER BY ordinal LIMIT $4`,
    [org, id, after, limit],
  );
  return rows;
}

async function tellOfEnd(
  transaction: Transaction,
  { org, id, collectionId, chunkCount }: DocumentRef & { readonly collectionId: string; readonly chunkCount: number },
  event: (ended: EndedDocument) => NewEvent,
): Promise<void> {
  const { rows } = await transaction.query<{ name: string; workspace: string | null }>(
    'SELECT name, workspace FROM parley.collections WHERE org = $1 AND id = $2',
    [org, collectionId],
  );
  const { name = '', workspace = null } = rows[0] ?? {};
  await insertEvents(transaction, [event({ org, id, knowledgeBase: name, workspace: workspace ?? undefined, chunkCount })]);
}

/** Lets completions and deletions of one collection run one after the other: its counters and frequencies are shared rows. */
export async function lockCollection(
  transaction: Transaction,
  { org, id }: DocumentRef,
): Promise<{ readonly id: string; readonly name: string; readonly workspace: string | null } | undefined> {
  const { rows } = await transaction.query<{ id: string; name: string; workspace: string | null }>(
    `SELECT c.id, c.name, c.workspace FROM parley.collections c JOIN parley.documents d ON d.org = c.org AND d.collection_id = c.id
     WHERE d.org = $1 AND d.id = $2 AND c.deleted_at IS NULL FOR NO KEY UPDATE OF c`,
    [org, id],
  );
  return rows[0];
}

export async function replaceOlder(
  transaction: Transaction,
  { org, id, collectionId, source }: DocumentRef & { readonly collectionId: string; readonly source: string },
): Promise<readonly string[]> {
  const { rows } = await transaction.query<{ id: string }>(
    `SELECT id FROM parley.documents WHERE org = $1 AND collection_id = $2 AND source = $3 AND id <> $4 AND deleted_at IS NULL
     AND (created_at, id) < (SELECT created_at, id FROM parley.documents WHERE org = $1 AND id = $4)`,
    [org, collectionId, source, id],
  );
  for (const older of rows) await hideDocument(transaction, { org, id: older.id, collectionId });
  return rows.map((older) => older.id);
}
