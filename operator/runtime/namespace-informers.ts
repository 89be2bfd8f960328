/**
 * Secrets and ConfigMaps of the organisations, by their metadata: one pair of informers for each organisation's
 * namespace, so that the operator needs no permission in other namespaces and never receives values.
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
import { untilAborted } from '../../platform/aborted.ts';
import { withTimeout, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { present } from '../../platform/present.ts';

export const FIELD_MANAGER = 'parley-operator';

export type DataKind = 'Secret' | 'ConfigMap';

export const DATA_DESCRIPTORS: Readonly<Record<DataKind, ResourceDescriptor>> = {
  Secret: { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
  ConfigMap: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
};

export interface NamespaceInformersOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** Longest wait for the first listing of a namespace, in milliseconds. A missing permission must not hold up other namespaces. */
const LISTING_TIMEOUT_MS = 5_000;

interface Entry {
  readonly informers: Readonly<Record<DataKind, Informer<KubeObject>>>;
  /** Resolves when both have listed, or when the namespace isn't watched any more. */
  readonly listed: Promise<unknown>;
  state: 'listing' | 'listed' | 'late';
}

export class NamespaceInformers {
  readonly #options: NamespaceInformersOptions;
  readonly #namespaces = new Map<string, Entry>();
  readonly #changeListeners: ((kind: DataKind, change: Change<Stored<KubeObject>>) => void)[] = [];
  readonly #lateListeners: ((namespace: string) => void)[] = [];

  constructor(options: NamespaceInformersOptions) {
    this.#options = options;
  }

  onChange(listener: (kind: DataKind, change: Change<Stored<KubeObject>>) => void): void {
    this.#changeListeners.push(listener);
  }

  /** A namespace that could not be listed in time has been listed after all: plans were made without its contents. */
  onLateListing(listener: (namespace: string) => void): void {
    this.#lateListeners.push(listener);
  }

  /** Begins to watch a namespace. Idempotent. */
  add(namespace: string): void {
    if (this.#namespaces.has(namespace)) return;
    const informers = { Secret: this.#informer('Secret', namespace), ConfigMap: this.#informer('ConfigMap', namespace) };
    // They only reject when they are stopped: the listing doesn't matter any more.
    const listed = Promise.allSettled([informers.Secret.synced(), informers.ConfigMap.synced()]);
    const entry: Entry = { informers, listed, state: 'listing' };
    this.#namespaces.set(namespace, entry);
    void this.#followListing(namespace, entry);
    for (const informer of Object.values(informers)) informer.start();
  }

  async #followListing(namespace: string, entry: Entry): Promise<void> {
    await entry.listed;
    const late = entry.state === 'late';
    entry.state = 'listed';
    if (late && this.#namespaces.get(namespace) === entry) for (const listener of this.#lateListeners) listener(namespace);
  }

  /** Stops watching a namespace. Idempotent. */
  async remove(namespace: string): Promise<void> {
    const entry = this.#namespaces.get(namespace);
    this.#namespaces.delete(namespace);
    if (entry !== undefined) await Promise.all(Object.values(entry.informers).map((informer) => informer.stop()));
  }

  /**
   * Waits until what is in the namespace is known.
   *
   * @returns false when it could not be listed in time, for lack of a permission for example; only the first caller waits for that
   */
  async listed(namespace: string, signal: AbortSignal): Promise<boolean> {
    const entry = this.#namespaces.get(namespace);
    if (entry?.state === 'listing') {
      await withTimeout(this.#options.clock, LISTING_TIMEOUT_MS, untilAborted(entry.listed, signal));
      if (entry.state === 'listing') {
        entry.state = 'late';
        this.#options.logger.warn(
          { namespace },
          'failed to list the Secrets and ConfigMaps of an organisation; reading those that are named one by one',
        );
      }
    }
    return entry?.state !== 'late';
  }

  get(kind: DataKind, namespace: string, name: string): Stored<KubeObject> | undefined {
    return this.#namespaces.get(namespace)?.informers[kind].cache.get(`${namespace}/${name}`);
  }

  /** Resolves once the cache has seen that state; at once where the namespace isn't or can't be watched. */
  async waitFor(kind: DataKind, namespace: string, resourceVersion: string, signal: AbortSignal): Promise<void> {
    const entry = this.#namespaces.get(namespace);
    if (entry?.state === 'listed') await entry.informers[kind].cache.waitFor(resourceVersion, signal);
  }

  get names(): readonly string[] {
    return [...this.#namespaces.keys()];
  }

  async stop(): Promise<void> {
    await Promise.all(this.names.map((namespace) => this.remove(namespace)));
  }

  #informer(kind: DataKind, namespace: string): Informer<KubeObject> {
    const { transport, logger, registry } = this.#options;
    const client = new ResourceClient<KubeObject>({
      transport,
      descriptor: DATA_DESCRIPTORS[kind],
      fieldManager: FIELD_MANAGER,
      metadataOnly: true,
    });
    const informer = createInformer<KubeObject>({ client, namespace, transform: slim, logger, registry });
    informer.onChange((change) => {
      for (const listener of this.#changeListeners) listener(kind, change);
    });
    return informer;
  }
}

/** Keeps identity, version and owners. Labels and annotations of other people's objects would only take memory. */
function slim(object: Stored<KubeObject>): Stored<KubeObject> {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, ownerReferences } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: present({ name, uid, resourceVersion, creationTimestamp, namespace, deletionTimestamp, ownerReferences }),
  };
}
