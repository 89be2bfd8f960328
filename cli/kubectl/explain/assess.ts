/** Compares the conditions that the operator reported with the result of the same checks now. Pure. */
import type { Agent, AgentTest, CommonStatus, KnowledgeBase, PhoneNumber, Tool, WebhookSubscription } from '../../../crds/index.ts';
import type { Condition } from '../../../kube/types.ts';
import { planAgent, type StoreView } from '../../../operator/agent/plan.ts';
import { planAgentTest } from '../../../operator/agent-test/plan.ts';
import { planKnowledgeBase } from '../../../operator/knowledge-base/plan.ts';
import { planPhoneNumber } from '../../../operator/phone-number/plan.ts';
import type { OwnershipFacts } from '../../../operator/phone-number/ownership.ts';
import type { ParleyObject } from '../../../operator/references/references-of.ts';
import type { ClusterSnapshot } from '../../../operator/references/cluster-snapshot.ts';
import { effectOfSuspend } from '../../../operator/status/common.ts';
import { releaseReasons } from '../../../operator/status/release-reasons.ts';
import { reasons, type Reason } from '../../../operator/status/reasons.ts';
import { planTool } from '../../../operator/tool/plan.ts';
import { planWebhookSubscription } from '../../../operator/webhook-subscription/plan.ts';
import type { OperatorReport } from '../../cluster/operator.ts';
import type { Gathered } from './gather.ts';

export interface ConditionFinding {
  readonly condition: string;
  readonly reason: string;
  readonly message: string;
  /** Says what to do, where something needs doing. */
  readonly cure?: string;
}

export interface Assessment {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly ready: boolean;
  readonly summary: string;
  readonly problems: readonly ConditionFinding[];
  /** Findings that are worth knowing, but don't keep it from being ready. */
  readonly remarks: readonly ConditionFinding[];
  readonly notes: readonly string[];
}

/** These reasons only say that another stage failed, or that this command can't know. */
const consequences: ReadonlySet<string> = new Set<Reason>([
  'RevisionWithheld',
  'RevisionReduced',
  'RevisionPending',
  'CollectionWithheld',
  'CollectionPending',
  'DeliveryHeldUp',
  'TrunksWithheld',
]);
/** Results of tests are in Postgres, which this command doesn't ask: what the operator reported counts. */
const heldByTests: ReadonlySet<string> = new Set<Reason>(['RevisionAwaitsTests', 'RevisionFailedTests']);
/** These reasons of a True say something that one may not expect. */
const remarkable: ReadonlySet<string> = new Set<Reason>(['SpecAcceptedWithRemarks', 'PinPassedOver']);
const stages: ReadonlySet<string> = new Set(['Accepted', 'ResolvedRefs', 'Synced', 'UpToDate', 'EndpointHealthy']);

/** Milliseconds after which a deletion that no operator has looked at is looked at by none. */
const OPERATOR_EXPECTED_MS = 60_000;

export interface Assessed extends Pick<Gathered, 'object' | 'snapshot'> {
  /** Notes on what could not be read, and so was taken to be in order. */
  readonly notes: readonly string[];
  readonly operator: OperatorReport;
}

