/** Takes on many files at a time: their rows share transactions, and an entry that comes twice is accepted once. */
import type { Transaction } from '../database.ts';
import { StoreError } from '../error.ts';
import { Repository } from '../repository.ts';
import { notifyCollection } from './collections.ts';

/** Identifies an entry that comes again. */
export interface EntryIdentity {
  /** The key under which the entry is stored once; see {@link submissionKey}. */
  readonly key: string;
  /** Set for an entry that its content identifies: a file of this content that was uploaded by itself is the same, too. */
  readonly sha256?: string | undefined;
}

export interface NewFile extends EntryIdentity {
  readonly id: string;
  readonly filename: string;
  readonly extension: string;
  readonly objectKey: string;
  readonly bytes: number;
  readonly contentSha256: string;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
}

interface Place {
  readonly org: string;
  readonly collectionId: string;
}

/** @param given - the client's name for the entry; undefined where its content identifies it */
export function submissionKey({ given, sha256 }: { readonly given: string | undefined; readonly sha256: string }): EntryIdentity {
  return given === undefined ? { key: `sha256:${sha256}`, sha256 } : { key: `key:${given}` };
}

export class BulkDocuments extends Repository {
  /** Returns documents that were made of these entries before, by key; failed and deleted ones do not count. */
  async known({ org, collectionId }: Place, entries: readonly EntryIdentity[]): Promise<ReadonlyMap<string, string>> {
    return this.database.asOrganization(org, (transaction) => knownIn(transaction, { org, collectionId }, entries));
  }

  /**
   * Takes files on as `processing`, all in one transaction. Keys have to differ.
   * @returns the document of each key: the new one, or another that took the key before
   * @throws StoreError `not_found` when the collection is gone
   */
  async create(
    { org, collectionId, createdBy }: Place & { readonly createdBy: string | null },
    files: readonly NewFile[],
  ): Promise<ReadonlyMap<string, string>> {
    if (files.length === 0) return new Map();
    return this.database.asOrganization(org, async (transaction) => {
      // The row lock holds off a deletion that would miss the new documents.
      const collection = await transaction.query(
        'SELECT FROM parley.collections WHERE org = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE',
        [org, collectionId],
      );
      if (collection.rowCount === 0) throw new StoreError('not_found', 'the knowledge base is gone');
      const rows = files.map(({ id, key, filename, extension, objectKey, bytes, contentSha256, metadata }) => ({
        id,
        submission_key: key,
        filename,
        extension,
        object_key: objectKey,
        bytes,
        sha256: contentSha256,
        metadata,
      }));
      // The order of the keys lets two requests with the same entries wait for each other without a deadlock.
      const { rows: created } = await transaction.query<{ id: string; key: string }>(
        `INSERT INTO parley.documents
           (org, id, collection_id, kind, filename, extension, object_key, bytes, sha256, metadata, submission_key, created_by)
         SELECT $1, f.id, $2, 'file', f.filename, f.extension, f.object_key, f.bytes, f.sha256, f.metadata, f.submission_key, $4
         FROM jsonb_to_recordset($3::jsonb) AS f(id text, filename text, extension text, object_key text, bytes bigint, sha256 text,
           metadata jsonb, submission_key text)
         ORDER BY f.submission_key
         ON CONFLICT (org, collection_id, submission_key) WHERE submission_key IS NOT NULL AND deleted_at IS NULL AND status <> 'failed'
           DO NOTHING
         RETURNING id, submission_key AS key`,
        [org, collectionId, JSON.stringify(rows), createdBy],
      );
      const documents = new Map(created.map(({ id, key }) => [key, id]));
      const lost = files.filter(({ key }) => !documents.has(key));
      if (lost.length > 0) {
        const others = await knownIn(transaction, { org, collectionId }, lost);
        for (const [key, id] of others) documents.set(key, id);
      }
      const missing = files.find(({ key }) => !documents.has(key));
      // The document has failed or was deleted since the conflict: sent again, the entry is accepted.
      if (missing !== undefined) throw new StoreError('unavailable', `document ${missing.filename}: changed at this moment`);
      await notifyCollection(transaction, org, collectionId, { last: true });
      return documents;
    });
  }
}

async function knownIn(
  transaction: Transaction,
  { org, collectionId }: Place,
  entries: readonly EntryIdentity[],
): Promise<ReadonlyMap<string, string>> {
  const hashes = entries.flatMap(({ sha256 }) => sha256 ?? []);
  const { rows } = await transaction.query<{ id: string; key: string | null; sha256: string | null }>(
    `SELECT id, submission_key AS key, NULL AS sha256 FROM parley.documents
     WHERE org = $1 AND collection_id = $2 AND submission_key = ANY ($3) AND deleted_at IS NULL AND status <> 'failed'
     UNION ALL
     SELECT id, NULL, sha256 FROM parley.documents
     WHERE org = $1 AND collection_id = $2 AND sha256 = ANY ($4) AND deleted_at IS NULL AND status <> 'failed'`,
    [org, collectionId, entries.map(({ key }) => key), hashes],
  );
  const byKey = new Map(rows.flatMap(({ id, key }) => (key === null ? [] : [[key, id] as const])));
  const byContent = new Map(rows.flatMap(({ id, sha256 }) => (sha256 === null ? [] : [[sha256, id] as const])));
  return new Map(
    entries.flatMap(({ key, sha256 }) => {
      const id = byKey.get(key) ?? (sha256 === undefined ? undefined : byContent.get(sha256));
      return id === undefined ? [] : [[key, id] as const];
    }),
  );
}
