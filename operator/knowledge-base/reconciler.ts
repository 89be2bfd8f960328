import { wellKnown, type KnowledgeBase, type KnowledgeBaseStatus } from '../../crds/index.ts';
import type { ResourceClient, Stored } from '../../kube/index.ts';
import { StoreError } from '../../store/index.ts';
import { knowledgeBaseReferences } from '../references/references-of.ts';
import { namespaceOf, type SnapshotReader } from '../runtime/snapshot-reader.ts';
import type { Applied, Reconciler } from '../runtime/controller.ts';
import { setFinalizer } from '../runtime/finalizer.ts';
import type { Plan } from '../runtime/plan.ts';
import { recheck } from '../runtime/recheck.ts';
import { isDeleting, isSuspended } from '../status/common.ts';
import type { KnowledgeBaseCache } from './knowledge-base-cache.ts';
import { planKnowledgeBase, type EmbeddingProfile, type KnowledgeBaseAction } from './plan.ts';
import type { KnowledgeView } from './view.ts';

export interface KnowledgeBaseReconcilerOptions {
  readonly client: ResourceClient<KnowledgeBase>;
  readonly snapshots: SnapshotReader;
  readonly book: KnowledgeBaseCache;
  readonly profiles: readonly EmbeddingProfile[];
  /** Name of the vector store. */
  readonly store: string;
  readonly deletionGraceMs: number;
  /** Told which knowledge bases wait for Postgres. */
  readonly onWaiting: (key: string) => void;
}

export function knowledgeBaseReconciler(options: KnowledgeBaseReconcilerOptions): Reconciler<KnowledgeBase, KnowledgeBaseAction, KnowledgeBaseStatus> {
  const { client, snapshots, book, profiles, store, deletionGraceMs, onWaiting } = options;

  const look = async (knowledgeBase: Stored<KnowledgeBase>): Promise<KnowledgeView> => {
    if (isDeleting(knowledgeBase)) return book.reachable();
    return isSuspended(knowledgeBase) ? { state: 'known', sourceDocuments: [] } : book.view(identityOf(knowledgeBase));
  };

  return {
    kind: 'KnowledgeBase',
    statusFields: ['observedGeneration', 'conditions', 'lastHandledReconcileAt', 'embedding', 'store', 'documents', 'chunks', 'sources'],

    async decide(knowledgeBase, { now, signal }): Promise<Plan<KnowledgeBaseAction, KnowledgeBaseStatus>> {
      const namespace = namespaceOf(knowledgeBase);
      const requested = knowledgeBase.metadata.annotations?.[wellKnown.reconcileRequestedAt];
      // Who asks for a reconcile suspects that something is not as it seems: Postgres is asked too.
      if (requested !== undefined && requested !== knowledgeBase.status?.lastHandledReconcileAt) book.forget(identityOf(knowledgeBase));
      const view = await look(knowledgeBase);
      if (view.state === 'unavailable') onWaiting(`${namespace}/${knowledgeBase.metadata.name}`);
      const wanted = isDeleting(knowledgeBase)
        ? []
        : knowledgeBaseReferences(knowledgeBase).map((reference) => ({ reference, text: true }));
      const { snapshot, recheckAfterMs } = await snapshots.observe(namespace, () => wanted, signal);
      return recheck(planKnowledgeBase(knowledgeBase, snapshot, view, { now, profiles, store, deletionGraceMs }), recheckAfterMs);
    },

    async apply(action, knowledgeBase, context): Promise<Applied<KnowledgeBase>> {
      const base = identityOf(knowledgeBase);
      switch (action.type) {
        case 'addFinalizer':
          return { object: await setFinalizer(client, knowledgeBase, true, context) };
        case 'dropFinalizer': {
          const object = await setFinalizer(client, knowledgeBase, false, context);
          book.forget(base);
          return { object };
        }
        case 'ensureCollection':
          return replanUnlessDone(await book.ensure(action.spec));
        case 'ingest':
          return replanUnlessDone(await unlessGone(() => book.ingest(base, action.collectionId, action.document)));
        case 'discard':
          return replanUnlessDone(await book.discard(base, action.collectionId, action));
        case 'deleteCollection':
          return replanUnlessDone(await book.deleteCollection(base));
        default:
          return replanUnlessDone(await book.releaseCollection(base));
      }
    },
  };
}

function identityOf(knowledgeBase: Stored<KnowledgeBase>): { readonly org: string; readonly name: string; readonly uid: string } {
  const { name, uid } = knowledgeBase.metadata;
  return { org: namespaceOf(knowledgeBase), name, uid };
}

/** Whatever the world turned out to be, the next look at it shows it. */
function replanUnlessDone({ state }: { readonly state: 'known' | 'unavailable' | 'gone' | 'kept' }): Applied<KnowledgeBase> {
  return { replan: state !== 'known' };
}

/** Somebody deleted the collection between the look at it and the action. */
async function unlessGone<T>(action: () => Promise<T>): Promise<T | { readonly state: 'gone' }> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'not_found') return { state: 'gone' };
    throw error;
  }
}
