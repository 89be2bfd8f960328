/** Reads a client's filter of a search: `{"field": {"$eq": value}}`. A condition that can't be applied is a problem, and never ignored. */
import { isObject } from '../platform/json.ts';
import type { EqualityFilter, Scalar } from './vector-stores/vector-store.ts';

export const MOST_FILTER_FIELDS = 10;
export const LONGEST_FILTER_VALUE = 512;

export const FILTER_KEY = /^[A-Za-z0-9_.-]{1,64}$/;
/** Names that generated clients and documentation pages fill in by default. */
const PLACEHOLDER_KEY = /^additionalProp\d+$/;
const PLACEHOLDER_VALUE = 'string';

export interface FilterProblem {
  /** Keys from the filter down to the fault. */
  readonly path: readonly string[];
  readonly message: string;
}

export type ParsedFilter =
  | { readonly ok: true; readonly filter: EqualityFilter }
  | { readonly ok: false; readonly problems: readonly FilterProblem[] };

/**
 * Reads a filter: up to 10 fields, each with one `$eq` and a string of up to 512 characters, a finite number or a boolean; a chunk has to
 * equal all of them. Types count: 1 is 1.0, and neither "1" nor true.
 */
export function parseFilter(value: unknown): ParsedFilter {
  if (!isObject(value)) return failed([], 'a filter is an object: {"field": {"$eq": value}}');
  const fields = Object.keys(value);
  if (fields.length === 0) return failed([], 'a filter names at least one field; leave it out to search everything');
  if (fields.length > MOST_FILTER_FIELDS) return failed([], `a filter names ${MOST_FILTER_FIELDS} fields at most, not ${fields.length}`);
  const problems: FilterProblem[] = [];
  const conditions: [string, Scalar][] = [];
  for (const field of fields) {
    const problem = problemOfKey(field) ?? problemOfCondition(value[field]);
    if (problem === undefined) conditions.push([field, (value[field] as { readonly $eq: Scalar }).$eq]);
    else problems.push({ path: [field], message: problem });
  }
  // The fields are defined one by one, because `__proto__` is a field like any other.
  return problems.length > 0 ? { ok: false, problems } : { ok: true, filter: Object.fromEntries(conditions) };
}

function problemOfKey(field: string): string | undefined {
  if (PLACEHOLDER_KEY.test(field)) return 'this is the placeholder of a generated example: name a field of your metadata';
  return FILTER_KEY.test(field) ? undefined : 'the name of a field has 1 to 64 letters, digits, and the characters _ . -';
}

function problemOfCondition(condition: unknown): string | undefined {
  if (!isObject(condition)) return 'a condition is an object: {"$eq": value}';
  const operators = Object.keys(condition);
  if (operators.length !== 1 || operators[0] !== '$eq') return 'a condition has the one operator $eq: {"$eq": value}';
  return problemOfValue(condition['$eq']);
}

function problemOfValue(value: unknown): string | undefined {
  if (typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'the value is not a finite number';
  if (typeof value !== 'string') return 'the value is a string, a number or a boolean';
  if (value === PLACEHOLDER_VALUE) return 'this is the placeholder of a generated example: write the value to look for';
  if (value.length > LONGEST_FILTER_VALUE) return `the value has more than ${LONGEST_FILTER_VALUE} characters`;
  if (!value.isWellFormed()) return 'the value has half of a surrogate pair';
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/.test(value)
    ? 'the value has a control character other than tab and line ends'
    : undefined;
}

function failed(path: readonly string[], message: string): ParsedFilter {
  return { ok: false, problems: [{ path, message }] };
}
