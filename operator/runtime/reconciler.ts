/** The interface of a kind to its controller, and the shape of a plan. */
import type { CommonStatus } from '../../crds/index.ts';
import type { KubeObject, Stored } from '../../kube/index.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { adoptionsOf, type Adoption } from '../references/adoptions.ts';
import { referencesOf, type ParleyObject, type Reference } from '../references/references-of.ts';
import { isDeleting, isSuspended, type Managed } from '../status/common.ts';
import type { SnapshotReader } from './snapshot-reader.ts';

/** The controller carries these out, for every kind. */
export type FinalizerAction = { readonly type: 'addFinalizer' } | { readonly type: 'dropFinalizer' } | Adoption;

/**
 * The result of an observation. The actions come first; when they have been carried out the object is observed again, and
 * the status is written once no action is left.
 */
export interface Plan<Action, Status> {
  readonly actions: readonly Action[];
  /** Absent where the object is being deleted and there is nothing to report, or nothing can be concluded yet. */
  readonly status?: Status;
  /** Reconcile again after this long even if nothing happens, in milliseconds. */
  readonly requeueAfterMs?: number;
  /** These are worth an Event in addition to the transitions of `Ready`. */
  readonly notices?: readonly Notice[];
}

export interface Notice {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface ReconcileContext {
  /** Milliseconds since the epoch, the same throughout a reconcile. */
  readonly now: number;
  /** Counts the rounds of planning and acting within the reconcile, from 0. */
  readonly round: number;
  /** Aborts when leadership ends. */
  readonly signal: AbortSignal;
  /** Call it while Postgres is unavailable: the object is reconciled again as soon as it is back. */
  readonly retryWhenPostgresIsBack: () => void;
}

export interface Applied<T extends KubeObject> {
  /** The object after the action, where it changed. */
  readonly object?: Stored<T>;
  /** The action met something else than it was planned for: skip the remaining actions and plan again. */
  readonly replan?: boolean;
}

export interface KeyedQueue {
  enqueue(key: string): void;
  enqueueAll(): void;
}

/** The parts in which one kind differs from the others. */
export interface Reconciler<T extends Managed, Action extends { readonly type: string }, Status> {
  readonly kind: string;
  /** The status fields that a plan decides; other writers own the rest, which is neither compared nor written. */
  readonly statusFields: readonly (keyof Status & string)[];
  plan(object: Stored<T>, context: ReconcileContext): Promise<Plan<Action | FinalizerAction, Status>>;
  apply(action: Action, object: Stored<T>, context: ReconcileContext): Promise<Applied<T>>;
  /** Called when this process begins to lead. Returns what to do when it leads no longer. */
  lead?(queue: KeyedQueue): () => void | Promise<void>;
  /** Forgets what was read from Postgres: another process may have written. Called on taking the lead, and with every resync. */
  refresh?(): void;
  deleted?(object: Stored<T>): void;
  /** Called while this process leads, when Postgres is back or an organisation is gone: objects may have gone without {@link deleted}. */
  catchUp?(): void;
}

export const COMMON_STATUS_FIELDS = ['observedGeneration', 'conditions', 'lastHandledReconcileAt'] as const;

/** A granted permission sends no event: reconcile again after this long, in milliseconds. */
const FORBIDDEN_RECHECK_MS = 30_000;

/**
 * Requeues where no event will announce a change.
 *
 * @param afterMs - what the observation asks for
 */
export function recheck<A, S extends CommonStatus>(plan: Plan<A, S>, afterMs: number = Infinity): Plan<A, S> {
  const forbidden = plan.status?.conditions?.some(
    (condition) => condition.type === 'ResolvedRefs' && condition.reason === 'ReferenceForbidden',
  );
  const requeueAfterMs = Math.min(plan.requeueAfterMs ?? Infinity, afterMs, forbidden === true ? FORBIDDEN_RECHECK_MS : Infinity);
  return requeueAfterMs === Infinity ? plan : { ...plan, requeueAfterMs };
}

/** Takes over first what belongs to the object and lost its owner. */
export function withAdoptions<A, S>(
  object: Managed,
  plan: Plan<A | FinalizerAction, S>,
  snapshot: ClusterSnapshot,
  references: readonly Reference[],
): Plan<A | FinalizerAction, S> {
  if (isDeleting(object) || isSuspended(object)) return plan;
  const adoptions = adoptionsOf(object, references, snapshot);
  return adoptions.length === 0 ? plan : { ...plan, actions: [...adoptions, ...plan.actions] };
}

/**
 * Takes a snapshot of everything the object refers to, and plans.
 *
 * @param text - whether the plan reads the texts of ConfigMaps, too
 */
export async function planFromReferences<T extends Managed & ParleyObject, A, S extends CommonStatus>(
  snapshots: SnapshotReader,
  object: Stored<T>,
  {
    plan,
    text = false,
    signal,
  }: { plan: (snapshot: ClusterSnapshot) => Plan<A | FinalizerAction, S>; text?: boolean; signal: AbortSignal },
): Promise<Plan<A | FinalizerAction, S>> {
  const wanted = isDeleting(object) ? [] : referencesOf(object).map((reference) => ({ reference, text }));
  const { snapshot, recheckAfterMs } = await snapshots.observe(object.metadata.namespace ?? '', () => wanted, signal);
  return recheck(
    withAdoptions(
      object,
      plan(snapshot),
      snapshot,
      wanted.map(({ reference }) => reference),
    ),
    recheckAfterMs,
  );
}
