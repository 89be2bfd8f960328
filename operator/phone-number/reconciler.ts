import type { SipTrunks } from '../../voice/calls/sip/trunks.ts';
import type { PhoneNumber, PhoneNumberStatus } from '../../crds/index.ts';
import { keyOf, type ResourceClient, type Stored } from '../../kube/index.ts';
import type { NumberAssignments } from '../../platform/number-assignments.ts';
import type { NumberPool } from '../../platform/number-pool.ts';
import type { NumberOwner } from '../../store/index.ts';
import { phoneNumberReferences } from '../references/references-of.ts';
import { namespaceOf, type SnapshotReader } from '../runtime/snapshot-reader.ts';
import type { Applied, Reconciler } from '../runtime/controller.ts';
import { setFinalizer } from '../runtime/finalizer.ts';
import type { Plan } from '../runtime/plan.ts';
import { recheck } from '../runtime/recheck.ts';
import { isDeleting, isSuspended } from '../status/common.ts';
import type { NumberClaimCache } from './number-claim-cache.ts';
import type { TrunkSettings } from './desired-trunks.ts';
import type { OwnershipFacts } from './ownership.ts';
import { attemptOf, planPhoneNumber, type PhoneNumberAction, type Telephony } from './plan.ts';
import type { PhoneRouteCache } from './phone-route-cache.ts';
import type { TrunkCache } from './trunk-cache.ts';
import type { TrunkPasswords } from './trunk-password.ts';

/** What there is besides the API server. */
export interface TelephonyClients {
  readonly book: TrunkCache;
  readonly trunks: Pick<SipTrunks, 'digest'>;
  readonly settings: TrunkSettings;
}

export interface PhoneNumberReconcilerOptions {
  readonly client: ResourceClient<PhoneNumber>;
  readonly snapshots: SnapshotReader;
  readonly nativeNumbers: Pick<NumberPool, 'has'>;
  readonly claims: NumberClaimCache;
  readonly onClaimed: (owner: NumberOwner) => void;
  readonly assignments: Pick<NumberAssignments, 'assigneesOf'>;
  readonly routes: PhoneRouteCache;
  readonly passwords: TrunkPasswords;
  readonly deletionGraceMs: number;
  /** Absent where no media server is configured. */
  readonly telephony?: TelephonyClients | undefined;
  /** Told which numbers wait for Postgres. */
  readonly onWaiting: (key: string) => void;
}

export function phoneNumberReconciler(options: PhoneNumberReconcilerOptions): Reconciler<PhoneNumber, PhoneNumberAction, PhoneNumberStatus> {
  const { client, snapshots, nativeNumbers, claims, onClaimed, assignments, routes, passwords, deletionGraceMs, telephony, onWaiting } =
    options;

  const look = async (phoneNumber: Stored<PhoneNumber>, signal: AbortSignal): Promise<Telephony | undefined> => {
    if (telephony === undefined) return undefined;
    const { settings, book, trunks } = telephony;
    const idle = isSuspended(phoneNumber) && !isDeleting(phoneNumber);
    const [sip, password] = await Promise.all([
      idle ? ({ state: 'known', own: [], others: [] } as const) : book.view(ownerOf(phoneNumber)),
      idle || isDeleting(phoneNumber) ? undefined : passwords.read(phoneNumber, signal),
    ]);
    const route = routes.view(phoneNumber.metadata.uid);
    if (route.state === 'unavailable') onWaiting(keyOf(phoneNumber));
    return { sip, route, settings, password, digest: (spec) => trunks.digest(spec) };
  };

  /** Nothing is asked of what neither wants a number nor gives one up. */
  const ownership = async (phoneNumber: Stored<PhoneNumber>): Promise<OwnershipFacts> => {
    if (isSuspended(phoneNumber) || isDeleting(phoneNumber)) return { claim: { state: 'known' } };
    const owner = ownerOf(phoneNumber);
    const claim = await claims.view(owner);
    if (claim.state === 'unavailable') onWaiting(keyOf(phoneNumber));
    return { claim, assignees: assignments.assigneesOf(owner.number) };
  };

  return {
    kind: 'PhoneNumber',
    statusFields: [
      'observedGeneration',
      'conditions',
      'lastHandledReconcileAt',
      'provider',
      'inboundTrunkID',
      'outboundTrunkID',
      'dispatchRuleID',
    ],

    async decide(phoneNumber, { now, signal }): Promise<Plan<PhoneNumberAction, PhoneNumberStatus>> {
      const [seen, owning] = await Promise.all([look(phoneNumber, signal), ownership(phoneNumber)]);
      const wanted = isDeleting(phoneNumber) ? [] : phoneNumberReferences(phoneNumber).map((reference) => ({ reference }));
      const { snapshot, recheckAfterMs } = await snapshots.observe(namespaceOf(phoneNumber), () => wanted, signal);
      return recheck(
        planPhoneNumber(phoneNumber, snapshot, { now, nativeNumbers, ownership: owning, deletionGraceMs, ...(seen && { telephony: seen }) }),
        recheckAfterMs,
      );
    },

    async apply(action, phoneNumber, context): Promise<Applied<PhoneNumber>> {
      const owner = ownerOf(phoneNumber);
      const book = telephony?.book;
      const attempt = telephony === undefined ? '' : (attemptOf(action, (spec) => telephony.trunks.digest(spec)) ?? '');
      switch (action.type) {
        case 'claim': {
          const claimed = await claims.claim(owner, assignments.assigneesOf(owner.number));
          if (claimed) onClaimed(owner);
          return { replan: !claimed };
        }
        case 'addFinalizer':
          return { object: await setFinalizer(client, phoneNumber, true, context) };
        case 'dropFinalizer': {
          const object = await setFinalizer(client, phoneNumber, false, context);
          book?.forget(owner.uid);
          return { object };
        }
        case 'create':
          return { replan: (await book?.create(action.spec, owner, attempt)) !== true };
        case 'replace':
          return { replan: (await book?.replace(action.id, action.spec, owner, attempt)) !== true };
        case 'remove':
          return { replan: (await book?.remove(action.thing, owner)) !== true };
        case 'writeRoute':
          return { replan: (await routes.write(action.route)).state !== 'known' };
        default:
          return { replan: (await routes.remove({ org: namespaceOf(phoneNumber), uid: owner.uid })).state !== 'known' };
      }
    },
  };
}

/** What a PhoneNumber has of its number, in Postgres and at the media server. */
export function ownerOf(phoneNumber: Stored<PhoneNumber>): NumberOwner {
  return { org: namespaceOf(phoneNumber), uid: phoneNumber.metadata.uid, number: phoneNumber.spec.number };
}
