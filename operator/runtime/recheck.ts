import type { CommonStatus } from '../../crds/index.ts';
import type { Plan } from './plan.ts';

/** A permission that is granted sends no event: look again after this long, in milliseconds. */
const FORBIDDEN_RECHECK_MS = 30_000;

/** Plans to look again where a reference may not be read. */
export function recheckForbidden<A, S extends CommonStatus>(plan: Plan<A, S>): Plan<A, S> {
  const forbidden = plan.status?.conditions?.some(
    (condition) => condition.type === 'ResolvedRefs' && condition.reason === 'ReferenceForbidden',
  );
  if (forbidden !== true) return plan;
  return { ...plan, requeueAfterMs: Math.min(plan.requeueAfterMs ?? Infinity, FORBIDDEN_RECHECK_MS) };
}
