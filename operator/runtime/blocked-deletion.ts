import { wellKnown, type CommonStatus } from '../../crds/index.ts';
import type { Managed } from '../status/common.ts';
import { timestamp, toConditions } from '../status/conditions.ts';
import type { FinalizerAction, Plan } from './reconciler.ts';

export interface BlockedDeletion {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long a deletion waits, in milliseconds. */
  readonly deletionGraceMs: number;
  /** What is in the way. */
  readonly why: string;
  readonly words: {
    /** `X cannot be taken out of service`. */
    readonly cannot: string;
    /** `let go with X`. */
    readonly left: string;
  };
}

/** The deletion of an object while Postgres or the media server is away: it is released after a bounded time, or at once where its annotation says so. */
export function planBlockedDeletion<S extends CommonStatus>(
  object: Managed & { readonly status?: S },
  { now, deletionGraceMs, why, words }: BlockedDeletion,
): Plan<FinalizerAction, S> {
  const left = Date.parse(object.metadata.deletionTimestamp ?? '') + deletionGraceMs - now;
  const forced = object.metadata.annotations?.[wellKnown.forceRelease] === 'true';
  if (forced || left <= 0) {
    return {
      actions: [{ type: 'dropFinalizer' }],
      notices: [
        {
          type: 'Warning',
          reason: 'Retained',
          message: `let go ${forced ? `because of the annotation ${wellKnown.forceRelease}` : 'after the grace period'}, with ${words.left}: ${why}`,
        },
      ],
    };
  }
  const generation = object.metadata.generation ?? 0;
  const message = `${words.cannot}: ${why}; lets go at ${timestamp(now + left)} in any case, or at once with the annotation ${wellKnown.forceRelease}=true`;
  return {
    actions: [],
    requeueAfterMs: left,
    status: {
      ...(object.status ?? ({} as S)),
      observedGeneration: generation,
      conditions: toConditions(
        [
          { type: 'Ready', status: 'False', reason: 'Deleting', message },
          { type: 'Synced', status: 'False', reason: 'StoreUnavailable', message: why },
          { type: 'Reconciling', status: 'True', reason: 'Retrying', message },
        ],
        object.status?.conditions,
        { generation, now },
      ),
    },
  };
}
