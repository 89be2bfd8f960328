import type { CommonStatus } from '../../crds/index.ts';
import type { Stored } from '../../kube/index.ts';
import { referencesOf, type ParleyObject } from '../references/references-of.ts';
import type { World } from '../references/world.ts';
import { isDeleting, type Managed } from '../status/common.ts';
import { namespaceOf, type WorldReader } from './cluster-world.ts';
import type { KindLogic } from './controller.ts';
import type { Plan } from './plan.ts';
import { recheck } from './recheck.ts';

/** Observing and planning for a kind whose plan looks at nothing but the object and the things it names. */
export function observing<T extends Managed & ParleyObject, A, S extends CommonStatus>(
  worlds: WorldReader,
  plan: (object: T, world: World, now: number) => Plan<A, S>,
): KindLogic<T, A, S>['decide'] {
  return async (object: Stored<T>, { now, signal }) => {
    const wanted = isDeleting(object) ? [] : referencesOf(object).map((reference) => ({ reference }));
    const { world, recheckAfterMs } = await worlds.observe(namespaceOf(object), () => wanted, signal);
    return recheck(plan(object, world, now), recheckAfterMs);
  };
}

/** For kinds that have nothing to carry out. */
export async function nothingToDo(action: never): Promise<never> {
  throw new Error(`there is no such action: ${JSON.stringify(action)}`);
}
