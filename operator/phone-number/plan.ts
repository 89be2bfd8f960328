import { countryOf, sipRegions } from '../../calls/sip/regions.ts';
import type { SipKind, SipSpec } from '../../calls/sip/trunk-specs.ts';
import type { SipThing } from '../../calls/sip/trunks.ts';
import type { PhoneNumber, PhoneNumberStatus } from '../../crds/index.ts';
import type { NumberPool } from '../../platform/config/phone-numbers.ts';
import type { PhoneRoute } from '../../store/index.ts';
import { phoneNumberReferences, type Reference } from '../references/references-of.ts';
import { notAnOrganization, unresolved } from '../references/unresolved.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import type { FinalizerAction, Plan } from '../runtime/reconciler.ts';
import { commonFields, hasFinalizer, isDeleting, isSuspended, suspendedStatus } from '../status/common.ts';
import { findCondition } from '../../crds/kind.ts';
import type { ConditionStage } from '../status/conditions.ts';
import { planBlockedDeletion } from '../runtime/blocked-deletion.ts';
import { sameJson } from '../../platform/json.ts';
import { similarName } from '../../platform/similar-name.ts';
import type { Problem } from '../status/reasons.ts';
import { accepted, notSynced, resolvedRefs } from '../status/stages.ts';
import { desiredTrunks, type DesiredTrunks, type TrunkSettings } from './desired-trunks.ts';
import { ownershipOf, type OwnershipFacts } from './ownership.ts';
import type { RouteView, SipView } from './view.ts';
import { present } from '../../platform/present.ts';

export type PhoneNumberAction =
  | { readonly type: 'claim' }
  | { readonly type: 'create'; readonly spec: SipSpec }
  | { readonly type: 'replace'; readonly id: string; readonly spec: SipSpec }
  | { readonly type: 'remove'; readonly thing: Pick<SipThing, 'kind' | 'id'> }
  | { readonly type: 'writeRoute'; readonly route: PhoneRoute }
  | { readonly type: 'removeRoute' };

/** The state of the media server, and the inputs of its trunks. */
export interface Telephony {
  readonly sip: SipView;
  readonly settings: TrunkSettings;
  /** The password from the Secret that the spec names; undefined where it names none, or it can't be read. */
  readonly password: string | undefined;
  /** Distinguishes two specs without revealing their content. */
  readonly digest: (spec: SipSpec) => string;
}

export interface PhoneNumberPlanOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly nativeNumbers: Pick<NumberPool, 'has'>;
  readonly ownership: OwnershipFacts;
  /** How long a deletion waits for Postgres or the media server, in milliseconds. */
  readonly deletionGraceMs: number;
  readonly route: RouteView;
  /** Absent where LIVEKIT_URL is not set. */
  readonly telephony?: Telephony;
}

/** Time between two reads of a password that is there according to the snapshot, in milliseconds. */
const UNREAD_RETRY_MS = 1_000;

export type PhoneNumberPlan = Plan<PhoneNumberAction | FinalizerAction, PhoneNumberStatus>;

/**
 * The media server gets the trunks of an accepted number, and calls find its route in Postgres. An invalid edit changes neither.
 * Without a media server `Ready` follows the spec and its references alone.
 */
