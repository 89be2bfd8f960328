/** Takes snapshots of the cluster: what the informers know, and the keys of the Secrets and ConfigMaps that one object refers to. */
import type { AddressChecks } from '../../calls/address-checks.ts';
import type { KubeObject, Stored } from '../../kube/index.ts';
import type { ClusterSnapshot, DataObject, ObjectLookups } from '../references/cluster-snapshot.ts';
import { referenceKey, type Reference } from '../references/references-of.ts';
import type { DataFacts, KeyReader } from './key-reader.ts';
import type { DataKind, NamespaceInformers } from './namespace-informers.ts';

/** A reference to a Secret or ConfigMap, and whether the text behind its key is wanted. */
export interface Wanted {
  readonly reference: Reference;
  readonly text?: boolean;
}

const NOT_THERE: DataObject = { state: 'absent' };

/** Where a namespace can't be watched, what is named is read again this often, in milliseconds. */
const UNWATCHED_RECHECK_MS = 30_000;

export interface Observation {
  readonly snapshot: ClusterSnapshot;
  /** No event will announce a change: observe again after this long, in milliseconds. */
  readonly recheckAfterMs?: number;
}

export interface SnapshotReaderOptions {
  readonly objects: ObjectLookups;
  readonly namespaces: NamespaceInformers;
  readonly reader: KeyReader;
  readonly addresses: AddressChecks;
  readonly toolList: ClusterSnapshot['toolList'];
}

export class SnapshotReader {
  readonly #options: SnapshotReaderOptions;

  constructor(options: SnapshotReaderOptions) {
    this.#options = options;
  }

  /**
   * Takes a snapshot for the plan of an object of this namespace. `wanted` is called again after every wait, because what an
   * agent needs changes with its tools; once it returns nothing new, nothing can change until the caller awaits.
   *
   * @throws KubeError when the API server is needed and doesn't answer
   */
  async observe(namespace: string, wanted: (snapshot: ClusterSnapshot) => readonly Wanted[], signal: AbortSignal): Promise<Observation> {
    const watched = await this.#options.namespaces.listed(namespace, signal);
    const facts = new Map<string, DataFacts>();
    const snapshot = this.#snapshot(facts);
    for (;;) {
      const missing = this.#missing(namespace, wanted(snapshot), { facts, watched });
      if (missing.length === 0) return watched ? { snapshot } : { snapshot, recheckAfterMs: UNWATCHED_RECHECK_MS };
      await Promise.all(
        missing.map(async ({ kind, seen, texts, id }) => {
          facts.set(id, await this.#options.reader.read(kind, seen, texts, signal));
        }),
      );
    }
  }

  /** Waits until the informer has brought back a Secret that was written; at once where the namespace isn't watched any more. */
  async sawSecret(namespace: string, resourceVersion: string, signal: AbortSignal): Promise<void> {
    await this.#options.namespaces.waitFor('Secret', namespace, resourceVersion, signal);
  }

  /** Returns what exists according to the informers, but has not been read yet in this reconcile. */
  #missing(
    namespace: string,
    wanted: readonly Wanted[],
    { facts, watched }: { readonly facts: ReadonlyMap<string, DataFacts>; readonly watched: boolean },
  ) {
    const byId = Map.groupBy(
      wanted.filter(({ reference }) => reference.kind === 'Secret' || reference.kind === 'ConfigMap'),
      ({ reference }) => referenceKey(reference.kind, namespace, reference.name),
    );
    return [...byId].flatMap(([id, wants]) => {
      const { kind, name } = wants[0]!.reference;
      if (facts.has(id)) return [];
      const seen = watched ? this.#options.namespaces.get(kind as DataKind, namespace, name) : unseen(namespace, name);
      if (seen === undefined) return [];
      const texts = wants.flatMap(({ reference, text }) => (text === true && reference.key !== undefined ? [reference.key] : []));
      return [{ kind: kind as DataKind, seen, texts, id }];
    });
  }

  #snapshot(facts: ReadonlyMap<string, DataFacts>): ClusterSnapshot {
    const { objects, addresses, toolList } = this.#options;
    const data = (kind: DataKind, namespace: string, name: string): DataObject =>
      facts.get(referenceKey(kind, namespace, name))?.object ?? NOT_THERE;
    return {
      ...objects,
      secret: (namespace, name) => data('Secret', namespace, name),
      configMap: (namespace, name) => data('ConfigMap', namespace, name),
      addresses,
      toolList,
      configText: (namespace, name, key) => facts.get(referenceKey('ConfigMap', namespace, name))?.texts.get(key) ?? { state: 'absent' },
    };
  }
}

/** Makes an object of which only the name is known: older than any, so that it is read. */
function unseen(namespace: string, name: string): Stored<KubeObject> {
  return {
    apiVersion: 'v1',
    kind: 'PartialObjectMetadata',
    metadata: { namespace, name, uid: '', resourceVersion: '0', creationTimestamp: '' },
  };
}

export function namespaceOf(object: KubeObject | Stored<KubeObject>): string {
  return object.metadata.namespace ?? '';
}
