import { sameJson } from '../../platform/json.ts';
import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';

/** An address of a spec, as it would be written. */
export interface WrittenAddress {
  readonly loc: Loc;
  readonly value: string | undefined;
  /** The stored address: an unchanged one is not checked again. */
  readonly before: string | undefined;
  /** @returns why it is forbidden */
  readonly check: (address: string) => string | undefined;
}

/** Adds to `found` that the address is forbidden, unless it has another issue already. */
export function requireCallable({ loc, value, before, check }: WrittenAddress, found: ValidationIssue[]): void {
  if (value === undefined || value === before || found.some((other) => sameJson(other.loc, loc))) return;
  const message = check(value);
  if (message !== undefined) found.push(issues.value(loc, message));
}