export function planPhoneNumber(phoneNumber: PhoneNumber, snapshot: ClusterSnapshot, options: PhoneNumberPlanOptions): PhoneNumberPlan {
  if (isDeleting(phoneNumber)) return planDeletion(phoneNumber, options);
  if (isSuspended(phoneNumber)) return { actions: [], status: suspendedStatus(phoneNumber, options.now) };
  const namespace = phoneNumber.metadata.namespace ?? '';
  const { telephony, route } = options;
  const foreign = notAnOrganization(namespace, snapshot);
  if (foreign.length > 0) {
    const actions = telephony === undefined ? [] : withdrawal(phoneNumber, telephony.sip, route);
    return { actions, status: commonFields(phoneNumber, options.now, [accepted(foreign)]) };
  }

  const owning = ownershipOf(phoneNumber, snapshot, options.ownership);
  const ownership = [...(owning.verdict === 'rival' ? [owning.problem] : []), ...notInPool(phoneNumber, options.nativeNumbers)];
  if (owning.verdict === 'claimant' && ownership.length === 0) return { actions: [{ type: 'claim' }] };
  const trunk = [...unusableTermination(phoneNumber, snapshot), ...unknownRegion(phoneNumber)];
  const credentials = phoneNumberReferences(phoneNumber).filter(({ kind }) => kind === 'Secret');
  const empty = telephony?.password === '' ? credentials.map((reference) => emptyPassword(namespace, reference)) : [];
  const references = [...unresolved(namespace, phoneNumberReferences(phoneNumber), snapshot), ...empty];
  const withheld = [...trunk, ...unresolved(namespace, credentials, snapshot), ...empty];
  // The Secret changed between the read of its value and that of its keys: without the value a trunk would lose its login.
  if (withheld.length === 0 && credentials.length > 0 && telephony !== undefined && telephony.password === undefined)
    return { actions: [], requeueAfterMs: UNREAD_RETRY_MS };
  // A number isn't accepted before its owner is known: the condition distinguishes owner from rival while Postgres is unavailable.
  const undecided = owning.verdict === 'unknown' ? [undecidedBy(owning.why)] : [];
  const [problem] = ownership.length === 0 ? undecided : [];
  const { stage, actions, ids } =
    problem === undefined
      ? connection(phoneNumber, snapshot, { telephony, route, ownership, withheld, references })
      : { stage: notSynced(problem), actions: [], ids: idsShown(phoneNumber, telephony?.sip) };
  const stages = [accepted([...ownership, ...undecided, ...trunk]), resolvedRefs(references), stage];
  const message =
    telephony === undefined ? 'the number is yours and everything it names exists' : 'the number is yours, and it is connected';
  return {
    actions,
    status: {
      ...commonFields(phoneNumber, options.now, stages, { message }),
      ...ids,
    },
  };
}

/** A trunk whose login has no password would ask for none. */
function emptyPassword(namespace: string, { name, key = '', field }: Reference): Problem {
  return {
    reason: 'SecretKeyNotFound',
    message: `Secret ${namespace}/${name} has nothing in its key "${key}"; put the password there or change ${field}`,
  };
}

function undecidedBy(why: string): Problem {
  return { reason: 'StoreUnavailable', message: `the owner of the number cannot be determined: ${why}; the operator retries` };
}

type Ids = Pick<PhoneNumberStatus, 'inboundTrunkID' | 'outboundTrunkID' | 'dispatchRuleID'>;

interface Connection {
  readonly stage: ConditionStage;
  readonly actions: PhoneNumberPlan['actions'];
  readonly ids: Ids;
}

const good = { reason: 'TrunksReady', message: 'trunks, rule and route match the spec' } as const;

