/** The verdict of `parley explain`, and what stands around the resource. */
import { phoneNumberKind, type Agent, type AgentStatus, type PhoneNumber, type Tool, type ToolStatus } from '../../../crds/index.ts';
import type { KubeObject } from '../../../kube/index.ts';
import { builtIn } from '../../descriptors.ts';
import type { ClusterConnection } from '../connection.ts';
import { installedDeployments, roleOf } from '../installation.ts';
import { Reader } from '../reader.ts';
import { assess, type Assessment } from './assess.ts';
import { gather } from './gather.ts';
import { referredToBy, refersTo, type Relation } from './relations.ts';
import type { ExplainTarget } from './target.ts';

export interface Revision {
  /** What new calls start with; absent while nothing has been sound yet. */
  readonly serving?: string;
  readonly since?: string;
  /** What the spec asks for now. */
  readonly desired?: string;
  /** What a part of the new calls start with. */
  readonly canary?: { readonly revision: string; readonly percent: number };
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
  /** Of a Tool that is an MCP server: how its list of tools differs from the one that agents use. */
  readonly toolChanges?: NonNullable<NonNullable<ToolStatus['mcp']>['changes']>;
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

const SHOWN_EVENTS = 10;

export async function gatherExplanation(
  connection: ClusterConnection,
  { target, leaseNamespace, now }: { readonly target: ExplainTarget; readonly leaseNamespace: string; readonly now: number },
): Promise<Explanation> {
  const { namespace, systemNamespace, transport } = connection;
  const deployments = await installedDeployments(new Reader(transport), connection);
  const home = deployments?.find((each) => roleOf(each) === 'operator')?.metadata.namespace;
  const gathered = await gather(connection, target, { leaseNamespace: home ?? systemNamespace ?? leaseNamespace, now });
  const { object, snapshot } = gathered;
  const reader = new Reader(transport);
  const [phoneNumbers = [], events] = await Promise.all([
    reader.list<PhoneNumber>(phoneNumberKind.descriptor, { namespace }),
    eventsOf(reader, object, namespace),
  ]);
  const neighbours = { ...gathered, phoneNumbers };
  const assessment = assess(gathered, now);
  const changes = object.kind === 'Tool' ? (object as Tool).status?.mcp?.changes : undefined;
  return {
    ...assessment,
    notes: [...assessment.notes, ...reader.notes],
    ...(object.kind === 'Agent' && { revision: revisionOf((object as Agent).status) }),
    ...(changes !== undefined && { toolChanges: changes }),
    refersTo: refersTo(object, snapshot, neighbours),
    referredToBy: referredToBy(object, neighbours),
    ...(events !== undefined && { events }),
  };
}

async function eventsOf(reader: Reader, object: KubeObject, namespace: string): Promise<readonly EventReport[] | undefined> {
  const fieldSelector = `regarding.kind=${object.kind},regarding.name=${object.metadata.name}`;
  const events = await reader.list<Event>(builtIn.events, { namespace, fieldSelector });
  return events
    ?.map(reportEvent)
    .sort((a, b) => Date.parse(a.time) - Date.parse(b.time))
    .slice(-SHOWN_EVENTS);
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
  const { servingRevision: serving, activeSince: since, desiredRevision: desired, canary } = status ?? {};
  return {
    ...(serving !== undefined && { serving }),
    ...(since !== undefined && { since }),
    ...(desired !== undefined && { desired }),
    ...(canary !== undefined && { canary: { revision: canary.revision, percent: canary.percent } }),
  };
}
