import type { NumberClaim } from '../../store/index.ts';

/** Whether an organisation may have a phone number. */
export type NumberAvailability =
  | { readonly state: 'notAssigned' }
  /** The organisation has it, or has it reserved. */
  | { readonly state: 'own' }
  /** Another organisation has it. */
  | { readonly state: 'taken' }
  | { readonly state: 'reserved'; readonly until: Date }
  /** The number goes to the oldest candidate. */
  | {
      readonly state: 'open';
      /** Objects from before this time don't count, in milliseconds since the epoch: waiting for the end of a reservation gains nothing. */
      readonly since: number;
      readonly isCandidate: (object: Created) => boolean;
    };

interface Created {
  readonly metadata: { readonly namespace?: string; readonly creationTimestamp?: string };
}

/**
 * The rule that operator and REST API share; Postgres enforces that a number has one organisation. Pure.
 *
 * @param claim - the claim of the number, as Postgres has it
 * @param assignees - the only organisations that may have the number; absent where any may
 */
export function numberAvailability(
  org: string,
  claim: NumberClaim | undefined,
  assignees: readonly string[] | undefined,
): NumberAvailability {
  const mayHave = (name: string): boolean => assignees === undefined || assignees.includes(name);
  const openSince = (since: number): NumberAvailability => ({
    state: 'open',
    since,
    isCandidate: (object) => createdAt(object) >= since && mayHave(object.metadata.namespace ?? ''),
  });
  if (!mayHave(org)) return { state: 'notAssigned' };
  if (claim === undefined || !mayHave(claim.org)) return openSince(-Infinity);
  if (claim.org === org) return { state: 'own' };
  if (claim.reservedUntil === undefined) return { state: 'taken' };
  return claim.expired ? openSince(claim.reservedUntil.getTime()) : { state: 'reserved', until: claim.reservedUntil };
}

export function createdAt({ metadata }: Created): number {
  return Date.parse(metadata.creationTimestamp ?? '');
}