function connection(
  phoneNumber: PhoneNumber,
  snapshot: ClusterSnapshot,
  {
    telephony,
    route,
    ownership,
    withheld,
    references,
  }: Readonly<Record<'ownership' | 'withheld' | 'references', readonly Problem[]>> & {
    readonly telephony: Telephony | undefined;
    readonly route: RouteView;
  },
): Connection {
  const ids = idsShown(phoneNumber, telephony?.sip);
  const stopped = (problem: Problem, actions: PhoneNumberPlan['actions'] = []): Connection => ({
    stage: notSynced(problem),
    actions,
    ids,
  });
  if (telephony === undefined)
    return {
      ...stopped({
        reason: 'MediaServerNotConfigured',
        message: 'no media server is configured, so the number is not connected; set LIVEKIT_URL for the operator',
      }),
      ids: {},
    };
  const { sip } = telephony;
  if (ownership.length > 0)
    return stopped(
      { reason: 'TrunksWithheld', message: 'the number is not connected until the spec is accepted' },
      withdrawal(phoneNumber, sip, route),
    );
  // A number that was never connected waits, so that objects may be applied in any order.
  if ((withheld.length > 0 || references.length > 0) && !hasFinalizer(phoneNumber))
    return stopped({
      reason: 'TrunksWithheld',
      message: 'the number is not connected until the spec is accepted and everything it names exists',
    });
  if (sip.state === 'unavailable') return { stage: unreachable(phoneNumber, sip), actions: [], ids };

  const desired = desiredTrunks(phoneNumber, telephony.settings, telephony.password);
  if (sip.state === 'without_redis') {
    const written = routing(phoneNumber, undefined, route);
    return {
      ...stopped(
        {
          reason: 'MediaServerWithoutTrunks',
          message: 'the media server keeps no trunks, so the number is not connected; run it with Redis and the SIP service',
        },
        written.actions,
      ),
      ids: {},
    };
  }
  // A wrong address doesn't disconnect the number, and without its password a trunk would ask for none: only the rule follows the spec.
  const trunks = trunkActions(phoneNumber, snapshot, { sip, desired, digest: telephony.digest }).filter(
    (action) => withheld.length === 0 || isOfRule(action),
  );
  if (trunks.length > 0) {
    if (trunks.some((action) => attemptId(action, telephony.digest) === sip.refused?.attempt && sip.refused !== undefined))
      return stopped({
        reason: 'TrunkRefused',
        message: `the media server refuses the number: ${sip.refused?.message ?? ''}; remove the conflicting trunk or rule there, or correct the spec`,
      });
    return stopped({ reason: 'TrunksPending', message: 'trunks and rule are being created or changed at the media server' }, [
      ...(hasFinalizer(phoneNumber) ? [] : [{ type: 'addFinalizer' } as const]),
      ...trunks,
    ]);
  }
  const written = routing(phoneNumber, ids.outboundTrunkID, route);
  if (written.problem !== undefined) return stopped(written.problem, written.actions);
  // The finalizer was removed by hand.
  if (!hasFinalizer(phoneNumber))
    return stopped({ reason: 'TrunksPending', message: 'the route of the number is being stored' }, [{ type: 'addFinalizer' }]);
  if (withheld.length > 0)
    return stopped({
      reason: 'TrunksWithheld',
      message: 'the trunks stay as they are until the spec is accepted and every Secret that it names exists',
    });
  if (desired.lacking !== undefined) return stopped({ reason: 'TerminationNotConfigured', message: desired.lacking });
  return { stage: { type: 'Synced', good, problems: [] }, actions: [], ids };
}

function isOfRule(action: PhoneNumberAction | FinalizerAction): boolean {
  if (action.type === 'remove') return action.thing.kind === 'rule';
  return (action.type === 'create' || action.type === 'replace') && action.spec.kind === 'rule';
}

/** Identifies an attempt, to recognise one that was refused. */
export function attemptId(action: PhoneNumberAction | FinalizerAction, digest: Telephony['digest']): string | undefined {
  if (action.type === 'create') return digest(action.spec);
  return action.type === 'replace' ? `${action.id} ${digest(action.spec)}` : undefined;
}

type UnavailableSip = Extract<SipView, { state: 'unavailable' }>;

function unavailableReason({ login }: UnavailableSip): Problem['reason'] {
  return login ? 'MediaServerRefusesKey' : 'MediaServerUnavailable';
}

function unreachable(phoneNumber: PhoneNumber, sip: UnavailableSip): ConditionStage {
  const reported = findCondition(phoneNumber, 'Synced');
  // What was in sync is assumed to be so: the spec has not changed since.
  if (!sip.login && reported?.reason === good.reason && reported.observedGeneration === phoneNumber.metadata.generation)
    return { type: 'Synced', good, problems: [] };
  return notSynced({
    reason: unavailableReason(sip),
    message: `trunks cannot be changed at the media server: ${sip.why}${sip.login ? '; correct them' : '; the operator retries'}`,
  });
}

