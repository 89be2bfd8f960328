/** Collections: the rows of a KnowledgeBase that hold its documents together, with the settings that all of its vectors share. */
import { uuidv7 } from '../../platform/uuid.ts';
import type { StatementOptions, Transaction } from '../database.ts';
import { StoreError } from '../error.ts';
import { Repository } from '../repository.ts';

export interface CollectionSpec {
  readonly org: string;
  /** Name of the KnowledgeBase resource. */
  readonly name: string;
  readonly uid: string;
  readonly profile: string;
  readonly model: string;
  /** 0 for a profile without dense vectors. */
  readonly dimension: number;
  /** BCP 47 tag. */
  readonly language: string;
  readonly maxTokens: number;
  readonly overlapTokens: number;
  /** Name of the profile whose model reranks hits of searches; undefined for none. */
  readonly rerankProfile?: string | undefined;
  /** Value of the resource's workspace label; undefined for none. The collection's events carry it. */
  readonly workspace?: string | undefined;
}

export interface Collection extends CollectionSpec {
  /** `col_` and a UUIDv7; never reused. */
  readonly id: string;
  /** Chunks that searches can find. */
  readonly chunkCount: number;
  /** Terms in all chunks that searches can find. */
  readonly termTotal: number;
  readonly createdAt: Date;
  readonly released: boolean;
  readonly deleted: boolean;
}

export interface CollectionOverview {
  readonly documents: { readonly total: number; readonly processing: number; readonly completed: number; readonly failed: number };
  readonly chunks: number;
}

/**
 * The columns that {@link fromCollectionRow} reads. They are named, so that a plan that a connection keeps stands when a column is added.
 */
export const COLLECTION_COLUMNS = `org, id, name, uid, profile, model, dimension, language, max_tokens AS "maxTokens", overlap_tokens AS "overlapTokens",
  chunk_count::float8 AS "chunkCount", term_total::float8 AS "termTotal", rerank_profile AS "rerankProfile",
  workspace, created_at AS "createdAt", released_at IS NOT NULL AS released, deleted_at IS NOT NULL AS deleted`;

export interface CollectionRow extends Omit<Collection, 'rerankProfile' | 'workspace'> {
  readonly rerankProfile: string | null;
  readonly workspace: string | null;
}

/** Channel that announces every change of a collection or its documents, as `organisation/name`. */
export const KNOWLEDGE_CHANNEL = 'parley_knowledge';

/** Rows of a deleted collection that one transaction deletes, so that none takes long. */
const REMOVED_AT_ONCE = 20_000;

const ofName = `SELECT ${COLLECTION_COLUMNS} FROM parley.collections WHERE org = $1 AND name = $2 AND deleted_at IS NULL`;

export class Collections extends Repository {
  /**
   * Returns the collection of a KnowledgeBase, and creates it if it does not exist. Kept documents of a former resource of this name are
   * taken over. Language and chunking follow the resource and hold for documents to come.
   *
   * @throws StoreError `conflict` when the documents that are there were embedded with another model
   */
  async ensure(spec: CollectionSpec): Promise<Collection> {
    const { org, name, uid, profile, model, dimension, language, maxTokens, overlapTokens, rerankProfile = null, workspace = null } = spec;
    return this.database.asOrganization(org, async (transaction) => {
      const known = await this.#byName(transaction, org, name);
      if (known !== undefined && sameSpec(known, spec) && !known.released) return known;
      if (known === undefined) {
        await transaction.query('INSERT INTO parley.organizations (name) VALUES ($1) ON CONFLICT DO NOTHING', [org]);
        await transaction.query(
          `INSERT INTO parley.collections (org, id, name, uid, profile, model, dimension, language, max_tokens, overlap_tokens, workspace, rerank_profile)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (org, name) WHERE deleted_at IS NULL DO NOTHING`,
          [org, `col_${uuidv7()}`, name, uid, profile, model, dimension, language, maxTokens, overlapTokens, workspace, rerankProfile],
        );
      } else requireSameModel(known, spec);
      await transaction.query(
        `UPDATE parley.collections SET uid = $3, profile = $4, language = $5, max_tokens = $6, overlap_tokens = $7, workspace = $8,
           rerank_profile = $9, released_at = NULL
         WHERE org = $1 AND name = $2 AND deleted_at IS NULL`,
        [org, name, uid, profile, language, maxTokens, overlapTokens, workspace, rerankProfile],
      );
      const made = await this.#byName(transaction, org, name);
      if (made === undefined) throw new StoreError('unavailable', `knowledge base ${name}: deleted at this moment`);
      requireSameModel(made, spec);
      return made;
    });
  }

