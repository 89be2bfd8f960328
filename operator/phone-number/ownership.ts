/** Whose a number is. Pure; Postgres enforces that it is one organisation's. */
import type { PhoneNumber } from '../../crds/index.ts';
import type { NumberClaim } from '../../store/index.ts';
import { ownerAmong, type ClusterSnapshot } from '../references/cluster-snapshot.ts';
import type { Unavailable } from '../runtime/postgres-outage.ts';
import { conditionOf } from '../status/conditions.ts';
import type { Problem } from '../status/reasons.ts';

/** The claim of a number, as Postgres has it; absent where there is none. */
export type ClaimView = { readonly state: 'known'; readonly claim?: NumberClaim } | Unavailable;

export interface OwnershipFacts {
  readonly claim: ClaimView;
  /** The only organisations that may have the number; absent where any may. */
  readonly assignees?: readonly string[] | undefined;
}

export type Ownership =
  | { readonly verdict: 'owner' }
  /** It may have the number, and has to say so in Postgres. */
  | { readonly verdict: 'claimant' }
  | { readonly verdict: 'rival'; readonly problem: Problem }
  /** Nothing was decided before Postgres went away. */
  | { readonly verdict: 'unknown'; readonly why: string };

/**
 * An organisation keeps its number, also for a while after its last object of it has gone, and so a rival gets nothing by waiting: once a reservation
 * is over, an object has to be applied after that. Within an organisation, and where no claim is yet, the oldest object has the number.
 * Objects outside organisations own nothing, or anybody with a namespace could block the numbers of others.
 */
export function ownershipOf(phoneNumber: PhoneNumber, snapshot: ClusterSnapshot, { claim: view, assignees }: OwnershipFacts): Ownership {
  const { number } = phoneNumber.spec;
  const { namespace: org = '', uid = '' } = phoneNumber.metadata;
  const rival = (reason: Problem['reason'], message: string): Ownership => ({ verdict: 'rival', problem: { reason, message } });
  if (assignees !== undefined && !assignees.includes(org))
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
    return conditionOf(phoneNumber, 'Accepted')?.status === 'True' ? { verdict: 'owner' } : { verdict: 'unknown', why: view.why };
  const { claim } = view;
  const taken = (): Ownership =>
    rival('NumberTaken', `${number} belongs to another organisation of this deployment; use another number or have it deleted there`);
  const first = (since: number): Ownership => {
    const candidates = all.filter(
      ({ metadata }) => createdAt(metadata) >= since && (assignees === undefined || assignees.includes(metadata.namespace ?? '')),
    );
    const owner = ownerAmong(candidates);
    return owner === undefined || owner.metadata.uid === uid ? { verdict: 'claimant' } : taken();
  };
  if (claim === undefined) return first(-Infinity);
  if (claim.org === org) return claim.uid === uid && claim.reservedUntil === undefined ? { verdict: 'owner' } : { verdict: 'claimant' };
  if (assignees !== undefined && !assignees.includes(claim.org)) return first(-Infinity);
  if (claim.reservedUntil === undefined) return taken();
  const until = claim.reservedUntil.toISOString();
  if (!claim.expired)
    return rival(
      'NumberReserved',
      `${number} is reserved for another organisation until ${until}; use another number, or have the operator of this installation end that (parley numbers release ${number})`,
    );
  if (createdAt(phoneNumber.metadata) >= claim.reservedUntil.getTime()) return first(claim.reservedUntil.getTime());
  return rival(
    'NumberReserved',
    `${number} was reserved for another organisation until ${until}, and who waited for that gets nothing; delete this PhoneNumber and apply it again to have the number`,
  );
}

function createdAt({ creationTimestamp }: { readonly creationTimestamp?: string }): number {
  return Date.parse(creationTimestamp ?? '');
}