export function assess({ object, snapshot, notes, operator }: Assessed, now: number): Assessment {
  const { kind } = object;
  const { namespace = '', name } = object.metadata;
  const status = object.status as CommonStatus | undefined;
  const current = status?.observedGeneration === object.metadata.generation;
  const reported = current ? (status?.conditions ?? []) : [];
  const reportedReady = reported.find((condition) => condition.type === 'Ready');
  const done = (
    ready: boolean,
    summary: string,
    problems: readonly ConditionFinding[],
    remarks: readonly ConditionFinding[] = [],
  ): Assessment => ({
    kind,
    namespace,
    name,
    ready,
    summary,
    problems,
    remarks,
    notes,
  });

  if (object.metadata.deletionTimestamp !== undefined) {
    if (reportedReady?.reason === 'Deleting') return done(false, 'it is being deleted', [finding(reportedReady)]);
    const waits = now - Date.parse(object.metadata.deletionTimestamp) > OPERATOR_EXPECTED_MS;
    return done(false, 'it is being deleted', waits ? [undeletedFinding(operator)] : []);
  }
  if (object.spec.suspend === true) {
    return done(false, 'it is suspended', [
      {
        condition: 'Suspended',
        reason: 'Suspended',
        message: effectOfSuspend(object),
        cure: cureOf('Suspended'),
      },
    ]);
  }
  const computed = planNow(object, snapshot, reported, now).filter(
    (condition) =>
      stages.has(condition.type) &&
      (condition.status !== 'True' || remarkable.has(condition.reason)) &&
      !consequences.has(condition.reason) &&
      !heldByTests.has(condition.reason),
  );
  const problems = computed.filter((condition) => blocks(condition.reason)).map(finding);
  const shown = new Set(computed.map(({ reason }) => reason));
  // A release goes on, or was taken back, whatever else is wrong.
  const releases = reported.filter(
    ({ type, reason }) => type === 'Progressing' && reasonDefinition(reason)?.progressing !== undefined && !shown.has(reason),
  );
  const remarks = [...computed.filter((condition) => !blocks(condition.reason)), ...releases].map(finding);
  if (problems.length > 0) return done(false, 'something in it, or in what it names, needs correcting', problems, remarks);
  if (!current || reportedReady === undefined) {
    return done(
      false,
      'nothing is wrong with it, but the operator has not looked at its present state yet',
      [operatorFinding(operator)],
      remarks,
    );
  }
  const untested = reported.filter(({ type, status: tested }) => type === 'Tested' && tested !== 'True');
  if (reportedReady.status === 'True') {
    return done(true, 'it is in use', [], [...remarks, ...untested.map(finding), ...failedRuns(object)]);
  }
  const blocking = reported.filter(
    (condition) =>
      stages.has(condition.type) && condition.status !== 'True' && blocks(condition.reason) && !consequences.has(condition.reason),
  );
  // Something that the checks here can't see, such as Postgres, holds it up; or it has been put right a moment ago.
  const seen = blocking.filter((condition) => condition.type === 'Synced');
  if (seen.length > 0) {
    const tested = seen.some(({ reason }) => heldByTests.has(reason));
    // This reason only says where to look.
    const causes = seen.flatMap((held) => (held.reason === 'RevisionAwaitsTests' && untested.length > 0 ? untested : [held]));
    return done(false, tested ? 'its required tests have not passed' : 'the operator is held up', causes.map(finding), remarks);
  }
  return done(false, 'what was wrong has been put right, and the operator has not looked again yet', [operatorFinding(operator)], remarks);
}

/** Returns what an AgentTest's newest results complain of: the test itself may be in order all the same. */
function failedRuns(object: ParleyObject): readonly ConditionFinding[] {
  if (object.kind !== 'AgentTest') return [];
  return ((object as AgentTest).status?.results ?? []).flatMap(({ agent, verdict, message = 'it says no more' }) =>
    verdict === 'Failed' || verdict === 'Error' ? [{ condition: `Last run on ${agent}`, reason: verdict, message }] : [],
  );
}

/** Returns the conditions that the operator would report now, and takes from its report what only the operator knows. */
function planNow(object: ParleyObject, around: ClusterSnapshot, reported: readonly Condition[], now: number): readonly Condition[] {
  const reasonOf = (type: string): string | undefined => reported.find((condition) => condition.type === type)?.reason;
  const addressProblem = (): string | undefined => (reasonOf('Accepted') === 'AddressForbidden' ? 'it is forbidden' : undefined);
  const snapshot = { ...around, addresses: { web: addressProblem, sip: addressProblem } };
  const status = (): CommonStatus | undefined => {
    switch (object.kind) {
      case 'Agent': {
        const agent = object as Agent;
        return planAgent(agent, snapshot, servingAsReported(agent), { now, deletionGraceMs: 0 }).status;
      }
      case 'Tool':
        return planTool(object as Tool, snapshot, now).status;
      case 'PhoneNumber':
        return planPhoneNumber(object as PhoneNumber, snapshot, {
          now,
          deletionGraceMs: 0,
          nativeNumbers: { has: () => reasonOf('Accepted') !== 'NumberNotInPool' },
          ownership: ownershipAsReported(object, reasonOf('Accepted')),
          route: { state: 'known' },
        }).status;
      case 'KnowledgeBase': {
        const base = object as KnowledgeBase;
        const unknown = reasonOf('Accepted') === 'UnknownEmbeddingProfile';
        return planKnowledgeBase(
          base,
          snapshot,
          { state: 'known', sourceDocuments: [] },
          {
            now,
            profiles: unknown ? [] : [{ name: base.spec.embedding.profile, model: '', dimension: 0 }],
            rerankProfiles: reasonOf('Accepted') === 'UnknownRerankProfile' ? [] : [{ name: base.spec.reranking?.profile ?? '' }],
            store: '',
            deletionGraceMs: 0,
          },
        ).status;
      }
      case 'WebhookSubscription':
        return planWebhookSubscription(object as WebhookSubscription, snapshot, {
          now,
          addressProblem,
        }).status;
      case 'AgentTest':
        return planAgentTest(object as AgentTest, snapshot, { state: 'known', results: [] }, now).status;
      default:
        return undefined;
    }
  };
  // Only the operator knows what an MCP server and the media server have: what it reported counts.
  const asked = askedByOperator[object.kind] ?? [];
  const conditions = [
    ...(status()?.conditions ?? []).filter(({ type }) => !asked.includes(type)),
    // A media server that holds a number up is nothing to correct in it.
    ...reported.filter(({ type, reason }) => asked.includes(type) && (object.kind === 'Tool' || !blocks(reason))),
  ];
  // Takes the operator's own words about its configuration and about releases, which only it knows.
  const release = reported.find(({ type, reason }) => type === 'Synced' && Object.hasOwn(releaseReasons, reason));
  return conditions.map(
    (condition) =>
      (condition.type === 'Synced' && condition.reason === 'RevisionPending' ? release : undefined) ??
      (isOperatorsOwn(condition) ? reported.find((said) => said.type === condition.type && said.reason === condition.reason) : undefined) ??
      condition,
  );
}