function trunkActions(
  phoneNumber: PhoneNumber,
  snapshot: ClusterSnapshot,
  {
    sip,
    desired,
    digest,
  }: { readonly sip: Extract<SipView, { state: 'known' }>; readonly desired: DesiredTrunks; readonly digest: Telephony['digest'] },
): PhoneNumberPlan['actions'] {
  const { uid } = phoneNumber.metadata;
  const livesOn = new Set(snapshot.phoneNumbersWith(phoneNumber.spec.number).map((rival) => rival.metadata.uid));
  // Trunks of objects that are gone are taken over instead of conflicting.
  const left = sip.others.filter((thing) => !livesOn.has(thing.uid));
  const keep = (kind: SipKind): SipThing | undefined => ofKind(sip.own, kind)[0] ?? ofKind(left, kind)[0];
  const bring = (spec: SipSpec): PhoneNumberPlan['actions'] => {
    const there = keep(spec.kind);
    if (there === undefined) return [{ type: 'create', spec }];
    const isSame = there.uid === uid && there.digest === digest(spec) && there.deletionPolicy === phoneNumber.spec.deletionPolicy;
    return isSame ? [] : [{ type: 'replace', id: there.id, spec }];
  };
  const inbound = keep('inbound');
  const wanted: readonly (readonly [SipKind, PhoneNumberPlan['actions'] | undefined])[] = [
    ['inbound', bring(desired.inbound)],
    ['outbound', desired.outbound && bring(desired.outbound)],
    // The rule is created once its trunk exists.
    ['rule', desired.rule && (inbound === undefined ? [] : bring(desired.rule(inbound.id)))],
  ];
  const changes = wanted.flatMap(([, actions]) => actions ?? []);
  const superfluous = wanted.flatMap(([kind, actions]) => {
    const kept = actions === undefined ? undefined : keep(kind)?.id;
    return [...ofKind(sip.own, kind), ...ofKind(left, kind)].filter(({ id }) => id !== kept);
  });
  // Removals come first, because they may conflict; a rule goes before its trunk.
  return [...removals(superfluous), ...changes];
}

function ofKind(things: readonly SipThing[], kind: SipKind): readonly SipThing[] {
  return things.filter((thing) => thing.kind === kind);
}

function removals(things: readonly SipThing[]): PhoneNumberPlan['actions'] {
  return inOrderOfRemoval(things).map(({ kind, id }) => ({ type: 'remove', thing: { kind, id } }));
}

/** Orders a rule before its trunk. */
export function inOrderOfRemoval(things: readonly SipThing[]): readonly SipThing[] {
  return [...ofKind(things, 'rule'), ...ofKind(things, 'inbound'), ...ofKind(things, 'outbound')];
}

/** Removes everything of a number that the object doesn't own. */
function withdrawal(phoneNumber: PhoneNumber, sip: SipView, route: RouteView): PhoneNumberPlan['actions'] {
  if (!hasFinalizer(phoneNumber)) return [];
  if (sip.state === 'unavailable' || route.state === 'unavailable') return [];
  return [...removals(sip.state === 'known' ? sip.own : []), { type: 'removeRoute' }, { type: 'dropFinalizer' }];
}

function routing(
  phoneNumber: PhoneNumber,
  outboundTrunk: string | undefined,
  view: RouteView,
): { readonly actions: PhoneNumberPlan['actions']; readonly problem?: Problem } {
  const { metadata, spec } = phoneNumber;
  const finalized = hasFinalizer(phoneNumber);
  const route: PhoneRoute = {
    org: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    name: metadata.name,
    number: spec.number,
    type: spec.type,
    inboundAgent: spec.inboundAgentRef?.name ?? null,
    outboundAgent: spec.outboundAgentRef?.name ?? null,
    outboundTrunk: outboundTrunk ?? null,
  };
  if (view.state === 'unavailable')
    return {
      actions: [],
      problem: {
        reason: 'StoreUnavailable',
        message: `the route of the number cannot be stored: ${view.why}; the operator retries`,
      },
    };
  if (view.written !== undefined && sameJson(view.written, route)) return { actions: [] };
  // The finalizer comes first: a route without one would outlive its resource.
  const actions = [...(finalized ? [] : [{ type: 'addFinalizer' } as const]), { type: 'writeRoute', route } as const];
  return { actions, problem: { reason: 'TrunksPending', message: 'the route of the number is being stored' } };
}