  /** Returns undefined for a deleted or released collection. */
  async byName({ org, name }: { readonly org: string; readonly name: string }): Promise<Collection | undefined> {
    if (name.includes('\u0000')) return undefined;
    const { rows } = await this.database.queryAs<CollectionRow>(org, ofName, [org, name]);
    const found = rows[0] && fromCollectionRow(rows[0]);
    return found?.released === true ? undefined : found;
  }

  /** Returns the collection whatever its state. */
  async get({ org, id }: { readonly org: string; readonly id: string }): Promise<Collection | undefined> {
    const { rows } = await this.database.queryAs<CollectionRow>(
      org,
      `SELECT ${COLLECTION_COLUMNS} FROM parley.collections WHERE org = $1 AND id = $2`,
      [org, id],
    );
    return rows[0] && fromCollectionRow(rows[0]);
  }

  /** Marks the collection of a deleted resource as released; its documents are kept. Idempotent. */
  async release({ org, uid }: { readonly org: string; readonly uid: string }): Promise<void> {
    await this.database.queryAs(
      org,
      'UPDATE parley.collections SET released_at = now() WHERE org = $1 AND uid = $2 AND released_at IS NULL AND deleted_at IS NULL',
      [org, uid],
    );
  }

  /**
   * Releases every collection whose knowledge base is gone, as {@link release} does.
   * @param living uids of the knowledge bases that exist
   * @param within the only organisation to look at; all of them where absent
   */
  async releaseOthers(living: readonly string[], within?: string): Promise<readonly { readonly org: string; readonly name: string }[]> {
    return this.database.query<{ org: string; name: string }>('SELECT org, name FROM parley.release_collections($1, $2)', [
      living,
      within ?? null,
    ]);
  }

  /**
   * Hides the collection from searches from the moment this returns. Idempotent.
   * @returns the ids of the collections that are left to be cleared away, usually one
   */
  async tombstone({ org, uid }: { readonly org: string; readonly uid: string }): Promise<readonly string[]> {
    return this.database.asOrganization(org, async (transaction) => {
      await transaction.query('UPDATE parley.collections SET deleted_at = now() WHERE org = $1 AND uid = $2 AND deleted_at IS NULL', [
        org,
        uid,
      ]);
      const { rows } = await transaction.query<{ id: string }>(
        'SELECT id FROM parley.collections WHERE org = $1 AND uid = $2 AND deleted_at IS NOT NULL',
        [org, uid],
      );
      return rows.map(({ id }) => id);
    });
  }

  /** Returns deleted collections that still have rows. */
  async tombstoned(org: string): Promise<readonly Collection[]> {
    const { rows } = await this.database.queryAs<CollectionRow>(
      org,
      `SELECT ${COLLECTION_COLUMNS} FROM parley.collections WHERE org = $1 AND deleted_at IS NOT NULL ORDER BY id LIMIT 100`,
      [org],
    );
    return rows.map(fromCollectionRow);
  }

  /** Returns all collections that are not deleted, sorted by id. */
  async list(org: string): Promise<readonly Collection[]> {
    const { rows } = await this.database.queryAs<CollectionRow>(
      org,
      `SELECT ${COLLECTION_COLUMNS} FROM parley.collections WHERE org = $1 AND deleted_at IS NULL ORDER BY id`,
      [org],
    );
    return rows.map(fromCollectionRow);
  }

