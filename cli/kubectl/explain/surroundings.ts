/** Gathers the verdict of `parley explain`, and what stands around the resource. */
import { phoneNumberKind, type Agent, type AgentStatus, type PhoneNumber, type Tool, type ToolStatus } from '../../../crds/index.ts';
import { readEvents, type EventReport } from '../../cluster/events.ts';
import { findOperator } from '../../cluster/operator.ts';
import { Reader } from '../../cluster/reader.ts';
import type { ClusterConnection } from '../connection.ts';
import { assess, type Assessment } from './assess.ts';
import { gather } from './gather.ts';
import { referredToBy, refersTo, type Relation } from './relations.ts';
import type { ExplainTarget } from './target.ts';
import { present } from '../../../platform/present.ts';

export interface Revision {
  /** Revision that new calls start with; absent while nothing has been sound yet. */
  readonly serving?: string;
  readonly since?: string;
  readonly desired?: string;
  /** Revision that a part of the new calls start with. */
  readonly canary?: { readonly revision: string; readonly percent: number };
}

export interface Explanation extends Assessment {
  /** Present for an Agent. */
  readonly revision?: Revision;
  /** Present for a Tool that is an MCP server: how its list of tools differs from the one that agents use. */
  readonly toolChanges?: NonNullable<NonNullable<ToolStatus['mcp']>['changes']>;
  readonly refersTo: readonly Relation[];
  readonly referredToBy: readonly Relation[];
  /** The last events, oldest first; absent where they may not be read. */
  readonly events?: readonly EventReport[];
}

const SHOWN_EVENTS = 10;

export async function gatherExplanation(connection: ClusterConnection, target: ExplainTarget, now: number): Promise<Explanation> {
  const { namespace, transport } = connection;
  const reader = new Reader(transport);
  const [gathered, operator] = await Promise.all([
    gather(reader, namespace, target),
    // Drops this reader's notes: nothing is taken to be in order for want of a Lease.
    findOperator(new Reader(transport), connection, now),
  ]);
  const { object, snapshot } = gathered;
  const fieldSelector = `regarding.kind=${object.kind},regarding.name=${object.metadata.name}`;
  const [phoneNumbers = [], events] = await Promise.all([
    reader.list<PhoneNumber>(phoneNumberKind.descriptor, { namespace }),
    readEvents(reader, { namespace, fieldSelector }),
  ]);
  const neighbours = { ...gathered, phoneNumbers };
  const changes = object.kind === 'Tool' ? (object as Tool).status?.mcp?.changes : undefined;
  return {
    ...assess({ ...gathered, notes: reader.notes, operator }, now),
    ...(object.kind === 'Agent' && { revision: describeRevision((object as Agent).status) }),
    ...(changes !== undefined && { toolChanges: changes }),
    refersTo: refersTo(object, snapshot, neighbours),
    referredToBy: referredToBy(object, neighbours),
    ...(events !== undefined && { events: events.slice(-SHOWN_EVENTS).map(({ report }) => report) }),
  };
}

function describeRevision(status: AgentStatus | undefined): Revision {
  const { servingRevision: serving, servingSince: since, desiredRevision: desired, canary } = status ?? {};
  return present({ serving, since, desired, canary: canary && { revision: canary.revision, percent: canary.percent } });
}
