import type { KnowledgeBase, KnowledgeBaseStatus } from '../../crds/index.ts';
import type { Stored } from '../../kube/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { StoreError, type Store } from '../../store/index.ts';
import type { Sweep } from '../runtime/sweep.ts';
import { KeyedThrottle } from '../runtime/keyed-throttle.ts';
import { COMMON_STATUS_FIELDS, planFromReferences, type Applied, type KeyedQueue, type Reconciler } from '../runtime/reconciler.ts';
import { namespaceOf, type SnapshotReader } from '../runtime/snapshot-reader.ts';
import { isDeleting, isReconcileRequested, isSuspended } from '../status/common.ts';
import type { KnowledgeBaseCache } from './knowledge-base-cache.ts';
import { planKnowledgeBase, type ConfiguredProfile, type KnowledgeBaseAction } from './plan.ts';
import type { KnowledgeView } from './view.ts';

export interface KnowledgeBaseReconcilerOptions {
  readonly snapshots: SnapshotReader;
  readonly cache: KnowledgeBaseCache;
  /** Notifies of what others change in Postgres. */
  readonly changes: Pick<Store['knowledge'], 'listen'>;
  readonly clock: Clock;
  readonly profiles: readonly ConfiguredProfile[];
  readonly rerankProfiles: readonly Pick<ConfiguredProfile, 'name'>[];
  readonly store: string;
  readonly deletionGraceMs: number;
  readonly sweep: Pick<Sweep<KnowledgeBase>, 'lead' | 'run'>;
}

/** Documents that come and go in a knowledge base show in its status this often, in milliseconds. */
const DOCUMENTS_MS = 2_000;
/** Milliseconds of the interval for each document of a knowledge base, which are counted each time: a million of them every 20 s. */
const COUNTED_MS = 0.02;

export function knowledgeBaseReconciler(
  options: KnowledgeBaseReconcilerOptions,
): Reconciler<KnowledgeBase, KnowledgeBaseAction, KnowledgeBaseStatus> {
  const { snapshots, cache, changes, clock, profiles, rerankProfiles, store, deletionGraceMs, sweep } = options;

  const viewOf = async (knowledgeBase: Stored<KnowledgeBase>): Promise<KnowledgeView> => {
    if (isDeleting(knowledgeBase)) return cache.reachable();
    return isSuspended(knowledgeBase) ? { state: 'known', sourceDocuments: [] } : cache.view(identityOf(knowledgeBase));
  };

  return {
    kind: 'KnowledgeBase',
    statusFields: [...COMMON_STATUS_FIELDS, 'embedding', 'store', 'documents', 'chunks', 'sources'],

    async plan(knowledgeBase, { now, round, signal, retryWhenPostgresIsBack }) {
      // A requested reconcile means that a user suspects a problem: Postgres is read, too. Once: later rounds need its refusal.
      if (round === 0 && isReconcileRequested(knowledgeBase)) cache.forget(identityOf(knowledgeBase));
      const view = await viewOf(knowledgeBase);
      if (view.state === 'unavailable') retryWhenPostgresIsBack();
      return planFromReferences(snapshots, knowledgeBase, {
        plan: (snapshot) => planKnowledgeBase(knowledgeBase, snapshot, view, { now, profiles, rerankProfiles, store, deletionGraceMs }),
        text: true,
        signal,
      });
    },

    async apply(action, knowledgeBase) {
      const base = identityOf(knowledgeBase);
      switch (action.type) {
        case 'ensureCollection':
          return replanUnlessDone(await cache.ensure(action.spec));
        case 'ingest':
          return replanUnlessDone(await unlessGone(() => cache.ingest(base, action.collectionId, action.document)));
        case 'discard':
          return replanUnlessDone(await cache.discard(base, action.collectionId, action));
        case 'deleteCollection':
          return replanUnlessDone(await cache.deleteCollection(base));
        default:
          return replanUnlessDone(await cache.releaseCollection(base));
      }
    },

    lead(queue) {
      const endSweep = sweep.lead(queue);
      const endFollowing = followDocuments({ cache, changes, clock }, queue);
      return async () => {
        endSweep();
        await endFollowing();
      };
    },
    refresh() {
      cache.clear();
      sweep.run();
    },
    catchUp: sweep.run,
    deleted: (knowledgeBase) => cache.forget(identityOf(knowledgeBase)),
  };
}

interface DocumentsToFollow extends Pick<KnowledgeBaseReconcilerOptions, 'changes' | 'clock'> {
  readonly cache: Pick<KnowledgeBaseCache, 'stale' | 'documentsOf' | 'clear'>;
}

/** Reconciles a knowledge base when its documents change: at once, and then once for each interval. @returns what ends it */
export function followDocuments({ cache, changes, clock }: DocumentsToFollow, queue: KeyedQueue): () => Promise<void> {
  const everyMs = (key: string): number => Math.max(DOCUMENTS_MS, cache.documentsOf(key) * COUNTED_MS);
  const throttle = new KeyedThrottle({ clock, everyMs, emit: (key) => queue.enqueue(key) });
  const listening = changes.listen({
    onChange: (base) => {
      // The cache forgets at once: a reconcile for another reason must see the change.
      cache.stale(base);
      throttle.add(`${base.org}/${base.name}`);
    },
    onListening: () => {
      cache.clear();
      queue.enqueueAll();
    },
  });
  return async () => {
    await listening.stop();
    throttle.clear();
  };
}

function identityOf(knowledgeBase: Stored<KnowledgeBase>): { readonly org: string; readonly name: string; readonly uid: string } {
  const { name, uid } = knowledgeBase.metadata;
  return { org: namespaceOf(knowledgeBase), name, uid };
}

function replanUnlessDone({ state }: { readonly state: 'known' | 'unavailable' | 'gone' | 'kept' }): Applied<KnowledgeBase> {
  return { replan: state !== 'known' };
}

/** Returns `gone` where the collection was deleted between the observation and the action. */
async function unlessGone<T>(action: () => Promise<T>): Promise<T | { readonly state: 'gone' }> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'not_found') return { state: 'gone' };
    throw error;
  }
}
