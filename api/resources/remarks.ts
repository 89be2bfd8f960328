/** Adds a warning to the answer for each stored value that may not be meant so. */
import type { SpecProblem } from '../../crds/limits.ts';
import { sameJson } from '../../platform/json.ts';
import { currentRequest } from '../http/request-state.ts';
import { inRestNames, restLoc, type FieldNames } from '../partial/field-names.ts';
import { pathText } from '../validation/warning.ts';

const MOST_REMARKS = 16;

/**
 * @param before remarks about the state before the request, which the request hasn't caused
 * @param of name of the object, where the request is about another one: `llm.tools: find-order: `
 */
export function warnOf(names: FieldNames, remarks: readonly SpecProblem[], before: readonly SpecProblem[] = [], of = ''): void {
  const warnings = currentRequest()?.warnings;
  const own = remarks.filter((remark) => !before.some((other) => sameJson(other, remark)));
  for (const { path, message } of own.slice(0, MOST_REMARKS)) {
    const at = pathText(restLoc(names, path)?.slice(1) ?? [path]);
    warnings?.push(`${of}${at} ${inRestNames(names, message)}`);
  }
}
