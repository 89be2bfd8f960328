import type { CommonStatus } from '../../crds/index.ts';
import type { Managed } from '../status/common.ts';
import { timestamp } from '../../kube/timestamps.ts';
import { toConditions } from '../status/conditions.ts';
import { reasons, type Problem } from '../status/reasons.ts';
import type { FinalizerAction, Plan } from './reconciler.ts';

export interface BlockedDeletion {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long a deletion waits, in milliseconds. */
  readonly deletionGraceMs: number;
  /** The problem that keeps the operator from completing the deletion; the reason of `Synced`. */
  readonly cause: Problem;
  /** `X cannot be deleted`, for the status. */
  readonly blocked: string;
  /** Names what stays behind when the object is released all the same, for the Event. */
  readonly left: string;
}

/** Plans a deletion without Postgres or the media server: the object is released after a bounded time, or at once where its policy says so. */
export function planBlockedDeletion<S extends CommonStatus>(
  object: Managed & { readonly spec: { readonly deletionPolicy: string }; readonly status?: S },
  { now, deletionGraceMs, cause, blocked, left }: BlockedDeletion,
): Plan<FinalizerAction, S> {
  const why = cause.message;
  const leftMs = Date.parse(object.metadata.deletionTimestamp ?? '') + deletionGraceMs - now;
  const orphaned = object.spec.deletionPolicy === 'Orphan';
  if (orphaned || leftMs <= 0) {
    return {
      actions: [{ type: 'dropFinalizer' }],
      notices: [
        {
          type: 'Warning',
          reason: 'Retained',
          message: `released ${orphaned ? 'because spec.deletionPolicy is Orphan' : 'after the grace period'}, with ${left}: ${why}`,
        },
      ],
    };
  }
  const generation = object.metadata.generation ?? 0;
  const message = `${blocked}: ${why}; the operator releases the object at ${timestamp(now + leftMs)} in any case, or at once if you set spec.deletionPolicy: Orphan`;
  return {
    actions: [],
    requeueAfterMs: leftMs,
    status: {
      ...(object.status ?? ({} as S)),
      observedGeneration: generation,
      conditions: toConditions(
        [
          { type: 'Ready', status: 'False', reason: 'Deleting', message },
          { type: 'Synced', status: reasons[cause.reason].status, ...cause },
          { type: 'Reconciling', status: 'True', reason: 'Retrying', message },
        ],
        object.status?.conditions,
        { generation, now },
      ),
    },
  };
}
