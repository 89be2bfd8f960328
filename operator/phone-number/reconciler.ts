import type { Ownership } from '../../calls/sip/trunk-specs.ts';
import type { SipTrunks } from '../../calls/sip/trunks.ts';
import type { PhoneNumber, PhoneNumberStatus } from '../../crds/index.ts';
import { keyOf, type Informer, type Stored } from '../../kube/index.ts';
import type { NumberAssignments, NumberPool } from '../../platform/config/phone-numbers.ts';
import type { NumberOwner } from '../../store/index.ts';
import {
  COMMON_STATUS_FIELDS,
  planFromReferences,
  type KeyedQueue,
  type ReconcileContext,
  type Reconciler,
} from '../runtime/reconciler.ts';
import { namespaceOf, type SnapshotReader } from '../runtime/snapshot-reader.ts';
import { isDeleting, isSuspended } from '../status/common.ts';
import type { TrunkSettings } from './desired-trunks.ts';
import type { NumberClaimCache } from './number-claim-cache.ts';
import type { NumberReservations } from './number-reservations.ts';
import type { OwnershipFacts } from './ownership.ts';
import type { PhoneRouteCache } from './phone-route-cache.ts';
import { attemptId, inOrderOfRemoval, planPhoneNumber, type PhoneNumberAction, type Telephony } from './plan.ts';
import type { TrunkCache } from './trunk-cache.ts';
import type { TrunkPasswords } from './trunk-password.ts';

export interface MediaServerClients {
  readonly cache: TrunkCache;
  readonly trunks: Pick<SipTrunks, 'digest'>;
  readonly settings: TrunkSettings;
}

export interface PhoneNumberReconcilerOptions {
  readonly snapshots: SnapshotReader;
  readonly informer: Pick<Informer<PhoneNumber>, 'cache'>;
  readonly nativeNumbers: Pick<NumberPool, 'has'>;
  readonly claims: NumberClaimCache;
  readonly reservations: NumberReservations;
  readonly assignments: Pick<NumberAssignments, 'assigneesOf'>;
  readonly routes: PhoneRouteCache;
  readonly passwords: TrunkPasswords;
  readonly deletionGraceMs: number;
  /** Absent where no media server is configured. */
  readonly mediaServer: MediaServerClients | undefined;
}

export function phoneNumberReconciler(
  options: PhoneNumberReconcilerOptions,
): Reconciler<PhoneNumber, PhoneNumberAction, PhoneNumberStatus> {
  const { snapshots, informer, nativeNumbers, claims, reservations, assignments, routes, passwords, deletionGraceMs, mediaServer } =
    options;
  const trunkCache = mediaServer?.cache;

  const telephonyOf = async (phoneNumber: Stored<PhoneNumber>, context: ReconcileContext): Promise<Telephony | undefined> => {
    if (mediaServer === undefined) return undefined;
    const { settings, cache, trunks } = mediaServer;
    const idle = isSuspended(phoneNumber) && !isDeleting(phoneNumber);
    const [sip, password] = await Promise.all([
      idle ? ({ state: 'known', own: [], others: [] } as const) : cache.view(numberOwner(phoneNumber)),
      idle || isDeleting(phoneNumber) ? undefined : passwords.read(phoneNumber, context.signal),
    ]);
    return { sip, settings, password, digest: (spec) => trunks.digest(spec) };
  };

  /** A suspended or deleted number claims nothing, so nothing is read. */
  const ownershipFacts = async (phoneNumber: Stored<PhoneNumber>, context: ReconcileContext): Promise<OwnershipFacts> => {
    if (isSuspended(phoneNumber) || isDeleting(phoneNumber)) return { claim: { state: 'known' } };
    const owner = numberOwner(phoneNumber);
    const claim = await claims.view(owner);
    if (claim.state === 'unavailable') context.retryWhenPostgresIsBack();
    return { claim, assignees: assignments.assigneesOf(owner.number) };
  };

  /** Removes trunks of numbers whose object went while the media server was away. */
  const removeLeftBehind = async (): Promise<void> => {
    const living = new Set(informer.cache.list().map(({ metadata }) => metadata.uid));
    for (const thing of inOrderOfRemoval(trunkCache?.leftBehind(living) ?? []))
      if (await claims.isGone(thing)) await trunkCache?.remove(thing, thing);
  };

  return {
    kind: 'PhoneNumber',
    statusFields: [...COMMON_STATUS_FIELDS, 'inboundTrunkID', 'outboundTrunkID', 'dispatchRuleID'],

    async plan(phoneNumber, context) {
      const { now, signal } = context;
      const [telephony, ownership] = await Promise.all([telephonyOf(phoneNumber, context), ownershipFacts(phoneNumber, context)]);
      const route = routes.view(phoneNumber.metadata.uid);
      if (route.state === 'unavailable') context.retryWhenPostgresIsBack();
      const facts = { now, nativeNumbers, ownership, deletionGraceMs, route, ...(telephony && { telephony }) };
      return planFromReferences(snapshots, phoneNumber, {
        plan: (snapshot) => planPhoneNumber(phoneNumber, snapshot, facts),
        signal,
      });
    },

    async apply(action, phoneNumber) {
      const owner = numberOwner(phoneNumber);
      const attempt = mediaServer === undefined ? '' : (attemptId(action, (spec) => mediaServer.trunks.digest(spec)) ?? '');
      switch (action.type) {
        case 'claim': {
          const claimed = await claims.claim(owner, assignments.assigneesOf(owner.number));
          if (claimed) reservations.claimed(owner);
          return { replan: !claimed };
        }
        case 'create':
          return { replan: (await trunkCache?.create(action.spec, owner, attempt)) !== true };
        case 'replace':
          return { replan: (await trunkCache?.replace(action.id, action.spec, owner, attempt)) !== true };
        case 'remove':
          return { replan: (await trunkCache?.remove(action.thing, owner)) !== true };
        case 'writeRoute':
          return { replan: (await routes.write(action.route)).state !== 'known' };
        default:
          return { replan: (await routes.remove({ org: owner.org, uid: owner.uid })).state !== 'known' };
      }
    },

    lead(queue: KeyedQueue) {
      const stopReservations = reservations.lead(queue);
      trunkCache?.clear();
      const stopPolling = trunkCache?.poll((uids) => {
        for (const object of informer.cache.list()) if (uids.has(object.metadata.uid)) queue.enqueue(keyOf(object));
      }, removeLeftBehind);
      return () => {
        stopReservations();
        stopPolling?.();
      };
    },
    refresh() {
      routes.clear();
      claims.clear();
      reservations.releaseGone();
    },
    deleted(phoneNumber) {
      trunkCache?.forget(phoneNumber.metadata.uid);
      reservations.release(numberOwner(phoneNumber));
    },
    catchUp: () => reservations.releaseGone(),
  };
}

/** Identifies what belongs to a PhoneNumber in Postgres and at the media server. */
function numberOwner(phoneNumber: Stored<PhoneNumber>): NumberOwner & Ownership {
  const { number, deletionPolicy } = phoneNumber.spec;
  return { org: namespaceOf(phoneNumber), uid: phoneNumber.metadata.uid, number, deletionPolicy };
}
