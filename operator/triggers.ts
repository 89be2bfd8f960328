/** Finds the objects to reconcile when another one changes: exactly those that name it, or compete with it. */
import {
  subscriptionNameOf,
  type Agent,
  type AgentTest,
  type KnowledgeBase,
  type PhoneNumber,
  type Tool,
  type WebhookSubscription,
} from '../crds/index.ts';
import { keyOf, type Change, type KubeObject, type Stored } from '../kube/index.ts';
import { displayNameKey, INDEXES, type Informers, type KindName } from './informers.ts';
import { displayNameOf } from './references/cluster-snapshot.ts';
import { referenceKey, type ReferenceKind } from './references/references-of.ts';
import type { Trigger } from './runtime/controller.ts';
import { attachments, functionNameOf } from './tool/attachment.ts';

const KINDS: readonly KindName[] = ['Agent', 'Tool', 'PhoneNumber', 'KnowledgeBase', 'WebhookSubscription', 'AgentTest'];

export class Triggers {
  readonly #informers: Informers;

  constructor(informers: Informers) {
    this.#informers = informers;
  }

  /** Triggers everything that names the Secret or ConfigMap, and the agents of the tools that do. */
  onData(kind: 'Secret' | 'ConfigMap', { metadata }: KubeObject): readonly Trigger[] {
    const { namespace = '', name } = metadata;
    const tools = kind === 'Secret' ? this.#informers.Tool.cache.byIndex(INDEXES.references, referenceKey(kind, namespace, name)) : [];
    return [...this.#referrers(kind, namespace, name), ...tools.flatMap(agentsOf)];
  }

  /** Triggers others only when an agent appears or goes: they depend on nothing else of it. */
  onAgent(change: Change<Stored<Agent>>): readonly Trigger[] {
    if (!appearsOrGoes(change)) return [];
    const { namespace = '', name } = change.object.metadata;
    return this.#referrers('Agent', namespace, name);
  }

  /** Triggers the tool's agents, before and after, and the tools of these that compete for its function name. */
  onTool(change: Change<Stored<Tool>>): readonly Trigger[] {
    if (!appearsOrGoes(change) && change.previous?.metadata.generation === change.object.metadata.generation) return [];
    const states = [change.object, ...(change.previous === undefined ? [] : [change.previous])];
    const names = new Set(states.map(functionNameOf));
    const agents = new Map(states.flatMap(agentsOf).map((trigger) => [trigger.key, trigger]));
    const rivals = [...agents.keys()].flatMap((key) =>
      this.#rivals('Tool', change.object, INDEXES.references, `Agent/${key}`, (tool) => names.has(functionNameOf(tool as Stored<Tool>))),
    );
    return [...agents.values(), ...rivals];
  }

  /** Triggers the other PhoneNumbers with the same number, which never changes. */
  onPhoneNumber(change: Change<Stored<PhoneNumber>>): readonly Trigger[] {
    return appearsOrGoes(change) ? this.#sameNumber(change.object) : [];
  }

  /** Triggers agents that name the knowledge base, and others that have or had the same display name. */
  onKnowledgeBase(change: Change<Stored<KnowledgeBase>>): readonly Trigger[] {
    const { namespace = '', name } = change.object.metadata;
    const namesakes = this.#namesakes('KnowledgeBase', change, displayNameOf);
    return appearsOrGoes(change) ? [...this.#referrers('KnowledgeBase', namespace, name), ...namesakes] : namesakes;
  }

  onSubscription(change: Change<Stored<WebhookSubscription>>): readonly Trigger[] {
    return this.#namesakes('WebhookSubscription', change, subscriptionNameOf);
  }

  /** Triggers the test's agents, before and after: which of their revisions may be served depends on it. */
  onAgentTest(change: Change<Stored<AgentTest>>): readonly Trigger[] {
    const { object, previous } = change;
    if (!appearsOrGoes(change) && previous?.metadata.generation === object.metadata.generation) return [];
    const states = [object, ...(previous === undefined ? [] : [previous])];
    const names = new Set(states.flatMap(({ spec }) => spec.agentRefs.map((ref) => ref.name)));
    return [...names].map((name) => ({ kind: 'Agent', key: `${object.metadata.namespace ?? ''}/${name}` }));
  }

  /** Triggers the objects of a namespace that became an organisation, or is one no more, and the rivals for its numbers. */
  onOrganization(namespace: string): readonly Trigger[] {
    const numbers = this.#informers.PhoneNumber.cache.byIndex(INDEXES.namespace, namespace);
    return [...this.#inIndex(INDEXES.namespace, namespace), ...numbers.flatMap((object) => this.#sameNumber(object))];
  }

  #referrers(kind: ReferenceKind, namespace: string, name: string): readonly Trigger[] {
    return this.#inIndex(INDEXES.references, referenceKey(kind, namespace, name));
  }

  #inIndex(index: string, value: string): readonly Trigger[] {
    return KINDS.flatMap((kind) =>
      this.#informers[kind].cache.byIndex(index, value).map((object): Trigger => ({ kind, key: keyOf(object) })),
    );
  }

  #sameNumber(object: Stored<PhoneNumber>): readonly Trigger[] {
    return this.#rivals('PhoneNumber', object, INDEXES.number, object.spec.number);
  }

  #namesakes<T extends KubeObject>(
    kind: 'KnowledgeBase' | 'WebhookSubscription',
    change: Change<Stored<T>>,
    nameOf: (object: Stored<T>) => string,
  ): readonly Trigger[] {
    const { object, previous } = change;
    const names = new Set([nameOf(object), ...(previous === undefined ? [] : [nameOf(previous)])]);
    if (names.size === 1 && !appearsOrGoes(change)) return [];
    return [...names].flatMap((name) => this.#rivals(kind, object, INDEXES.displayName, displayNameKey(object.metadata.namespace, name)));
  }

  /** Triggers the other objects under the same value of an index. */
  #rivals(
    kind: KindName,
    object: Stored<KubeObject>,
    index: string,
    value: string,
    matches: (rival: Stored<KubeObject>) => boolean = () => true,
  ): readonly Trigger[] {
    return this.#informers[kind].cache
      .byIndex(index, value)
      .filter((rival: Stored<KubeObject>) => rival.metadata.uid !== object.metadata.uid && matches(rival))
      .map((rival): Trigger => ({ kind, key: keyOf(rival) }));
  }
}

function agentsOf(tool: Tool): readonly Trigger[] {
  return attachments(tool).map((agent) => ({ kind: 'Agent', key: `${tool.metadata.namespace ?? ''}/${agent}` }));
}

/** Whether an object is new, gone, or its deletion began, which others depend on. */
function appearsOrGoes(change: { readonly type: string; readonly object: KubeObject; readonly previous?: KubeObject }): boolean {
  return change.type !== 'modified' || change.previous?.metadata.deletionTimestamp !== change.object.metadata.deletionTimestamp;
}
