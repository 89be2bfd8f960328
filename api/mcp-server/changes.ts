/** Lists what a change would do to an object, field by field. Pure. */
import { isDeepStrictEqual } from 'node:util';

import { cutText } from '../../platform/cut-text.ts';
import { isObject, type JsonObject } from '../../platform/json.ts';

export interface FieldChange {
  /** Path of the field with dots: `llm.model_name`. */
  readonly field: string;
  /** Absent where the field is new; `to` is absent where the field is removed. */
  readonly from?: unknown;
  readonly to?: unknown;
}

/** These fields tell how an object is doing, and are no configuration. */
const NOT_CONFIGURATION: ReadonlySet<string> = new Set(['state', 'created_at', 'updated_at', 'warnings']);
const MAX_TEXT = 500;

/** Lists the changed fields. Lists of values are compared as a whole, as they are written. */
export function changesBetween(before: JsonObject, after: JsonObject, prefix = ''): readonly FieldChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): readonly FieldChange[] => {
    const [from, to, field] = [before[name], after[name], `${prefix}${name}`];
    if (NOT_CONFIGURATION.has(field) || isDeepStrictEqual(from, to)) return [];
    if (isObject(from) && isObject(to)) return changesBetween(from, to, `${field}.`);
    return [{ field, ...(from !== undefined && { from: shortened(from) }), ...(to !== undefined && { to: shortened(to) }) }];
  });
}

function shortened(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= MAX_TEXT ? value : cutText(text, MAX_TEXT, `… (${text.length} characters)`);
}
