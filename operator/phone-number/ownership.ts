/** Decides which PhoneNumber owns a number. Pure; Postgres enforces that a number has one organisation. */
import type { PhoneNumber } from '../../crds/index.ts';
import type { NumberClaim } from '../../store/index.ts';
import { ownerAmong, type ClusterSnapshot } from '../references/cluster-snapshot.ts';
import type { Unavailable } from '../runtime/postgres-outage.ts';
import { findCondition } from '../../crds/kind.ts';
import type { Problem } from '../status/reasons.ts';

/** The claim of a number in Postgres; absent for an unclaimed one. */
export type ClaimView = { readonly state: 'known'; readonly claim?: NumberClaim } | Unavailable;

export interface OwnershipFacts {
  readonly claim: ClaimView;
  /** The only organisations that may have the number; absent where any may. */
  readonly assignees?: readonly string[] | undefined;
}

export type OwnershipDecision =
  | { readonly verdict: 'owner' }
  /** It may have the number, and has to claim it in Postgres. */
  | { readonly verdict: 'claimant' }
  | { readonly verdict: 'rival'; readonly problem: Problem }
  /** Nothing was decided before Postgres went away. */
  | { readonly verdict: 'unknown'; readonly why: string };

/**
 * An organisation keeps its number, also for a while after its last object with it is gone. Within an organisation, and where no claim
 * exists yet, the oldest object has the number. Objects outside organisations own nothing, or anybody with a namespace could block the
 * numbers of others.
 */
export function ownershipOf(
  phoneNumber: PhoneNumber,
  snapshot: ClusterSnapshot,
  { claim: view, assignees }: OwnershipFacts,
): OwnershipDecision {
  const { number } = phoneNumber.spec;
  const { namespace: org = '', uid = '' } = phoneNumber.metadata;
  const rival = (reason: Problem['reason'], message: string): OwnershipDecision => ({ verdict: 'rival', problem: { reason, message } });
  const claim = view.state === 'known' ? view.claim : undefined;
  const availability = numberAvailability(org, claim, assignees);
  if (availability.state === 'notAssigned')
    return rival(
      'NumberNotAssigned',
      `${number} is assigned to other organisations; use another number, or have the operator of this installation assign it (PARLEY_NUMBER_ASSIGNMENTS)`,
    );

  const all = snapshot.phoneNumbersWith(number).filter((other) => snapshot.isOrganization(other.metadata.namespace ?? ''));
  const oldest = ownerAmong(all.filter((other) => other.metadata.namespace === org));
  if (oldest !== undefined && oldest.metadata.uid !== uid)
    return rival(
      'NumberTaken',
      `${number} belongs to the older PhoneNumber ${org}/${oldest.metadata.name}; use another number or have that one deleted`,
    );

  // What was accepted before Postgres went away stays so; nothing else is, however long that lasts.
  if (view.state === 'unavailable')
    return findCondition(phoneNumber, 'Accepted')?.status === 'True' ? { verdict: 'owner' } : { verdict: 'unknown', why: view.why };
  const taken = (): OwnershipDecision =>
    rival('NumberTaken', `${number} belongs to another organisation of this deployment; use another number or have it deleted there`);
  switch (availability.state) {
    case 'own':
      return claim?.uid === uid && claim.reservedUntil === undefined ? { verdict: 'owner' } : { verdict: 'claimant' };
    case 'taken':
      return taken();
    case 'reserved':
      return rival(
        'NumberReserved',
        `${number} is reserved for another organisation until ${availability.until.toISOString()}; use another number, or have the operator of this installation end that (parley numbers release ${number})`,
      );
    default: {
      const { since, isCandidate } = availability;
      if (createdAt(phoneNumber) < since)
        return rival(
          'NumberReserved',
          `${number} was reserved for another organisation until ${new Date(since).toISOString()}, and objects from before that don't get it; delete this PhoneNumber and apply it again to have the number`,
        );
      const owner = ownerAmong(all.filter(isCandidate));
      return owner === undefined || owner.metadata.uid === uid ? { verdict: 'claimant' } : taken();
    }
  }
}

type NumberAvailability =
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
 * @param claim - the claim of the number, as Postgres has it
 * @param assignees - the only organisations that may have the number; absent where any may
 */
function numberAvailability(org: string, claim: NumberClaim | undefined, assignees: readonly string[] | undefined): NumberAvailability {
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

function createdAt({ metadata }: Created): number {
  return Date.parse(metadata.creationTimestamp ?? '');
}