/** Returns the ids that the media server has, or those in the status where it can't be read. */
function idsShown({ status }: PhoneNumber, sip: SipView | undefined): Ids {
  if (sip?.state !== 'known') {
    const { inboundTrunkID, outboundTrunkID, dispatchRuleID } = status ?? {};
    return present({ inboundTrunkID, outboundTrunkID, dispatchRuleID });
  }
  const idOf = (kind: SipKind): string | undefined => ofKind(sip.own, kind)[0]?.id;
  return present({ inboundTrunkID: idOf('inbound'), outboundTrunkID: idOf('outbound'), dispatchRuleID: idOf('rule') });
}

function notInPool({ spec }: PhoneNumber, pool: PhoneNumberPlanOptions['nativeNumbers']): readonly Problem[] {
  if (spec.type !== 'Native' || pool.has(spec.number)) return [];
  const message = `${spec.number} is not in the pool of this deployment; use a number of the pool, or make this one with type SIP or Carrier`;
  return [{ reason: 'NumberNotInPool', message }];
}

function unusableTermination({ spec }: PhoneNumber, { addresses }: ClusterSnapshot): readonly Problem[] {
  const uri = spec.sip?.terminationURI;
  const message = uri === undefined ? undefined : addresses.sip(uri);
  return message === undefined ? [] : [{ reason: 'AddressForbidden', message: `spec.sip.terminationURI: ${message}` }];
}

function unknownRegion({ spec }: PhoneNumber): readonly Problem[] {
  const region = spec.sip?.region ?? 'global';
  if (countryOf(region) !== undefined) return [];
  const similar = similarName(region, sipRegions);
  const guess = similar === undefined ? '' : `did you mean "${similar}"? `;
  const message = `spec.sip.region names "${region}", which this version does not know; ${guess}known regions: ${sipRegions.join(', ')}`;
  return [{ reason: 'UnknownRegion', message }];
}

/** Removes the route, and with the policy Delete the trunks. */
function planDeletion(phoneNumber: PhoneNumber, { telephony, route, now, deletionGraceMs }: PhoneNumberPlanOptions): PhoneNumberPlan {
  if (!hasFinalizer(phoneNumber)) return { actions: [] };
  const heldUp = (cause: Problem, blocked: string, left: string): PhoneNumberPlan =>
    planBlockedDeletion(phoneNumber, { now, deletionGraceMs, cause, blocked, left });
  if (route.state === 'unavailable')
    return heldUp(
      { reason: 'StoreUnavailable', message: route.why },
      'its route cannot be removed',
      'its route left in Postgres, and its trunks as they are',
    );
  const keeps = phoneNumber.spec.deletionPolicy !== 'Delete';
  const unreached = (cause: Problem): PhoneNumberPlan =>
    heldUp(cause, 'its trunks cannot be removed', 'its trunks left at the media server until the operator reaches that');
  if (!keeps && telephony === undefined) return unreached({ reason: 'MediaServerNotConfigured', message: 'no media server is configured' });
  const sip = keeps ? undefined : telephony?.sip;
  if (sip?.state === 'unavailable') return unreached({ reason: unavailableReason(sip), message: `of the media server: ${sip.why}` });
  const gone = sip?.state === 'known' ? removals(sip.own) : [];
  return { actions: [{ type: 'removeRoute' }, ...gone, { type: 'dropFinalizer' }] };
}
