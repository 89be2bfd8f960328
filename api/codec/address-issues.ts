import { sameJson } from '../validation/same-json.ts';
import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';

/** An address of a spec, as it would be written. */
export interface WrittenAddress {
  readonly loc: Loc;
  readonly value: string | undefined;
  /** As it is stored: what was there before is not this request's. */
  readonly before: string | undefined;
  /** @returns why it may not be called */
  readonly check: (address: string) => string | undefined;
}

/** Adds to `found` that the address may not be called, unless something else is wrong with it already. */
export function requireCallable({ loc, value, before, check }: WrittenAddress, found: ValidationIssue[]): void {
  if (value === undefined || value === before || found.some((other) => sameJson(other.loc, loc))) return;
  const message = check(value);
  if (message !== undefined) found.push(issues.value(loc, message));
}