const askedByOperator: Partial<Record<ParleyObject['kind'], readonly string[]>> = { Tool: ['Synced', 'UpToDate'], PhoneNumber: ['Synced'] };

const operatorsOwn: ReadonlySet<string> = new Set<Reason>([
  'UnknownEmbeddingProfile',
  'UnknownRerankProfile',
  'AddressForbidden',
  'NumberTaken',
  'NumberReserved',
  'NumberNotAssigned',
]);

function isOperatorsOwn({ type, reason }: Condition): boolean {
  return type === 'Synced' || operatorsOwn.has(reason);
}

/** Claims are in Postgres, which this command doesn't ask. */
function ownershipAsReported({ metadata }: ParleyObject, reason: string | undefined): OwnershipFacts {
  const { namespace: org = '', uid = '' } = metadata;
  if (reason === 'NumberNotAssigned') return { claim: { state: 'known' }, assignees: [] };
  if (reason === 'NumberReserved')
    return { claim: { state: 'known', claim: { org: '', uid: '', reservedUntil: new Date(0), expired: false } } };
  return { claim: { state: 'known', claim: { org: reason === 'NumberTaken' ? '' : org, uid, expired: false } } };
}

function servingAsReported(agent: Agent): StoreView {
  const { servingRevision, servingSince } = agent.status ?? {};
  return servingRevision === undefined
    ? { state: 'known' }
    : { state: 'known', serving: { revision: servingRevision, since: servingSince ?? '' } };
}

function finding({ type, reason, message }: Condition): ConditionFinding {
  const cure = cureOf(reason);
  return { condition: type, reason, message, ...(cure === undefined ? {} : { cure }) };
}

function reasonDefinition(reason: string) {
  return Object.hasOwn(reasons, reason) ? reasons[reason as Reason] : undefined;
}

function cureOf(reason: string): string {
  return reasonDefinition(reason)?.cure ?? 'Wait; the operator retries by itself.';
}

function blocks(reason: string): boolean {
  return reasonDefinition(reason)?.blocks !== undefined;
}

/** The finalizer waits for an operator, which may have gone first. */
function undeletedFinding(operator: OperatorReport): ConditionFinding {
  const { message, ...about } = operatorFinding(operator);
  return {
    ...about,
    message: `no operator answers: ${message}, and the finalizer parley.dev/finalizer waits for it`,
    cure: 'Start an operator. Where there will be none any more, take the finalizer off: `kubectl patch <kind> <name> --type=merge -p \'{"metadata":{"finalizers":null}}\'`; what the object had in Postgres and at the media server stays there.',
  };
}

function operatorFinding(operator: OperatorReport): ConditionFinding {
  const about = { condition: 'Ready', reason: 'NotObserved' };
  switch (operator.state) {
    case 'leading':
      return {
        ...about,
        message: `the operator ${operator.holder ?? ''} is running`,
        cure: 'Wait a moment and ask again; if nothing changes, look at its log for this object.',
      };
    case 'silent':
      return {
        ...about,
        message: `the operator ${operator.holder ?? ''} has stopped renewing its Lease`,
        cure: 'Start an operator again (`parley operator`, `parley dev`, or its Deployment).',
      };
    case 'none':
      return { ...about, message: 'no operator is running', cure: 'Start one: `parley operator`, `parley dev`, or its Deployment.' };
    default:
      return {
        ...about,
        message: 'could not find out whether an operator is running',
        cure: 'Check that one runs: `parley operator`, `parley dev`, or its Deployment.',
      };
  }
}
