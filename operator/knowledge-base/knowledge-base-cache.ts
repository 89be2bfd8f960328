import { StoreError, type CollectionSpec, type DocumentRecord, type Store } from '../../store/index.ts';
import type { PostgresOutage, Unavailable } from '../runtime/postgres-outage.ts';
import type { JobStarter } from '../../knowledge/jobs/job-starter.ts';
import type { Superfluous, WantedDocument } from './sources.ts';
import type { KnowledgeView, SourceDocument } from './view.ts';

interface BaseIdentity {
  readonly org: string;
  readonly name: string;
  readonly uid: string;
}

type Known = Extract<KnowledgeView, { readonly state: 'known' }>;

export interface KnowledgeBaseCacheOptions {
  readonly store: Pick<Store, 'knowledge'>;
  readonly outage: PostgresOutage;
  readonly jobs: Pick<JobStarter, 'ingest' | 'clearDocument' | 'clearCollection'>;
}

const DONE = { state: 'known' } as const;
type Done = typeof DONE | Unavailable;

/**
 * Caches what Postgres holds of each knowledge base, and writes through: read on first use, and again after {@link stale}. The worker
 * and the REST API write there, too.
 */
export class KnowledgeBaseCache {
  readonly #options: KnowledgeBaseCacheOptions;
  readonly #entries = new Map<string, { readonly uid: string; readonly known: Known }>();
  /** Models that Postgres refused to mix; kept when documents change. */
  readonly #conflicts = new Map<string, NonNullable<Known['conflict']>>();
  /** Number of documents that each knowledge base had when it was last read. */
  readonly #documents = new Map<string, number>();
  /** Reads under way; their results are not cached where the data changed meanwhile. */
  readonly #reading = new Map<string, symbol>();

  constructor(options: KnowledgeBaseCacheOptions) {
    this.#options = options;
  }

  async view(base: BaseIdentity): Promise<KnowledgeView> {
    const { outage } = this.#options;
    const key = cacheKey(base);
    const entry = this.#entries.get(key);
    if (entry?.uid === base.uid && outage.why === undefined) return this.#withConflict(key, entry.known);
    return outage.guard<KnowledgeView>(async () => {
      const reading = Symbol(key);
      this.#reading.set(key, reading);
      const known = await this.#read(base);
      if (this.#reading.get(key) === reading) {
        this.#reading.delete(key);
        this.#entries.set(key, { uid: base.uid, known });
        this.#documents.set(key, known.documents?.total ?? 0);
      }
      return this.#withConflict(key, known);
    });
  }

  /** @param key `org/name` */
  documentsOf(key: string): number {
    return this.#documents.get(key) ?? 0;
  }

  /** Whether Postgres can be used, as far as is known, without asking it. */
  reachable(): KnowledgeView {
    const { why } = this.#options.outage;
    return why === undefined ? { state: 'known', sourceDocuments: [] } : { state: 'unavailable', why };
  }

