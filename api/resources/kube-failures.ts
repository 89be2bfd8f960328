import type { z } from 'zod';

import type { SpecProblem } from '../../crds/limits.ts';
import { KubeError } from '../../kube/error.ts';
import { sameJson } from '../../platform/json.ts';
import type { Draft } from '../codec/draft.ts';
import { ApiError, ValidationError } from '../http/api-error.ts';
import { inRestNames, restLoc, type FieldNames } from '../partial/field-names.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';

/**
 * Translates a refusal of the API server: 422 with a place in the body where REST has a name for the faulty field, otherwise 400.
 * @returns undefined for a failure that isn't about the request
 */
function requestFailure(error: KubeError, names: FieldNames): ApiError | ValidationError | undefined {
  if (error.code === 422 || error.code === 400 || error.refusedByAdmission) {
    const located = error.causes.map((cause) => ({ loc: restLoc(names, cause.field), cause }));
    const found: ValidationIssue[] = located.flatMap(({ loc, cause }) =>
      loc === undefined ? [] : [issues.value(loc, inRestNames(names, withoutPath(cause.message)))],
    );
    if (found.length > 0 && found.length === located.length) return new ValidationError(found);
    return new ApiError('bad_request', `the resource was refused: ${error.message}`, { cause: error });
  }
  if (error.code === 403 && error.causes.some(({ reason }) => reason === 'NamespaceTerminating')) {
    return new ApiError('conflict', 'the organisation is being deleted', { cause: error });
  }
  return undefined;
}

/** Removes the path from a message such as `spec.sip.terminationURI in body should match '…'`: `loc` names the field. */
const withoutPath = (message: string): string => message.replaceAll(/\bspec\.\S+ in body (?=should|must|is)/g, '');

/** Runs `work`, and translates refusals of the API server into REST's names. */
export async function translateKubeErrors<T>(names: FieldNames, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.notFound) throw new ApiError('conflict', 'the namespace of this organisation does not exist', { cause: error });
    throw requestFailure(error, names) ?? error;
  }
}

/** Runs the pure checks that the request's schema can't make. Problems that existed before are not this request's. */
export function specIssues<S>(
  { definition, fieldNames }: { readonly definition: { readonly spec: z.ZodType }; readonly fieldNames: FieldNames },
  check: (spec: S) => readonly SpecProblem[],
  desired: Draft<S>,
  previous: S | undefined,
): readonly ValidationIssue[] {
  const parsed = definition.spec.safeParse(desired, { reportInput: true });
  if (!parsed.success) return missingFields(parsed.error, fieldNames);
  const problems = check(parsed.data as S);
  const known = previous === undefined || problems.length === 0 ? [] : check(previous);
  return problems
    .filter((problem) => !known.some((other) => sameJson(other, problem)))
    .map(({ path, message }) => issues.value(restLoc(fieldNames, path) ?? ['body'], inRestNames(fieldNames, message)));
}

/**
 * Returns the missing fields of a new part: an update's schema requires none. Everything else was read against these bounds, or is judged in
 * words, as names that lead to nothing are.
 */
function missingFields(error: z.ZodError, names: FieldNames): readonly ValidationIssue[] {
  return error.issues.flatMap(({ path, input }) => {
    if (input !== undefined) return [];
    const loc = restLoc(names, `spec${path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')}`);
    return loc === undefined ? [] : [issues.missing(loc)];
  });
}
