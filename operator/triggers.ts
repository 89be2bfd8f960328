/** Which objects to look at again when something changes: exactly those that name it, or compete with it. */
import {
  subscriptionNameOf,
  type Agent,
  type KnowledgeBase,
  type PhoneNumber,
  type Tool,
  type WebhookSubscription,
} from '../crds/index.ts';
import { keyOf, type Change, type KubeObject, type Stored } from '../kube/index.ts';
import { referenceKey, type ReferenceKind } from './references/references-of.ts';
import { displayNameOf } from './references/cluster-snapshot.ts';
import { attachments, functionNameOf } from './tool/attachment.ts';
import { displayNameKey, indexNames, type Caches } from './caches.ts';

export type CacheName = 'agents' | 'tools' | 'phoneNumbers' | 'knowledgeBases' | 'subscriptions';

/** One object to look at again. */
export interface Trigger {
  readonly cache: CacheName;
  readonly key: string;
}

const cacheNames: readonly CacheName[] = ['agents', 'tools', 'phoneNumbers', 'knowledgeBases', 'subscriptions'];

export class Triggers {
  readonly #caches: Caches;

  constructor(caches: Caches) {
    this.#caches = caches;
  }

  /** A Secret or ConfigMap: everything that names it, and the agents of the tools that do. */
  onKeyed(kind: 'Secret' | 'ConfigMap', object: KubeObject): readonly Trigger[] {
    const namespace = object.metadata.namespace ?? '';
    const referrers = this.#referrers(kind, namespace, object.metadata.name);
    const tools =
      kind === 'Secret' ? this.#caches.tools.cache.byIndex(indexNames.references, referenceKey(kind, namespace, object.metadata.name)) : [];
    return [...referrers, ...tools.flatMap(agentsOf)];
  }

  /** Only whether an agent is there matters to others, not what is in it. */
  onAgent(change: Change<Stored<Agent>>): readonly Trigger[] {
    if (!appearsOrGoes(change)) return [];
    return this.#referrers('Agent', change.object.metadata.namespace ?? '', change.object.metadata.name).filter(
      ({ cache }) => cache !== 'agents',
    );
  }

  /** Its agents, before and after, and the tools of these that compete for its function name. */
  onTool(change: Change<Stored<Tool>>): readonly Trigger[] {
    if (!appearsOrGoes(change) && change.previous?.metadata.generation === change.object.metadata.generation) return [];
    const states = [change.object, ...(change.previous === undefined ? [] : [change.previous])];
    const names = new Set(states.map(functionNameOf));
    const agents = new Map(states.flatMap(agentsOf).map((trigger) => [trigger.key, trigger]));
    const rivals = [...agents.keys()].flatMap((key) =>
      this.#caches.tools.cache
        .byIndex(indexNames.references, `Agent/${key}`)
        .filter((tool) => names.has(functionNameOf(tool)) && tool.metadata.uid !== change.object.metadata.uid)
        .map((tool): Trigger => ({ cache: 'tools', key: keyOf(tool) })),
    );
    return [...agents.values(), ...rivals];
  }

  /** The others with the same number; it never changes. */
  onPhoneNumber(change: Change<Stored<PhoneNumber>>): readonly Trigger[] {
    return appearsOrGoes(change) ? this.#sameNumber(change.object) : [];
  }

  /** Agents that name it, and others that are or were called the same. */
  onKnowledgeBase(change: Change<Stored<KnowledgeBase>>): readonly Trigger[] {
    const { metadata } = change.object;
    const namesakes = this.#namesakes('knowledgeBases', change, displayNameOf);
    return appearsOrGoes(change) ? [...this.#referrers('KnowledgeBase', metadata.namespace ?? '', metadata.name), ...namesakes] : namesakes;
  }

  onSubscription(change: Change<Stored<WebhookSubscription>>): readonly Trigger[] {
    return this.#namesakes('subscriptions', change, subscriptionNameOf);
  }

  /** A namespace became an organisation, or is one no more. */
  onOrganization(namespace: string): readonly Trigger[] {
    const inside = cacheNames.flatMap((cache) =>
      this.#caches[cache].cache.byIndex(indexNames.namespace, namespace).map((object): Trigger => ({ cache, key: keyOf(object) })),
    );
    const numbers = this.#caches.phoneNumbers.cache.byIndex(indexNames.namespace, namespace).flatMap((object) => this.#sameNumber(object));
    return [...inside, ...numbers];
  }

  #referrers(kind: ReferenceKind, namespace: string, name: string): readonly Trigger[] {
    const index = referenceKey(kind, namespace, name);
    return cacheNames.flatMap((cache) =>
      this.#caches[cache].cache.byIndex(indexNames.references, index).map((object): Trigger => ({ cache, key: keyOf(object) })),
    );
  }

  #sameNumber(object: Stored<PhoneNumber>): readonly Trigger[] {
    return this.#caches.phoneNumbers.cache
      .byIndex(indexNames.number, object.spec.number)
      .filter((rival) => rival.metadata.uid !== object.metadata.uid)
      .map((rival): Trigger => ({ cache: 'phoneNumbers', key: keyOf(rival) }));
  }

  #namesakes<T extends KubeObject>(
    cache: 'knowledgeBases' | 'subscriptions',
    change: Change<Stored<T>>,
    nameOf: (object: Stored<T>) => string,
  ): readonly Trigger[] {
    const { object, previous } = change;
    const names = new Set([nameOf(object), ...(previous === undefined ? [] : [nameOf(previous)])]);
    if (names.size === 1 && !appearsOrGoes(change)) return [];
    return [...names].flatMap((name) =>
      this.#caches[cache].cache
        .byIndex(indexNames.displayName, displayNameKey(object.metadata.namespace ?? '', name))
        .filter((rival) => rival.metadata.uid !== object.metadata.uid)
        .map((rival): Trigger => ({ cache, key: keyOf(rival) })),
    );
  }
}

function agentsOf(tool: Tool): readonly Trigger[] {
  return attachments(tool).map((agent) => ({ cache: 'agents', key: `${tool.metadata.namespace ?? ''}/${agent}` }));
}

/** It is new, gone, or has begun to go: the moments that others notice. */
function appearsOrGoes(change: { readonly type: string; readonly object: KubeObject; readonly previous?: KubeObject }): boolean {
  return change.type !== 'modified' || change.previous?.metadata.deletionTimestamp !== change.object.metadata.deletionTimestamp;
}