  async ensure(spec: CollectionSpec): Promise<Done> {
    return this.#change(spec, async () => {
      try {
        await this.#options.store.knowledge.collections.ensure(spec);
        this.#conflicts.delete(cacheKey(spec));
      } catch (error) {
        if (!(error instanceof StoreError) || error.kind !== 'conflict') throw error;
        this.#conflicts.set(cacheKey(spec), { spec, message: error.message });
      }
    });
  }

  /** Adds a document; its ingestion is started in the background. */
  async ingest(base: BaseIdentity, collectionId: string, wanted: WantedDocument): Promise<Done> {
    const { org } = base;
    return this.#change(base, async () => {
      const { id } = await this.#options.store.knowledge.documents.create({ org, collectionId, ...wanted });
      this.#options.jobs.ingest({
        org,
        knowledgeBase: base.name,
        collectionId,
        documentId: id,
        ...(wanted.bytes !== undefined && { bytes: wanted.bytes }),
      });
    });
  }

  /** Removes a document, or keeps it because it has been completed. */
  async discard(
    base: BaseIdentity,
    collectionId: string,
    { documentId, unlessCompleted }: Superfluous,
  ): Promise<Done | { readonly state: 'kept' }> {
    const { org } = base;
    let gone = false;
    const done = await this.#change(base, async () => {
      gone = await this.#options.store.knowledge.documents.tombstone({ org, id: documentId, collectionId, unlessCompleted });
      if (gone) this.#options.jobs.clearDocument({ org, knowledgeBase: base.name, collectionId, documentId });
    });
    return done.state === 'known' && !gone ? { state: 'kept' } : done;
  }

  /** Removes all documents. */
  async deleteCollection(base: BaseIdentity): Promise<Done> {
    return this.#change(base, async () => {
      const ids = await this.#options.store.knowledge.collections.tombstone(base);
      for (const collectionId of ids) this.#options.jobs.clearCollection({ org: base.org, knowledgeBase: base.name, collectionId });
    });
  }

  /** Releases the collection; its documents are kept for a later knowledge base of this name. */
  async releaseCollection(base: BaseIdentity): Promise<Done> {
    return this.#change(base, () => this.#options.store.knowledge.collections.release(base));
  }

  /** Releases the collections of knowledge bases that went while Postgres was unavailable. */
  async releaseOthers(living: readonly string[], within: string | undefined): Promise<readonly string[]> {
    const released = await this.#options.store.knowledge.collections.releaseOthers(living, within);
    for (const base of released) this.stale(base);
    return released.map(cacheKey);
  }

  /** Drops what is cached, because something changed in Postgres. */
  stale(base: Pick<BaseIdentity, 'org' | 'name'>): void {
    const key = cacheKey(base);
    this.#entries.delete(key);
    this.#reading.delete(key);
  }

  /** Drops what is cached, refusals included. */
  forget(base: Pick<BaseIdentity, 'org' | 'name'>): void {
    this.stale(base);
    this.#conflicts.delete(cacheKey(base));
    this.#documents.delete(cacheKey(base));
  }

  clear(): void {
    this.#entries.clear();
    this.#reading.clear();
    this.#conflicts.clear();
  }

  async #change(base: Pick<BaseIdentity, 'org' | 'name'>, change: () => Promise<void>): Promise<Done> {
    try {
      return await this.#options.outage.guard<Done>(async () => {
        await change();
        return DONE;
      });
    } finally {
      this.stale(base);
    }
  }

  async #read({ org, name }: BaseIdentity): Promise<Known> {
    const { collections, documents } = this.#options.store.knowledge;
    const collection = await collections.byName({ org, name });
    if (collection === undefined) return { state: 'known', sourceDocuments: [] };
    const { id } = collection;
    const [ofSources, overview] = await Promise.all([documents.ofSources({ org, collectionId: id }), collections.overview({ org, id })]);
    const { uid, model, dimension, language, maxTokens, overlapTokens, rerankProfile, workspace } = collection;
    return {
      state: 'known',
      collection: { id, uid, model, dimension, language, maxTokens, overlapTokens, rerankProfile, workspace },
      ...overview,
      sourceDocuments: ofSources.map(toSourceDocument),
    };
  }

  #withConflict(key: string, known: Known): Known {
    const conflict = this.#conflicts.get(key);
    return conflict === undefined ? known : { ...known, conflict };
  }
}

function toSourceDocument(document: DocumentRecord): SourceDocument {
  const { id, status, errorCode } = document;
  // The message of a complete document only counts its chunks, which is irrelevant for its source.
  const incomplete = document.warnings.length > 0 || document.pageOutcomes?.some((page) => page.status === 'failed') === true;
  return {
    id,
    source: document.source ?? '',
    revision: document.sourceRevision ?? '',
    status,
    queued: document.stage === 'queued',
    errorCode,
    message: status === 'failed' || (status === 'completed' && incomplete) ? document.message : '',
    progressAt: document.progressAt.getTime(),
  };
}

function cacheKey({ org, name }: Pick<BaseIdentity, 'org' | 'name'>): string {
  return `${org}/${name}`;
}
