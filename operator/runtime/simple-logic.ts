import type { CommonStatus } from '../../crds/index.ts';
import type { Stored } from '../../kube/index.ts';
import { referencesOf, type ParleyObject } from '../references/references-of.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { isDeleting, type Managed } from '../status/common.ts';
import { namespaceOf, type SnapshotReader } from './snapshot-reader.ts';
import type { Reconciler } from './controller.ts';
import type { Plan } from './plan.ts';
import { recheck } from './recheck.ts';

/** Observing and planning for a kind whose plan looks at nothing but the object and the things it names. */
export function observing<T extends Managed & ParleyObject, A, S extends CommonStatus>(
  snapshots: SnapshotReader,
  plan: (object: T, snapshot: ClusterSnapshot, now: number) => Plan<A, S>,
): Reconciler<T, A, S>['decide'] {
  return async (object: Stored<T>, { now, signal }) => {
    const wanted = isDeleting(object) ? [] : referencesOf(object).map((reference) => ({ reference }));
    const { snapshot, recheckAfterMs } = await snapshots.observe(namespaceOf(object), () => wanted, signal);
    return recheck(plan(object, snapshot, now), recheckAfterMs);
  };
}

/** For kinds that have nothing to carry out. */
export async function nothingToDo(action: never): Promise<never> {
  throw new Error(`there is no such action: ${JSON.stringify(action)}`);
}
