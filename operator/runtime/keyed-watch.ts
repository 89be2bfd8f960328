/**
 * Secrets and ConfigMaps of the organisations, by their metadata: one pair of informers for each organisation's
 * namespace, so that the operator needs no permission beyond them and values never come along.
 */
import type { Registry } from 'prom-client';

import {
  createInformer,
  ResourceClient,
  type Change,
  type Informer,
  type KubeObject,
  type ResourceDescriptor,
  type Stored,
  type Transport,
} from '../../kube/index.ts';
import type { Logger } from '../../platform/logging.ts';
import { FIELD_MANAGER } from './caches.ts';

export type KeyedKind = 'Secret' | 'ConfigMap';

export const keyedDescriptors: Readonly<Record<KeyedKind, ResourceDescriptor>> = {
  Secret: { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
  ConfigMap: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
};

export interface KeyedWatchOptions {
  readonly transport: Transport;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly onChange: (kind: KeyedKind, change: Change<Stored<KubeObject>>) => void;
}

export class KeyedWatch {
  readonly #options: KeyedWatchOptions;
  readonly #namespaces = new Map<string, Readonly<Record<KeyedKind, Informer<KubeObject>>>>();

  constructor(options: KeyedWatchOptions) {
    this.#options = options;
  }

  /** Begins to watch a namespace. Idempotent. */
  add(namespace: string): void {
    if (this.#namespaces.has(namespace)) return;
    const pair = { Secret: this.#informer('Secret', namespace), ConfigMap: this.#informer('ConfigMap', namespace) };
    this.#namespaces.set(namespace, pair);
    for (const informer of Object.values(pair)) informer.start();
  }

  /** Stops watching a namespace. Idempotent. */
  async remove(namespace: string): Promise<void> {
    const pair = this.#namespaces.get(namespace);
    this.#namespaces.delete(namespace);
    if (pair !== undefined) await Promise.all(Object.values(pair).map((informer) => informer.stop()));
  }

  /** Resolves when what is in the namespace is known; at once where it isn't watched. Rejects when the signal aborts. */
  async synced(namespace: string, signal: AbortSignal): Promise<void> {
    const pair = this.#namespaces.get(namespace);
    if (pair !== undefined) await Promise.all(Object.values(pair).map((informer) => informer.synced(signal)));
  }

  get(kind: KeyedKind, namespace: string, name: string): Stored<KubeObject> | undefined {
    return this.#namespaces.get(namespace)?.[kind].cache.get(`${namespace}/${name}`);
  }

  /** Resolves once the cache has seen that state; at once where the namespace isn't watched. */
  async waitFor(kind: KeyedKind, namespace: string, resourceVersion: string, signal: AbortSignal): Promise<void> {
    await this.#namespaces.get(namespace)?.[kind].cache.waitFor(resourceVersion, signal);
  }

  get namespaces(): readonly string[] {
    return [...this.#namespaces.keys()];
  }

  async stop(): Promise<void> {
    await Promise.all(this.namespaces.map((namespace) => this.remove(namespace)));
  }

  #informer(kind: KeyedKind, namespace: string): Informer<KubeObject> {
    const { transport, logger, registry, onChange } = this.#options;
    const client = new ResourceClient<KubeObject>({
      transport,
      descriptor: keyedDescriptors[kind],
      fieldManager: FIELD_MANAGER,
      metadataOnly: true,
    });
    const informer = createInformer<KubeObject>({ client, namespace, transform: slim, logger, registry });
    informer.onChange((change) => onChange(kind, change));
    return informer;
  }
}

/** What is looked at: identity, version and owners. Labels and annotations of strangers' objects need no room. */
function slim(object: Stored<KubeObject>): Stored<KubeObject> {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, ownerReferences } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(namespace === undefined ? {} : { namespace }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
  };
}
