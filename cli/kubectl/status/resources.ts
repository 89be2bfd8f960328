/** Sums a resource's conditions up in one word and with the cure. Pure. */
import type { CommonStatus } from '../../../crds/index.ts';
import { findCondition } from '../../../crds/kind.ts';
import type { KubeObject } from '../../../kube/index.ts';
import { effectOfSuspend } from '../../../operator/status/common.ts';
import { reasons, type Reason } from '../../../operator/status/reasons.ts';

/** `stalled` waits for a person to change something. */
export type ReportedState = 'ready' | 'not ready' | 'stalled' | 'suspended';

export interface ResourceReport {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: ReportedState;
  /** Status of the condition Ready: True, False or Unknown. */
  readonly ready: string;
  readonly reason: string;
  readonly message: string;
  readonly cure?: string;
  readonly createdAt: string | undefined;
  /** Time since which it has been in this state. */
  readonly since: string | undefined;
}

export interface WithStatus extends KubeObject {
  readonly spec?: { readonly suspend?: boolean | undefined };
  readonly status?: CommonStatus | undefined;
}

export function reportResource(object: WithStatus): ResourceReport {
  const { namespace = '', name, creationTimestamp, generation } = object.metadata;
  const ready = findCondition(object, 'Ready');
  const about = { kind: object.kind, namespace, name, createdAt: creationTimestamp };
  const since = ready?.lastTransitionTime;
  if (object.metadata.deletionTimestamp !== undefined) {
    const message = ready?.reason === 'Deleting' ? ready.message : `asked for at ${object.metadata.deletionTimestamp}`;
    return {
      ...about,
      state: 'not ready',
      ready: 'False',
      reason: 'Deleting',
      message,
      since: object.metadata.deletionTimestamp,
      cure: 'Wait; `explain` shows what holds it up.',
    };
  }
  if (object.spec?.suspend === true) {
    const message = effectOfSuspend(object);
    return { ...about, state: 'suspended', ready: ready?.status ?? 'Unknown', reason: 'Suspended', message, since, ...cure('Suspended') };
  }
  if (ready === undefined || object.status?.observedGeneration !== generation) {
    return {
      ...about,
      state: 'not ready',
      ready: 'Unknown',
      reason: 'NotObserved',
      message: 'the operator has not looked at its present state yet',
      since: undefined,
      cure: 'Wait a moment; if nothing changes, check that an operator is running.',
    };
  }
  const { status: value, reason, message } = ready;
  if (value === 'True') return { ...about, state: 'ready', ready: value, reason, message, since };
  const state = findCondition(object, 'Stalled')?.status === 'True' ? 'stalled' : 'not ready';
  return { ...about, state, ready: value, reason, message, since, ...cure(reason) };
}

function cure(reason: string): { readonly cure?: string } {
  const known = Object.hasOwn(reasons, reason) ? reasons[reason as Reason].cure : undefined;
  return { cure: known ?? 'Wait; the operator retries by itself.' };
}
