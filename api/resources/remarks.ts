/** What is stored and may not be meant so, among the warnings of the answer. */
import type { SpecProblem } from '../../crds/limits.ts';
import { sameJson } from '../../platform/json.ts';
import { currentRequest } from '../http/request-state.ts';
import { inRestNames, restLoc, type FieldNames } from '../partial/field-names.ts';
import { pathText } from '../validation/warning.ts';

/** Of one object. */
const MOST_REMARKS = 16;

/**
 * @param before what was remarked on before the request, which didn't change it
 * @param of the object, where it is another one than the request is about: `llm.tools: find-order: `
 */
export function warnOf(names: FieldNames, remarks: readonly SpecProblem[], before: readonly SpecProblem[] = [], of = ''): void {
  const warnings = currentRequest()?.warnings;
  const own = remarks.filter((remark) => !before.some((other) => sameJson(other, remark)));
  for (const { path, message } of own.slice(0, MOST_REMARKS)) {
    const at = pathText(restLoc(names, path)?.slice(1) ?? [path]);
    warnings?.push(`${of}${at} ${inRestNames(names, message)}`);
  }
}
