/** The world as the informers know it, with the keys of what one object refers to read beforehand. */
import type { AddressChecks } from '../../voice/calls/address-checks.ts';
import type { KubeObject, Stored } from '../../kube/index.ts';
import { referenceKey, type Reference } from '../references/references-of.ts';
import type { KeyedObject, ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { displayNameKey, indexNames, type Caches } from '../caches.ts';
import type { KeyedFacts, KeyReader } from './key-reader.ts';
import type { KeyedKind, NamespaceInformers } from './namespace-informers.ts';

/** A reference to a Secret or ConfigMap, and whether the text behind its key is wanted. */
export interface Wanted {
  readonly reference: Reference;
  readonly text?: boolean;
}

const NOT_THERE: KeyedObject = { state: 'absent' };

/** Where nothing can be watched, what is named is read again this often, in milliseconds. */
const UNWATCHED_RECHECK_MS = 30_000;

export interface Observation {
  readonly snapshot: ClusterSnapshot;
  /** No event will tell of a change: look again after this long, in milliseconds. */
  readonly recheckAfterMs?: number;
}

export class SnapshotReader {
  readonly #caches: Caches;
  readonly #watch: NamespaceInformers;
  readonly #reader: KeyReader;
  readonly #addresses: AddressChecks;

  constructor(options: {
    readonly caches: Caches;
    readonly watch: NamespaceInformers;
    readonly reader: KeyReader;
    readonly addresses: AddressChecks;
  }) {
    this.#caches = options.caches;
    this.#watch = options.watch;
    this.#reader = options.reader;
    this.#addresses = options.addresses;
  }

  /**
   * Gathers what a plan for an object of this namespace will look at. `wanted` is asked again after every wait, for
   * what an agent needs changes with its tools; once it asks for nothing new, nothing can change until the caller awaits.
   *
   * @throws KubeError when the API server is needed and doesn't answer
   */
  async observe(namespace: string, wanted: (snapshot: ClusterSnapshot) => readonly Wanted[], signal: AbortSignal): Promise<Observation> {
    const watched = await this.#watch.listed(namespace, signal);
    const facts = new Map<string, KeyedFacts>();
    const snapshot = this.#snapshot(facts);
    for (;;) {
      const missing = this.#missing(namespace, wanted(snapshot), { facts, watched });
      if (missing.length === 0) return watched ? { snapshot } : { snapshot, recheckAfterMs: UNWATCHED_RECHECK_MS };
      await Promise.all(
        missing.map(async ({ kind, seen, texts, id }) => {
          facts.set(id, await this.#reader.read(kind, seen, texts, signal));
        }),
      );
    }
  }

  /** Waits until the informer has brought back a Secret that was written; at once where the namespace isn't watched any more. */
  async sawSecret(namespace: string, resourceVersion: string, signal: AbortSignal): Promise<void> {
    await this.#watch.waitFor('Secret', namespace, resourceVersion, signal);
  }

  /** What is there according to the informers, but has not been read yet in this pass. */
  #missing(
    namespace: string,
    wanted: readonly Wanted[],
    { facts, watched }: { readonly facts: ReadonlyMap<string, KeyedFacts>; readonly watched: boolean },
  ) {
    const byId = Map.groupBy(
      wanted.filter(({ reference }) => reference.kind === 'Secret' || reference.kind === 'ConfigMap'),
      ({ reference }) => referenceKey(reference.kind, namespace, reference.name),
    );
    return [...byId].flatMap(([id, wants]) => {
      const { kind, name } = wants[0]!.reference;
      if (facts.has(id)) return [];
      const seen = watched ? this.#watch.get(kind as KeyedKind, namespace, name) : unseen(namespace, name);
      if (seen === undefined) return [];
      const texts = wants.flatMap(({ reference, text }) => (text === true && reference.key !== undefined ? [reference.key] : []));
      return [{ kind: kind as KeyedKind, seen, texts, id }];
    });
  }

  #snapshot(facts: ReadonlyMap<string, KeyedFacts>): ClusterSnapshot {
    const { agents, tools, phoneNumbers, knowledgeBases, subscriptions, organizations } = this.#caches;
    const keyed = (kind: KeyedKind, namespace: string, name: string): KeyedObject =>
      facts.get(referenceKey(kind, namespace, name))?.object ?? NOT_THERE;
    return {
      isOrganization: (namespace) => organizations.cache.get(namespace) !== undefined,
      agent: (namespace, name) => agents.cache.get(`${namespace}/${name}`),
      knowledgeBase: (namespace, name) => knowledgeBases.cache.get(`${namespace}/${name}`),
      toolsOf: (namespace, agent) => tools.cache.byIndex(indexNames.references, referenceKey('Agent', namespace, agent)),
      phoneNumbersWith: (number) => phoneNumbers.cache.byIndex(indexNames.number, number),
      knowledgeBasesNamed: (namespace, name) => knowledgeBases.cache.byIndex(indexNames.displayName, displayNameKey(namespace, name)),
      subscriptionsNamed: (namespace, name) => subscriptions.cache.byIndex(indexNames.displayName, displayNameKey(namespace, name)),
      secret: (namespace, name) => keyed('Secret', namespace, name),
      configMap: (namespace, name) => keyed('ConfigMap', namespace, name),
      addresses: this.#addresses,
      configText: (namespace, name, key) => facts.get(referenceKey('ConfigMap', namespace, name))?.texts.get(key) ?? { state: 'absent' },
    };
  }
}

/** Stands for an object of which only the name is known: older than any, so that it is read. */
function unseen(namespace: string, name: string): Stored<KubeObject> {
  return {
    apiVersion: 'v1',
    kind: 'PartialObjectMetadata',
    metadata: { namespace, name, uid: '', resourceVersion: '0', creationTimestamp: '' },
  };
}

/** The namespace of an object of a namespaced kind. */
export function namespaceOf(object: KubeObject | Stored<KubeObject>): string {
  return object.metadata.namespace ?? '';
}