  /** Deletes the last rows of a deleted collection whose documents are gone. Idempotent. */
  async remove({ org, id }: { readonly org: string; readonly id: string }): Promise<void> {
    for (let deleted = REMOVED_AT_ONCE; deleted === REMOVED_AT_ONCE;) {
      ({ rowCount: deleted } = await this.database.queryAs(
        org,
        `DELETE FROM parley.term_frequencies WHERE org = $1 AND collection_id = $2 AND term = ANY(ARRAY(
             SELECT term FROM parley.term_frequencies WHERE org = $1 AND collection_id = $2 LIMIT ${REMOVED_AT_ONCE}))`,
        [org, id],
      ));
    }
    await this.database.asOrganization(org, async (transaction) => {
      await transaction.query('DELETE FROM parley.collections WHERE org = $1 AND id = $2 AND deleted_at IS NOT NULL', [org, id]);
    });
  }

  /** Returns the figures for the resource's status. */
  async overview({ org, id }: { readonly org: string; readonly id: string }): Promise<CollectionOverview> {
    const { rows } = await this.database.queryAs<{ processing: number; completed: number; failed: number; chunks: string }>(
      org,
      `SELECT count(*) FILTER (WHERE status = 'processing')::int AS processing, count(*) FILTER (WHERE status = 'completed')::int AS completed,
         count(*) FILTER (WHERE status = 'failed')::int AS failed, coalesce(sum(chunk_count) FILTER (WHERE status = 'completed'), 0) AS chunks
       FROM parley.documents WHERE org = $1 AND collection_id = $2 AND deleted_at IS NULL`,
      [org, id],
    );
    const { processing = 0, completed = 0, failed = 0, chunks = '0' } = rows[0] ?? {};
    return { documents: { total: processing + completed + failed, processing, completed, failed }, chunks: Number(chunks) };
  }

  /** Counts the documents in each of the named collections, by state; a collection without any isn't in the answer. */
  async documentCounts({
    org,
    names,
  }: {
    readonly org: string;
    readonly names: readonly string[];
  }): Promise<ReadonlyMap<string, CollectionOverview['documents']>> {
    const { rows } = await this.database.queryAs<CollectionOverview['documents'] & { readonly name: string }>(
      org,
      `SELECT c.name, count(*)::int AS total, count(*) FILTER (WHERE d.status = 'processing')::int AS processing,
         count(*) FILTER (WHERE d.status = 'completed')::int AS completed, count(*) FILTER (WHERE d.status = 'failed')::int AS failed
       FROM parley.collections c
       JOIN parley.documents d ON d.org = c.org AND d.collection_id = c.id AND d.deleted_at IS NULL
       WHERE c.org = $1 AND c.name = ANY ($2) AND c.deleted_at IS NULL AND c.released_at IS NULL GROUP BY c.name`,
      [org, names],
    );
    return new Map(rows.map(({ name, ...counts }) => [name, counts]));
  }

  async #byName(transaction: Transaction, org: string, name: string): Promise<Collection | undefined> {
    const { rows } = await transaction.query<CollectionRow>(ofName, [org, name]);
    return rows[0] && fromCollectionRow(rows[0]);
  }
}

/** Notifies watchers with the commit. */
export async function notifyCollection(
  transaction: Transaction,
  org: string,
  collectionId: string,
  options?: Pick<StatementOptions, 'last'>,
): Promise<void> {
  await transaction.query(
    `SELECT pg_notify('${KNOWLEDGE_CHANNEL}', org || '/' || name) FROM parley.collections WHERE org = $1 AND id = $2 AND deleted_at IS NULL`,
    [org, collectionId],
    options,
  );
}

function sameSpec(known: Collection, spec: CollectionSpec): boolean {
  return (Object.keys(spec) as (keyof CollectionSpec)[]).every((key) => known[key] === spec[key]);
}

function requireSameModel(known: Collection, spec: CollectionSpec): void {
  if (known.model === spec.model && known.dimension === spec.dimension) return;
  const describe = ({ model, dimension }: CollectionSpec): string => `model "${model}" (${dimension} dimensions)`;
  throw new StoreError(
    'conflict',
    `knowledge base ${spec.name}: its documents were embedded with ${describe(known)}, profile "${spec.profile}" stands for ${describe(spec)}: ` +
      'vectors of two models cannot be mixed; change the profile back, or make a knowledge base of another name',
  );
}

export function fromCollectionRow({ rerankProfile, workspace, ...row }: CollectionRow): Collection {
  return { ...row, rerankProfile: rerankProfile ?? undefined, workspace: workspace ?? undefined };
}
