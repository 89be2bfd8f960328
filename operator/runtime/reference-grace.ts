/**
 * What an object names may come a little later: External Secrets, or the next objects of the same sync. Until a grace period
 * is over such an object is `Reconciling`, which kstatus calls InProgress, and not `Stalled`, on which Flux gives up.
 */
import type { CommonStatus } from '../../crds/index.ts';
import type { Condition } from '../../kube/types.ts';
import type { Plan } from './reconciler.ts';
import type { Managed } from '../status/common.ts';
import { findCondition } from '../../crds/kind.ts';
import { timestamp } from '../../kube/timestamps.ts';
import type { Reason } from '../status/reasons.ts';

/** Reasons for something that is missing, and may be about to come. */
const AWAITED: ReadonlySet<string> = new Set<Reason>([
  'SecretNotFound',
  'SecretKeyNotFound',
  'ConfigMapNotFound',
  'ConfigMapKeyNotFound',
  'AgentNotFound',
  'KnowledgeBaseNotFound',
  'ToolNotUsable',
]);

interface WithDependencies {
  /** The Tools and the KnowledgeBase of an Agent. */
  readonly observedDependenciesDigest?: string | undefined;
}

type Observed = Managed & { readonly status?: CommonStatus & WithDependencies };

export interface ReferenceGrace {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long a reference that is not there yet is waited for, in milliseconds. */
  readonly graceMs: number;
}

/**
 * Returns the plan with `Reconciling` in place of `Stalled` while the grace lasts: what was never there may come, and what is lost may be back
 * in seconds, for External Secrets and SOPS delete and create. What stalled for the same generation before stays so.
 */
export function withReferenceGrace<A, S extends CommonStatus>(
  object: Observed,
  plan: Plan<A, S>,
  { now, graceMs }: ReferenceGrace,
): Plan<A, S> {
  const { status } = plan;
  const stalled = findCondition({ status }, 'Stalled');
  if (status === undefined || stalled === undefined || !AWAITED.has(stalled.reason)) return plan;
  const since = waitingSince(object, (status as CommonStatus & WithDependencies).observedDependenciesDigest, now);
  if (since === undefined || now >= since + graceMs) return plan;
  const waiting: Condition = {
    ...stalled,
    type: 'Reconciling',
    reason: 'WaitingForReferences',
    message: `${stalled.message}; waiting for it until ${timestamp(since + graceMs)}`,
    lastTransitionTime: timestamp(since),
  };
  return {
    ...plan,
    requeueAfterMs: Math.min(plan.requeueAfterMs ?? Infinity, since + graceMs - now),
    status: { ...status, conditions: (status.conditions ?? []).map((condition) => (condition === stalled ? waiting : condition)) },
  };
}

/** Returns since when something is waited for, in milliseconds since the epoch; undefined where the wait was in vain. */
function waitingSince({ metadata, status = {} }: Observed, plannedDigest: string | undefined, now: number): number | undefined {
  const { generation = 0 } = metadata;
  const waiting = findCondition({ status }, 'Reconciling');
  if (waiting?.reason === 'WaitingForReferences' && waiting.observedGeneration === generation)
    return Date.parse(waiting.lastTransitionTime);
  const stalled = findCondition({ status }, 'Stalled');
  if (stalled === undefined || !AWAITED.has(stalled.reason) || stalled.observedGeneration !== generation) return now;
  // A tool attaches itself: what it names may be as new as the tool.
  return stalled.reason === 'ToolNotUsable' && status.observedDependenciesDigest !== plannedDigest ? now : undefined;
}
