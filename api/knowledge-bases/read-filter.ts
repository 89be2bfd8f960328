import { parseFilter } from '../../knowledge/search-filter.ts';
import type { EqualityFilter } from '../../knowledge/vector-stores/vector-store.ts';
import { ValidationError } from '../http/api-error.ts';
import { issues } from '../validation/issue.ts';

/** The `filter` of a search. @throws ValidationError with everything in it that can't be applied */
export function readFilter(filter: Readonly<Record<string, unknown>>): EqualityFilter {
  const parsed = parseFilter(filter);
  if (parsed.ok) return parsed.filter;
  throw new ValidationError(parsed.problems.map(({ path, message }) => issues.value(['body', 'filter', ...path], message)));
}
