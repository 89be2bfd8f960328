/** The end of many small documents in one transaction: chunks, terms, counters, status and events of all. */
import type { Transaction } from '../database.ts';
import { Repository } from '../repository.ts';
import { storableJson } from '../storable-json.ts';
import { insertEvents } from '../webhooks/events.ts';
import type { NewEvent } from '../webhooks/types.ts';
import { tellOfCollection } from './collections.ts';
import { insertChunks, replaceOlder, type DocumentTerms, type EndedDocument, type StoredChunk } from './ingestion.ts';
import { addFrequencies } from './term-counts.ts';

/** A document that has been read, with everything that Postgres is to hold of it. */
export interface WholeDocument {
  readonly id: string;
  readonly title?: string | undefined;
  readonly pages?: number | undefined;
  readonly warnings: readonly string[];
  readonly message: string;
  readonly chunks: readonly StoredChunk[];
  readonly termTotal: number;
  readonly terms: DocumentTerms;
  /** Its event, written in the same transaction. */
  readonly eventOf: (ended: EndedDocument) => NewEvent;
}

interface CollectionKey {
  readonly org: string;
  readonly collectionId: string;
}

export class DocumentCompletion extends Repository {
  /**
   * The documents can be found from here on. Of one that is deleted or at an end already nothing is written.
   * @returns for each document that was completed the documents that it replaced
   */
  async completeTogether(
    { org, collectionId }: CollectionKey,
    documents: readonly WholeDocument[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.database.asOrganization(org, async (transaction) => {
      const replaced = new Map<string, readonly string[]>();
      const { rows: held } = await transaction.query<{ name: string; workspace: string | null }>(
        'SELECT name, workspace FROM parley.collections WHERE org = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE',
        [org, collectionId],
      );
      if (held[0] === undefined) return replaced;
      const { name: knowledgeBase, workspace } = held[0];
      const live = await markCompleted(transaction, { org, collectionId }, documents);
      const completed = documents.filter(({ id }) => live.has(id));
      if (completed.length === 0) return replaced;
      await storeContent(transaction, org, completed);
      await addFrequencies(transaction, { org, collectionId }, sumOf(completed.map(({ terms }) => terms)));
      await transaction.query(
        'UPDATE parley.collections SET chunk_count = chunk_count + $3, term_total = term_total + $4 WHERE org = $1 AND id = $2',
        [org, collectionId, total(completed.map(({ chunks }) => chunks.length)), total(completed.map(({ termTotal }) => termTotal))],
      );
      for (const { id } of completed) {
        const source = live.get(id) ?? null;
        replaced.set(id, source === null ? [] : await replaceOlder(transaction, { org, id, collectionId, source }));
      }
      await tellOfCollection(transaction, org, collectionId);
      await insertEvents(
        transaction,
        completed.map(({ id, chunks, eventOf }) =>
          eventOf({ org, id, knowledgeBase, workspace: workspace ?? undefined, chunkCount: chunks.length }),
        ),
      );
      return replaced;
    });
  }
}

/** @returns the sources of those that were at work still */
async function markCompleted(
  transaction: Transaction,
  { org, collectionId }: CollectionKey,
  documents: readonly WholeDocument[],
): Promise<ReadonlyMap<string, string | null>> {
  const { rows } = await transaction.query<{ id: string; source: string | null }>(
    `UPDATE parley.documents d SET status = 'completed', stage = 'completed', title = x.title, pages = x.pages, warnings = x.warnings,
       message = x.message, error_code = NULL, chunk_count = x.chunk_count, term_total = x.term_total, done = x.chunk_count, total = x.chunk_count,
       updated_at = now(), progress_at = now()
     FROM jsonb_to_recordset($3::jsonb) AS x (id text, title text, pages int, warnings text[], message text, chunk_count int, term_total bigint)
     WHERE d.org = $1 AND d.id = x.id AND d.collection_id = $2 AND d.status = 'processing' AND d.deleted_at IS NULL
     RETURNING d.id, d.source`,
    [
      org,
      collectionId,
      storableJson(
        documents.map((document) => ({
          id: document.id,
          title: document.title ?? null,
          pages: document.pages ?? null,
          warnings: document.warnings,
          message: document.message.slice(0, 4096),
          chunk_count: document.chunks.length,
          term_total: document.termTotal,
        })),
      ),
    ],
  );
  return new Map(rows.map(({ id, source }) => [id, source]));
}

async function storeContent(transaction: Transaction, org: string, documents: readonly WholeDocument[]): Promise<void> {
  const ids = documents.map(({ id }) => id);
  // Of an attempt that went through the stages and broke off.
  await transaction.query('DELETE FROM parley.chunks WHERE org = $1 AND document_id = ANY ($2)', [org, ids]);
  await insertChunks(
    transaction,
    org,
    documents.flatMap(({ id, chunks }) => chunks.map((chunk) => ({ documentId: id, chunk }))),
  );
  // All of them are counted in this transaction.
  await transaction.query(
    `INSERT INTO parley.document_terms (org, document_id, terms, chunks, counted)
     SELECT $1, x.id, x.terms, x.chunks, cardinality(x.terms) FROM jsonb_to_recordset($2::jsonb) AS x (id text, terms int[], chunks int[])
     ON CONFLICT (org, document_id) DO UPDATE SET terms = excluded.terms, chunks = excluded.chunks, counted = excluded.counted`,
    [org, JSON.stringify(documents.map(({ id, terms: { terms, chunks } }) => ({ id, terms, chunks })))],
  );
}

function sumOf(all: readonly DocumentTerms[]): DocumentTerms {
  const sums = new Map<number, number>();
  for (const { terms, chunks } of all) for (const [at, term] of terms.entries()) sums.set(term, (sums.get(term) ?? 0) + (chunks[at] ?? 0));
  const entries = [...sums].sort(([a], [b]) => a - b);
  return { terms: entries.map(([term]) => term), chunks: entries.map(([, chunks]) => chunks) };
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
