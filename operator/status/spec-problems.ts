import type { SpecProblem } from '../../crds/limits.ts';
import type { Problem, Reason } from './reasons.ts';

/** The reason that goes with the last field of a path. */
const reasonsByField: ReadonlyMap<string, Reason> = new Map([
  ['provider', 'UnknownProvider'],
  ['language', 'InvalidLanguage'],
  ['documentLanguage', 'InvalidLanguage'],
  ['timeZone', 'InvalidTimeZone'],
]);

/** What the shared checks found, with the reasons of conditions. */
export function specProblems(found: readonly SpecProblem[]): readonly Problem[] {
  return found.map(({ path, message }) => ({
    reason: path.includes('.function.parameters')
      ? 'InvalidParameters'
      : (reasonsByField.get(path.slice(path.lastIndexOf('.') + 1)) ?? 'InvalidSpec'),
    message: `${path} ${message}`,
  }));
}
