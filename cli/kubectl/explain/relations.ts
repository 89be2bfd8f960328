/** Finds what a resource refers to and who refers to it, with the state of each end. Pure. */
import type { Agent, AgentTest, KnowledgeBase, PhoneNumber, Tool, WebhookSubscription } from '../../../crds/index.ts';
import { referencesOf, type ParleyObject, type Reference } from '../../../operator/references/references-of.ts';
import type { DataObject, ClusterSnapshot } from '../../../operator/references/cluster-snapshot.ts';
import { attachments, functionNameOf } from '../../../operator/tool/attachment.ts';
import { reportResource } from '../status/resources.ts';

export interface Relation {
  /** `Secret keys`, `Tool orders` */
  readonly object: string;
  readonly field: string;
  /** `exists`, `does not exist`, `has no key "apiKey"`, `ready`, `not ready: SecretNotFound`, … */
  readonly state: string;
  /** Absent where it is not known. */
  readonly sound?: boolean;
  readonly refersTo?: readonly Relation[];
}

export interface Neighbours {
  readonly agents: readonly Agent[];
  readonly tools: readonly Tool[];
  readonly phoneNumbers: readonly PhoneNumber[];
  readonly knowledgeBases: readonly KnowledgeBase[];
  readonly subscriptions: readonly WebhookSubscription[];
  readonly agentTests: readonly AgentTest[];
}

/** Looks downwards. An agent's tools count as what it refers to, though it is they that name the agent: it talks by means of them. */
export function refersTo(object: ParleyObject, snapshot: ClusterSnapshot, all: Neighbours): readonly Relation[] {
  const namespace = object.metadata.namespace ?? '';
  const direct = referencesOf(object).map((reference) => relationOf(reference, namespace, snapshot, all));
  if (object.kind !== 'Agent') return direct;
  const tools = all.tools.filter((tool) => attachments(tool).includes(object.metadata.name));
  return [
    ...direct,
    ...tools.map((tool) => {
      const { state, sound } = stateOf(tool);
      return {
        object: `Tool ${tool.metadata.name}`,
        field: `its spec.agentRefs; ${functionsOf(tool)}`,
        refersTo: referencesOf(tool as ParleyObject)
          .filter(({ kind }) => kind !== 'Agent')
          .map((reference) => relationOf(reference, namespace, snapshot, all)),
        state,
        sound,
      };
    }),
  ];
}

function functionsOf(tool: Tool): string {
  const name = functionNameOf(tool);
  return name === undefined ? `${tool.status?.mcp?.functions?.length ?? 0} functions` : `function ${name}`;
}

/** Looks upwards: everything in the namespace that names the object. */
export function referredToBy(object: ParleyObject, all: Neighbours): readonly Relation[] {
  const others: readonly ParleyObject[] = [
    ...all.agents,
    ...all.phoneNumbers,
    ...all.subscriptions,
    ...all.tools,
    ...all.knowledgeBases,
    ...all.agentTests,
  ] as readonly ParleyObject[];
  return others.flatMap((other) =>
    // An agent's tools are shown as its own.
    other.kind === 'Tool' && object.kind === 'Agent'
      ? []
      : referencesOf(other)
          .filter(({ kind, name }) => kind === object.kind && name === object.metadata.name)
          .map(({ field }) => named(other, field)),
  );
}

function named(other: ParleyObject, field: string): Relation {
  return { object: `${other.kind} ${other.metadata.name}`, field, ...stateOf(other) };
}

function relationOf(reference: Reference, namespace: string, snapshot: ClusterSnapshot, all: Neighbours): Relation {
  const { kind, name, key, field } = reference;
  const object = `${kind} ${name}`;
  if (kind === 'Secret' || kind === 'ConfigMap') {
    const found = kind === 'Secret' ? snapshot.secret(namespace, name) : snapshot.configMap(namespace, name);
    return { object: key === undefined ? object : `${object}, key ${key}`, field, ...keyedState(found, key) };
  }
  const target = (kind === 'Agent' ? all.agents : all.knowledgeBases).find(({ metadata }) => metadata.name === name);
  return { object, field, ...(target === undefined ? { state: 'does not exist', sound: false } : stateOf(target)) };
}

/** Tells only whether there is a value, and never the value itself. */
function keyedState(found: DataObject, key: string | undefined): Pick<Relation, 'state' | 'sound'> {
  if (found.state === 'absent') return { state: 'does not exist', sound: false };
  // An object that may not be read is taken to be there, with no uid.
  if (found.state === 'forbidden' || found.uid === '') return { state: 'not known: you may not read it' };
  if (key !== undefined && !found.keys.has(key)) return { state: `has no key "${key}"`, sound: false };
  return { state: 'exists', sound: true };
}

function stateOf(object: Parameters<typeof reportResource>[0]): { readonly state: string; readonly sound: boolean } {
  const { state, reason } = reportResource(object);
  return state === 'ready' ? { state, sound: true } : { state: `${state}: ${reason}`, sound: false };
}
