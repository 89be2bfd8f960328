/** Pieces that the bodies of several resources have in common. */
import { z } from 'zod';

import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';
import { trimmed } from '../validation/normalize.ts';
import { withRule } from '../validation/validate.ts';

/** A string of at most `max` characters. */
export const text = (max: number) => z.string().max(max);

/** A string of 1 to `max` characters. */
export const named = (max: number) => z.string().min(1).max(max);

/** A name that people see, 1 to `max` characters without the spaces around it. */
export const displayName = (max: number, about: string) =>
  trimmed(named(max).regex(/\S/).describe(`${about} Spaces around it are dropped.`));

/** A name that people see and that may be absent: spaces alone unset it. */
export const nameLabel = (max: number) => trimmed(text(max));

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

/** At most `max` texts, none of them twice. A description comes before the rule: zod copies a schema that is described, and the copy has no rule. */
export const distinctTexts = (item: z.ZodType<string>, max: number, what: string, about?: string) => {
  const list = z.array(item).max(max);
  return withRule(
    about === undefined ? list : list.describe(about),
    distinct(what, (each) => each),
  );
};

/** HTTP headers by name: what HTTP can carry, and no name twice in different cases. */
export const headerMap = withRule(
  z
    .record(
      z
        .string()
        .max(256)
        .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/),
      z
        .string()
        .max(4096)
        .regex(/^[\t\x20-\x7e\x80-\xff]*$/),
    )
    .meta({ id: 'HttpHeaders', maxProperties: 32 }),
  (headers, loc) =>
    distinct('header names', (name: string) => name.toLowerCase())(Object.keys(headers), loc).map(({ type, msg }) => ({ type, loc, msg })),
);
