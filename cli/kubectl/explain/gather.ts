/** The verdict of `parley explain`, and what stands around the resource. */
import {
  agentKind,
  knowledgeBaseKind,
  phoneNumberKind,
  toolKind,
  webhookSubscriptionKind,
  type Agent,
  type AgentStatus,
  type KnowledgeBase,
  type PhoneNumber,
  type Tool,
  type WebhookSubscription,
} from '../../../crds/index.ts';
import type { KubeObject, ResourceDescriptor } from '../../../kube/index.ts';
import { LEASE_NAME } from '../../../operator/lease-name.ts';
import { assess, type Assessment } from '../../explain/assess.ts';
import { gather } from '../../explain/gather.ts';
import type { Target } from '../../explain/target.ts';
import type { Connection } from '../connection.ts';
import { builtIn } from '../descriptors.ts';
import { installedDeployments, roleOf } from '../installation.ts';
import { Reader } from '../reader.ts';
import { referredToBy, refersTo, type Neighbours, type Relation } from './relations.ts';

export interface Revision {
  /** What new calls start with; absent while nothing has been sound yet. */
  readonly serving?: string;
  readonly since?: string;
  /** What the spec asks for now. */
  readonly desired?: string;
}

export interface EventReport {
  readonly time: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

export interface Explanation extends Assessment {
  /** Of an Agent. */
  readonly revision?: Revision;
  readonly refersTo: readonly Relation[];
  readonly referredToBy: readonly Relation[];
  /** The last of them, oldest first; absent where they may not be read. */
  readonly events?: readonly EventReport[];
}

export interface Event extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly eventTime?: string | null;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
  readonly deprecatedLastTimestamp?: string | null;
  readonly deprecatedCount?: number;
  readonly regarding?: { readonly kind?: string; readonly name?: string; readonly namespace?: string };
}

const shownEvents = 10;

export async function gatherExplanation(
  connection: Connection,
  options: {
    readonly target: Target;
    readonly leaseNamespace: string;
    readonly systemNamespace?: string | undefined;
    readonly now: number;
  },
): Promise<Explanation> {
  const { namespace, transport } = connection;
  const reader = new Reader(transport);
  const deployments = await installedDeployments(reader, { systemNamespace: options.systemNamespace, namespace });
  // Whether the operator's home is found or not: only the Lease is looked for there.
  const home = deployments?.find((each) => roleOf(each) === 'operator')?.metadata.namespace;
  const lease = { namespace: home ?? options.systemNamespace ?? options.leaseNamespace, name: LEASE_NAME };
  const gathered = await gather(transport, options.target, namespace, lease);
  const { object, snapshot } = gathered;
  const own = new Reader(transport);
  const [neighbours, events] = await Promise.all([neighboursIn(own, namespace), eventsOf(own, object, namespace)]);
  const assessment = assess(gathered, options.now);
  return {
    ...assessment,
    notes: [...assessment.notes, ...own.notes],
    ...(object.kind === 'Agent' && { revision: revisionOf((object as Agent).status) }),
    refersTo: refersTo(object, snapshot, neighbours),
    referredToBy: referredToBy(object, neighbours),
    ...(events !== undefined && { events }),
  };
}

async function neighboursIn(reader: Reader, namespace: string): Promise<Neighbours> {
  const list = async <T extends KubeObject>(descriptor: ResourceDescriptor): Promise<readonly T[]> =>
    (await reader.list<T>(descriptor, { namespace })) ?? [];
  const [agents, tools, phoneNumbers, knowledgeBases, subscriptions] = await Promise.all([
    list<Agent>(agentKind.descriptor),
    list<Tool>(toolKind.descriptor),
    list<PhoneNumber>(phoneNumberKind.descriptor),
    list<KnowledgeBase>(knowledgeBaseKind.descriptor),
    list<WebhookSubscription>(webhookSubscriptionKind.descriptor),
  ]);
  return { agents, tools, phoneNumbers, knowledgeBases, subscriptions };
}

async function eventsOf(reader: Reader, object: KubeObject, namespace: string): Promise<readonly EventReport[] | undefined> {
  const fieldSelector = `regarding.kind=${object.kind},regarding.name=${object.metadata.name}`;
  const events = await reader.list<Event>(builtIn.events, { namespace, fieldSelector });
  return events
    ?.map(reportEvent)
    .sort((a, b) => Date.parse(a.time) - Date.parse(b.time))
    .slice(-shownEvents);
}

export function reportEvent({
  type,
  reason,
  note,
  eventTime,
  series,
  deprecatedLastTimestamp,
  deprecatedCount,
  metadata,
}: Event): EventReport {
  return {
    time: series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '',
    type: type ?? 'Normal',
    reason: reason ?? '',
    message: note ?? '',
    count: series?.count ?? deprecatedCount ?? 1,
  };
}

function revisionOf(status: AgentStatus | undefined): Revision {
  const { servingRevision: serving, activeSince: since, desiredRevision: desired } = status ?? {};
  return { ...(serving !== undefined && { serving }), ...(since !== undefined && { since }), ...(desired !== undefined && { desired }) };
}
