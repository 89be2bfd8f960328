import type { CommonStatus } from '../../crds/index.ts';
import type { Plan } from './plan.ts';

/** A permission that is granted sends no event: look again after this long, in milliseconds. */
const FORBIDDEN_RECHECK_MS = 30_000;

/**
 * Plans to look again where no event will tell that something changed.
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
