import { wellKnown, type CommonStatus } from '../../crds/index.ts';
import type { Condition, KubeObject } from '../../kube/types.ts';
import { summarize, toConditions, type ConditionStage, type PlannedCondition, type ReadyMessage } from './conditions.ts';

/** An object of one of the six kinds, which its plan starts from. */
export interface Managed extends KubeObject {
  readonly spec: { readonly suspend?: boolean | undefined };
  readonly status?: CommonStatus;
}

/** The part of a status that all kinds share. */
export interface CommonFields {
  observedGeneration: number;
  conditions: Condition[];
  lastHandledReconcileAt?: string;
}

/**
 * Builds the shared part of a status.
 *
 * @param now - milliseconds since the epoch
 * @param ready - see {@link summarize}; `further`: conditions of the kind that change nothing about `Ready`
 */
export function commonFields(
  object: Managed,
  now: number,
  stages: readonly ConditionStage[],
  { further = [], ...ready }: ReadyMessage & { readonly further?: readonly PlannedCondition[] } = { message: '' },
): CommonFields {
  const generation = object.metadata.generation ?? 0;
  const requested = confirmedRequest(object);
  return {
    observedGeneration: generation,
    conditions: toConditions([...summarize(stages, ready), ...further], object.status?.conditions, { generation, now }),
    ...(requested === undefined ? {} : { lastHandledReconcileAt: requested }),
  };
}

/**
 * The status of a suspended object: `Suspended=True` and nothing else but what goes on all the same (`others`), because the other conditions would describe a state
 * that is not observed, and kstatus would wait for a `Ready` that isn't True. What is in use (a serving revision, an identifier) stays in the status. As with Flux, a
 * requested reconcile is ignored until the object is resumed.
 */
export function suspendedStatus<S extends CommonStatus>(
  object: Managed & { readonly status?: S },
  now: number,
  others: readonly PlannedCondition[] = [],
): S {
  const generation = object.metadata.generation ?? 0;
  const condition: PlannedCondition = {
    type: 'Suspended',
    status: 'True',
    reason: 'Suspended',
    message: `${effectOfSuspend(object)}; set it to false to resume`,
  };
  return {
    ...(object.status ?? ({} as S)),
    observedGeneration: generation,
    conditions: toConditions([condition, ...others], object.status?.conditions, { generation, now }),
  };
}

/** Says what `spec.suspend` does. Agents read the specs of their Tools themselves, suspended or not. */
export function effectOfSuspend({ kind }: Pick<KubeObject, 'kind'>): string {
  if (kind === 'Tool') return 'spec.suspend is true, so the status stays as it is; agents follow changes of the spec all the same';
  if (kind === 'WebhookSubscription') return 'spec.suspend is true, so nothing is sent and changes are ignored';
  return 'spec.suspend is true, so changes are ignored';
}

/** Whether a reconcile was requested that the status doesn't confirm yet. */
export function isReconcileRequested(object: Managed): boolean {
  const requested = confirmedRequest(object);
  return requested !== undefined && requested !== object.status?.lastHandledReconcileAt;
}

/** Returns the request as the status confirms it, which takes 256 characters. */
function confirmedRequest({ metadata }: Managed): string | undefined {
  return metadata.annotations?.[wellKnown.reconcileRequestedAt]?.slice(0, 256).toWellFormed();
}

export function isSuspended(object: Managed): boolean {
  return object.spec.suspend === true;
}

export function isDeleting(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

export function hasFinalizer(object: KubeObject): boolean {
  return object.metadata.finalizers?.includes(wellKnown.finalizer) ?? false;
}
