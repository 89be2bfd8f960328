/** Pieces that the bodies of several resources have in common. */
import { z } from 'zod';

import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';
import { trimmed } from '../validation/normalize.ts';

/** A string of at most `max` characters. */
export const text = (max: number) => z.string().max(max);

/** A string of 1 to `max` characters. */
export const named = (max: number) => z.string().min(1).max(max);

/** A name that people see, 1 to `max` characters without the spaces around it. */
export const displayName = (max: number, about: string) =>
  trimmed(named(max).regex(/\S/).describe(`${about} Spaces around it are dropped.`));

/** A rule for lists: reports every item whose `key` an earlier one has. */
export function distinct<T>(
  what: string,
  key: (item: T) => string | undefined | null,
): (items: readonly T[], loc: Loc) => ValidationIssue[] {
  return (items, loc) => {
    const seen = new Set<string>();
    return items.flatMap((item, index) => {
      const value = key(item);
      if (value === undefined || value === null) return [];
      if (seen.has(value)) return [issues.value([...loc, index], `${what} must differ, and ${JSON.stringify(value)} is there twice`)];
      seen.add(value);
      return [];
    });
  };
}
