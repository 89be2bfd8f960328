import type { SpecProblem } from '../../crds/limits.ts';
import type { Problem, Reason } from './reasons.ts';

/** Reasons by the last field of a path. */
const REASONS_BY_FIELD: ReadonlyMap<string, Reason> = new Map([
  ['language', 'InvalidLanguage'],
  ['documentLanguage', 'InvalidLanguage'],
  ['timeZone', 'InvalidTimeZone'],
]);

/** Gives the problems of the shared checks their condition reasons. */
export function specProblems(found: readonly SpecProblem[]): readonly Problem[] {
  return found.map(({ path, message }) => ({
    reason: path.includes('.function.parameters')
      ? 'InvalidParameters'
      : (REASONS_BY_FIELD.get(path.slice(path.lastIndexOf('.') + 1)) ?? 'InvalidSpec'),
    message: `${path} ${message}`,
  }));
}

export const remarksOf = (found: readonly SpecProblem[]): readonly string[] => found.map(({ path, message }) => `${path} ${message}`);

/** Gives the problems of `calls/address-problems.ts` their reason; their messages begin with the address. */
export function forbiddenAddresses(found: readonly SpecProblem[]): readonly Problem[] {
  return found.map(({ path, message }) => ({ reason: 'AddressForbidden', message: `${path}: ${message}` }));
}

/** Checks each spec once, because a spec is never changed in place. */
export function checkedOnce<S extends object>(check: (spec: S) => readonly SpecProblem[]): (spec: S) => readonly Problem[] {
  const checked = new WeakMap<S, readonly Problem[]>();
  return (spec) => {
    const problems = checked.get(spec) ?? specProblems(check(spec));
    checked.set(spec, problems);
    return problems;
  };
}
