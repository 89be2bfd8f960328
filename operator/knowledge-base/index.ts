import { wellKnown, type KnowledgeBase, type KnowledgeBaseStatus } from '../../crds/index.ts';
import type { ResourceClient, Stored } from '../../kube/index.ts';
import { StoreError } from '../../store/index.ts';
import { knowledgeBaseReferences } from '../references/references-of.ts';
import { namespaceOf, type WorldReader } from '../runtime/cluster-world.ts';
import type { Carried, KindLogic } from '../runtime/controller.ts';
import { setFinalizer } from '../runtime/finalizer.ts';
import type { Plan } from '../runtime/plan.ts';
import { recheck } from '../runtime/recheck.ts';
import { isDeleting, isSuspended } from '../status/common.ts';
import type { KnowledgeBook } from './knowledge-book.ts';
import { planKnowledgeBase, type EmbeddingProfile, type KnowledgeBaseAction } from './plan.ts';
import type { KnowledgeView } from './view.ts';

export interface KnowledgeBaseLogicOptions {
  readonly client: ResourceClient<KnowledgeBase>;
  readonly worlds: WorldReader;
  readonly book: KnowledgeBook;
  readonly profiles: readonly EmbeddingProfile[];
  /** Name of the vector store. */
  readonly store: string;
  readonly deletionGraceMs: number;
  /** Told which knowledge bases wait for Postgres. */
  readonly onWaiting: (key: string) => void;
}

export function knowledgeBaseLogic(options: KnowledgeBaseLogicOptions): KindLogic<KnowledgeBase, KnowledgeBaseAction, KnowledgeBaseStatus> {
  const { client, worlds, book, profiles, store, deletionGraceMs, onWaiting } = options;

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
      const { world, recheckAfterMs } = await worlds.observe(namespace, () => wanted, signal);
      return recheck(planKnowledgeBase(knowledgeBase, world, view, { now, profiles, store, deletionGraceMs }), recheckAfterMs);
    },

    async carryOut(action, knowledgeBase, context): Promise<Carried<KnowledgeBase>> {
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
function replanUnlessDone({ state }: { readonly state: 'known' | 'unavailable' | 'gone' | 'kept' }): Carried<KnowledgeBase> {
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
