/** The two stages that every kind has. */
import type { ConditionStage } from './conditions.ts';
import type { Problem } from './reasons.ts';

/** @param remarks on what is accepted and has no effect */
export function accepted(problems: readonly Problem[], remarks: readonly string[] = []): ConditionStage {
  return { type: 'Accepted', good: { reason: 'SpecAccepted', message: ['the spec is consistent', ...remarks].join('; ') }, problems };
}

export function resolvedRefs(problems: readonly Problem[]): ConditionStage {
  return { type: 'ResolvedRefs', good: { reason: 'ReferencesResolved', message: 'everything the spec names exists' }, problems };
}

/** A `Synced` stage that isn't True. */
export function notSynced(problem: Problem): ConditionStage {
  return { type: 'Synced', good: { reason: 'SpecAccepted', message: '' }, problems: [problem] };
}
