/** The `filter` of a search: equalities, all of which have to hold. Anything else is refused and never ignored. Pure. */
import type { EqualityFilter, Scalar } from '../../knowledge/vector-stores/vector-store.ts';
import { ValidationFailed } from '../http/api-error.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';

const maxFields = 10;
const field = /^[A-Za-z0-9_.-]{1,64}$/;

/** @throws ValidationFailed */
export function readFilter(filter: Readonly<Record<string, unknown>>): EqualityFilter {
  const loc = ['body', 'filter'];
  const entries = Object.entries(filter);
  if (entries.length === 0)
    throw new ValidationFailed([issues.value(loc, 'an empty filter is a placeholder: leave it out, or name a field')]);
  if (entries.length > maxFields) throw new ValidationFailed([issues.tooMany(loc, 'Dictionary', maxFields, entries.length)]);
  const found: ValidationIssue[] = [];
  const equalities = entries.map(([name, condition]): readonly [string, Scalar] => {
    const reason = faultOf(name, condition);
    if (reason === undefined) return [name, (condition as { readonly $eq: Scalar }).$eq];
    found.push(issues.value([...loc, name], reason));
    return [name, ''];
  });
  if (found.length > 0) throw new ValidationFailed(found);
  return Object.fromEntries(equalities);
}

function faultOf(name: string, condition: unknown): string | undefined {
  if (!field.test(name)) return 'fields are named with at most 64 letters, digits, `_`, `.` and `-`';
  if (/^additionalProp\d+$/.test(name) || name === 'string')
    return 'this is the name of a placeholder: name a field of your metadata, or leave the filter out';
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition) || Object.keys(condition).join() !== '$eq')
    return 'a field is compared with {"$eq": value}, and with nothing else';
  const { $eq: value } = condition as { readonly $eq: unknown };
  if (typeof value === 'string') {
    if (value === 'string') return 'this is the value of a placeholder: give one of your metadata, or leave the filter out';
    return value.isWellFormed() && !value.includes('\u0000') ? undefined : 'no metadata holds U+0000 or half characters';
  }
  if (typeof value === 'number' || typeof value === 'boolean') return undefined;
  return 'the value has to be a text, a number or a boolean';
}
