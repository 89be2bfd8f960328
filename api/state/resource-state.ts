/** Decides whether a resource is in use as REST shows it, from its operator's reports. Pure. */
import { findSummary, type CommonStatus } from '../../crds/kind.ts';
import type { Stored, KubeObject } from '../../kube/types.ts';

export interface ResourceState {
  readonly ready: boolean;
  /** A reason of the condition `Ready`, `Reconciling`, or `AgentNotReady` of a tool. */
  readonly reason: string;
  readonly message: string;
}

type Reported = Stored<KubeObject> & { readonly status?: CommonStatus };

export const RECONCILING = {
  ready: false,
  reason: 'Reconciling',
  message: 'the operator has not acted upon the last change yet; ask again in a moment',
} as const satisfies ResourceState;

export function stateOf(object: Reported): ResourceState {
  const { metadata, status } = object;
  if (metadata.deletionTimestamp !== undefined) return { ready: false, reason: 'Deleting', message: 'it is being deleted' };
  const ready = findSummary(object);
  if (ready === undefined || (status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return RECONCILING;
  return { ready: ready.type === 'Ready' && ready.status === 'True', reason: ready.reason, message: ready.message };
}

/**
 * Returns the state of an object that names other resources: while one of them is gone, "ready" is an old report from before.
 *
 * @param exists whether the resource of this name exists, as far as this process knows
 */
export function stateWithReferences(object: Reported, names: readonly string[], exists: (name: string) => boolean): ResourceState {
  const reported = stateOf(object);
  return reported.ready && !names.every(exists) ? RECONCILING : reported;
}
