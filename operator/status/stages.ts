/** The two stages that every kind has. */
import type { ConditionStage } from './conditions.ts';
import type { Problem } from './reasons.ts';

/** A person mends the first few; the rest shows once these are gone. */
const REMARKS_SHOWN = 5;

/** @param remarks on what is accepted, and has no effect or may lack a value */
export function accepted(problems: readonly Problem[], remarks: readonly string[] = []): ConditionStage {
  const shown = remarks.slice(0, REMARKS_SHOWN);
  const more = remarks.length > shown.length ? [`and ${remarks.length - shown.length} more`] : [];
  const reason = remarks.length > 0 ? 'SpecAcceptedWithRemarks' : 'SpecAccepted';
  return { type: 'Accepted', good: { reason, message: ['the spec is consistent', ...shown, ...more].join('; ') }, problems };
}

export function resolvedRefs(problems: readonly Problem[]): ConditionStage {
  return { type: 'ResolvedRefs', good: { reason: 'ReferencesResolved', message: 'everything the spec names exists' }, problems };
}

/** A `Synced` stage that isn't True. */
export function notSynced(problem: Problem): ConditionStage {
  return { type: 'Synced', good: { reason: 'SpecAccepted', message: '' }, problems: [problem] };
}
