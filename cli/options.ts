/** Parses values of options. Each parser throws InvalidArgumentError with what is allowed. */
import { Argument, InvalidArgumentError, Option } from 'commander';

import { millisecondsIn, millisecondsOf } from '../crds/duration.ts';
import { isOrganizationName } from '../platform/organization-name.ts';

const UNITS = { ...millisecondsIn, d: 86_400_000 };

/** Creates the one flag for the organisation, in every command that has one; `organizationNamed` reads it. */
export function orgOption(description = 'organisation; default: PARLEY_ORG'): Option {
  return new Option('-n, --org <organisation>', description).argParser(organizationName);
}

/** Creates the argument that names an organisation without a flag. */
export function orgArgument(description = 'organisation'): Argument {
  return new Argument('<org>', description).argParser(organizationName);
}

function organizationName(text: string): string {
  if (isOrganizationName(text)) return text;
  throw new InvalidArgumentError('use 1 to 63 lower-case letters, digits and hyphens, as for a namespace.');
}

/** Does the same for one or more. */
export function organizationNames(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, organizationName(text)];
}

/** Parses `90s`, `10m`, `1h30m`, `2d` into milliseconds; as kubectl takes them, and days. */
export function parseDuration(text: string): number {
  try {
    const total = millisecondsOf(text, UNITS);
    if (total > 0) return total;
  } catch {
    // The error below names the allowed form.
  }
  throw new InvalidArgumentError('write a time such as 90s, 10m, 1h30m or 2d.');
}

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`use a whole number from ${least} to ${most}.`);
  };
}

/** Accepts 0, which takes a free port. */
export function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('use a number from 0 (a free one) to 65535.');
  return port;
}

/** Parses `name=value`, gathered over all uses of the option. */
export function pair(text: string, previous: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('write it as name=value.');
  return { ...previous, [text.slice(0, at)]: text.slice(at + 1) };
}
