/** Completes documents in one transaction: writes chunks, terms, counters, status and events. From then on searches find them. */
import type { Transaction } from '../database.ts';
import { Repository } from '../repository.ts';
import { storableJson } from '../storable-json.ts';
import { insertEvents } from '../webhooks/events.ts';
import type { NewEvent } from '../webhooks/types.ts';
import { notifyCollection } from './collections.ts';
import {
  insertChunks,
  insertTerms,
  lockCollection,
  replaceOlder,
  type DocumentTerms,
  type EndedDocument,
  type StoredChunk,
} from './ingestion.ts';
import { countTerms } from './term-counts.ts';

export interface DocumentToComplete {
  readonly id: string;
  readonly message: string;
  /** The parsed content, where it is not in Postgres yet. */
  readonly content?: DocumentContent | undefined;
  /** Builds the document's event, written in the same transaction. */
  readonly eventOf?: ((ended: EndedDocument) => NewEvent) | undefined;
}

export interface DocumentContent {
  readonly title?: string | undefined;
  readonly pages?: number | undefined;
  readonly warnings: readonly string[];
  readonly chunks: readonly StoredChunk[];
  readonly termTotal: number;
  readonly terms: DocumentTerms;
}

interface CompletedRow {
  readonly id: string;
  readonly source: string | null;
  readonly chunk_count: number;
  readonly term_total: number;
}

export class DocumentCompletion extends Repository {
  /**
   * Lets searches find the documents from here on, and no longer those that they replace. Writes nothing for a document that is deleted or
   * at an end already.
   * @param documents documents of one collection
   * @returns for each document that was completed the documents that it replaced
   */
  async complete(org: string, documents: readonly DocumentToComplete[]): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.database.asOrganization(org, async (transaction) => {
      const replaced = new Map<string, readonly string[]>();
      const [first] = documents;
      const collection = first && (await lockCollection(transaction, { org, id: first.id }));
      if (collection === undefined) return replaced;
      const collectionId = collection.id;
      const completed = await markCompleted(transaction, { org, collectionId }, documents);
      if (completed.size === 0) return replaced;
      const ids = [...completed.keys()];
      await storeContent(
        transaction,
        org,
        documents.filter(({ id }) => completed.has(id)),
      );
      await countTerms(transaction, { org, collectionId, ids });
      await transaction.query(
        'UPDATE parley.collections SET chunk_count = chunk_count + $3, term_total = term_total + $4 WHERE org = $1 AND id = $2',
        [org, collectionId, total(completed, 'chunk_count'), total(completed, 'term_total')],
      );
      for (const { id, source } of completed.values())
        replaced.set(id, source === null ? [] : await replaceOlder(transaction, { org, id, collectionId, source }));
      await notifyCollection(transaction, org, collectionId);
      const { name: knowledgeBase, workspace } = collection;
      await insertEvents(
        transaction,
        documents.flatMap(({ id, eventOf }) => {
          const row = completed.get(id);
          if (row === undefined || eventOf === undefined) return [];
          return [eventOf({ org, id, knowledgeBase, workspace: workspace ?? undefined, chunkCount: row.chunk_count })];
        }),
      );
      return replaced;
    });
  }
}

/** Marks those that were still at work. Known facts of a document's content stay where no new ones are given. */
async function markCompleted(
  transaction: Transaction,
  { org, collectionId }: { readonly org: string; readonly collectionId: string },
  documents: readonly DocumentToComplete[],
): Promise<ReadonlyMap<string, CompletedRow>> {
  const { rows } = await transaction.query<CompletedRow & Record<string, unknown>>(
    `UPDATE parley.documents d SET status = 'completed', stage = 'completed', error_code = NULL, message = x.message,
       title = coalesce(x.title, d.title), pages = coalesce(x.pages, d.pages), warnings = coalesce(x.warnings, d.warnings),
       chunk_count = coalesce(x.chunk_count, d.chunk_count), done = coalesce(x.chunk_count, d.chunk_count),
       total = coalesce(x.chunk_count, d.chunk_count), term_total = coalesce(x.term_total, d.term_total), updated_at = now(), progress_at = now()
     FROM jsonb_to_recordset($3::jsonb) AS x (id text, message text, title text, pages int, warnings text[], chunk_count int, term_total bigint)
     WHERE d.org = $1 AND d.id = x.id AND d.collection_id = $2 AND d.status = 'processing' AND d.deleted_at IS NULL
     RETURNING d.id, d.source, d.chunk_count, d.term_total::float8 AS term_total`,
    [
      org,
      collectionId,
      storableJson(
        documents.map(({ id, message, content }) => ({
          id,
          message: message.slice(0, 4096),
          title: content?.title,
          pages: content?.pages,
          warnings: content?.warnings,
          chunk_count: content?.chunks.length,
          term_total: content?.termTotal,
        })),
      ),
    ],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

async function storeContent(transaction: Transaction, org: string, documents: readonly DocumentToComplete[]): Promise<void> {
  const read = documents.flatMap(({ id, content }) => (content === undefined ? [] : [{ id, ...content }]));
  if (read.length === 0) return;
  // These chunks are of an attempt that went through the stages and broke off.
  await transaction.query('DELETE FROM parley.chunks WHERE org = $1 AND document_id = ANY ($2)', [org, read.map(({ id }) => id)]);
  await insertChunks(
    transaction,
    org,
    read.flatMap(({ id, chunks }) => chunks.map((chunk) => ({ documentId: id, chunk }))),
  );
  await insertTerms(transaction, org, read);
}

function total(rows: ReadonlyMap<string, CompletedRow>, column: 'chunk_count' | 'term_total'): number {
  return [...rows.values()].reduce((sum, row) => sum + row[column], 0);
}
