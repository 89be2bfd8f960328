import { Counter, type Registry } from 'prom-client';

import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logging.ts';
import { untilAborted } from '../platform/aborted.ts';
import { WatchCache, type Cache, type CacheChange, type IndexFunction } from './cache.ts';
import { Pacer } from '../platform/pacer.ts';
import { Reflector, type ReflectorObserver, type WatchSource } from './reflector.ts';
import type { ReflectorState } from './reflector-state.ts';
import type { ResourceClient } from './resource-client.ts';
import { compareResourceVersions } from './resource-version.ts';
import { keyOf, type KubeObject, type Stored } from './types.ts';
import { SampledGauge } from './sampled-gauge.ts';

export interface InformerOptions<T extends KubeObject> {
  readonly client: WatchSource<T> & Pick<ResourceClient<T>, 'descriptor'>;
  /** The namespace to watch; all namespaces where absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  /**
   * Returns what is kept of each object, with the same name, uid and resourceVersion. An object for which it throws is left out.
   * Default: everything but `managedFields` and the last-applied annotation ({@link withoutBookkeeping}).
   */
  readonly transform?: (object: Stored<T>) => Stored<T>;
  /** Functions by the name of their index: each returns the values under which {@link Cache.byIndex} finds an object. */
  readonly indexes?: Readonly<Record<string, IndexFunction<Stored<T>>>>;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly logger?: Logger;
  readonly registry?: Registry;
}

export type ChangeType = 'added' | 'modified' | 'deleted';

/** One change, notified after it is in the cache. */
export interface Change<T> {
  readonly type: ChangeType;
  /** The new state; the last known one of a deleted object. */
  readonly object: T;
  /** The state before the change; present with `modified`. */
  readonly previous?: T;
  /** The change comes from the first listing, or is replayed for a listener that was added later: nothing changed just now. */
  readonly initial: boolean;
}

/** Whether an object became older, which happens when the store behind the API server is replaced by an older copy of itself. */
export function wentBack({ object, previous }: Pick<Change<Stored<KubeObject>>, 'object' | 'previous'>): boolean {
  return previous !== undefined && compareResourceVersions(object.metadata.resourceVersion, previous.metadata.resourceVersion) < 0;
}

export type ChangeListener<T> = (change: Change<T>) => void;

/** Caches every object of one kind, and notifies of each change. */
export interface Informer<T extends KubeObject> {
  readonly cache: Cache<Stored<T>>;
  /** Begins to list and watch. Idempotent. */
  start(): void;
  /** Ends the watch; `synced` and `waitFor` that still wait reject. The cache stays readable. Idempotent. */
  stop(): Promise<void>;
  /** Resolves once the first listing is in the cache and every listener has been notified of it. Rejects with the signal's reason or when stopped. */
  synced(signal?: AbortSignal): Promise<void>;
  /**
   * Calls `listener` for every change, in order. A late listener gets what exists at once. One that throws is logged, and
   * keeps neither the others nor its own next changes away.
   * @returns a function that takes the listener out again.
   */
  onChange(listener: ChangeListener<Stored<T>>): () => void;
  /** Milliseconds since the API server last sent anything, bookmarks included; `Infinity` when it never did. About 60,000 at rest is normal. */
  lastContact(): number;
  /** A watch is open: changes arrive. False while the cache may fall behind. */
  readonly connected: boolean;
  /** Gives up the watch that is open or being opened, whose connection is known to be dead, and begins another at once, from where the cache is. */
  reconnect(): void;
  readonly state: ReflectorState['name'];
}

/** @see {@link InformerOptions} for defaults. Nothing is sent before {@link Informer.start}. */
export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  return new WatchInformer(options);
}

class WatchInformer<T extends KubeObject> implements Informer<T> {
  readonly #cache: WatchCache<T>;
  readonly #reflector: Reflector<T>;
  readonly #logger: Logger | undefined;
  readonly #metrics: InformerMetrics;
  readonly #listeners = new Set<ChangeListener<Stored<T>>>();
  readonly #synced = Promise.withResolvers<void>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: InformerOptions<T>) {
    const { client, namespace, labelSelector, clock, random, registry } = options;
    const { plural, group } = client.descriptor;
    const resource = group === '' ? plural : `${plural}.${group}`;
    this.#logger = options.logger?.child({ resource, ...(namespace === undefined ? {} : { namespace }) });
    this.#cache = new WatchCache<T>({
      ...(options.indexes ? { indexes: options.indexes } : {}),
      onIndexError: (err, index, key) =>
        this.#logger?.error({ err, index, key }, 'an index function failed; the object is missing from this index'),
    });
    this.#metrics = informerMetrics({
      registry,
      resource,
      namespace: namespace ?? '',
      objects: () => this.#cache.size,
      lastContact: () => this.lastContact(),
    });
    this.#reflector = new Reflector<T>({
      client,
      cache: this.#cache,
      onChanges: (changes, { initial }) => this.#notify(changes, initial),
      transform: options.transform ?? withoutBookkeeping,
      namespace,
      labelSelector,
      clock,
      random,
      logger: this.#logger,
      observer: this.#metrics,
    });
    // No caller awaits it.
    this.#synced.promise.catch(() => undefined);
  }

  get cache(): Cache<Stored<T>> {
    return this.#cache;
  }

  get connected(): boolean {
    return this.#reflector.connected;
  }

  reconnect(): void {
    this.#reflector.reconnect();
  }

  get state(): ReflectorState['name'] {
    return this.#reflector.state.name;
  }

  start(): void {
    if (!this.#stop.signal.aborted) this.#running ??= this.#reflector.run(this.#stop.signal);
  }

  async stop(): Promise<void> {
    const reason = new Error('the informer was stopped');
    this.#stop.abort(reason);
    this.#synced.reject(reason);
    this.#cache.close(reason);
    this.#metrics.stop();
    await this.#running;
  }

  async synced(signal?: AbortSignal): Promise<void> {
    return untilAborted(this.#synced.promise, signal);
  }

  onChange(listener: ChangeListener<Stored<T>>): () => void {
    // Each registration has a wrapper of its own, so that the same function may be registered twice and taken out once.
    const own: ChangeListener<Stored<T>> = (change) => listener(change);
    for (const object of this.#cache.list()) this.#call(own, { type: 'added', object, initial: true });
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  lastContact(): number {
    return this.#reflector.lastContact;
  }

  async #notify(changes: readonly CacheChange<Stored<T>>[], initial: boolean): Promise<void> {
    // A listener that is added meanwhile has been notified of the cache, which holds them all.
    const listeners = [...this.#listeners];
    const pacer = new Pacer();
    for (const change of changes) {
      if (pacer.due) await pacer.pause();
      if (this.#stop.signal.aborted) return;
      for (const listener of listeners) if (this.#listeners.has(listener)) this.#call(listener, { ...change, initial });
    }
    this.#synced.resolve();
  }

  #call(listener: ChangeListener<Stored<T>>, change: Change<Stored<T>>): void {
    try {
      listener(change);
    } catch (err) {
      this.#logger?.error({ err, key: keyOf(change.object), change: change.type }, 'a listener failed; continuing with the others');
    }
  }
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Returns the object without the server's field ownership records and without kubectl's copy of what was last applied: together often
 * more than half of an object, and of no use to a reader.
 */
export function withoutBookkeeping<T extends KubeObject>(object: T): T {
  const { managedFields: _managedFields, annotations, ...metadata } = object.metadata;
  if (annotations === undefined) return { ...object, metadata };
  const { [LAST_APPLIED]: _LAST_APPLIED, ...others } = annotations;
  return { ...object, metadata: Object.keys(others).length > 0 ? { ...metadata, annotations: others } : metadata };
}

interface InformerMetrics extends ReflectorObserver {
  /** Call it when the informer is gone: its gauges are no longer sampled. */
  stop(): void;
}

interface InformerMetricsOptions {
  readonly registry: Registry | undefined;
  /** Labels of each series: the resource that is watched, e.g. `agents.parley.dev`, and where. */
  readonly resource: string;
  readonly namespace: string;
  readonly objects: () => number;
  /** Milliseconds since the API server last sent anything. */
  readonly lastContact: () => number;
}

/** Informers of one process share the metrics of one registry. Listings and watches carry the names client-go once gave them. */
function informerMetrics(options: InformerMetricsOptions): InformerMetrics {
  const { registry, resource, namespace } = options;
  if (registry === undefined) return { listed: () => undefined, watchOver: () => undefined, stop: () => undefined };
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
    (registry.getSingleMetric(name) as Counter<L> | undefined) ?? new Counter<L>({ name, help, labelNames, registers: [registry] });
  const labels = { resource, namespace };
  const lists = counter('reflector_lists_total', 'Listings, by how they were made and how they ended.', [
    'resource',
    'namespace',
    'mode',
    'outcome',
  ]);
  const watches = counter('reflector_watches_total', 'Watches that are over, by how they ended.', ['resource', 'namespace', 'outcome']);
  const samples = [
    SampledGauge.of(registry, 'informer_objects', 'Objects in the cache.', ['resource', 'namespace']).sample(() => ({
      labels,
      value: options.objects(),
    })),
    SampledGauge.of(registry, 'informer_last_contact_seconds', 'Time since the API server last sent anything, in seconds.', [
      'resource',
      'namespace',
    ]).sample(() => ({
      labels,
      value: options.lastContact() / 1000,
    })),
  ];
  return {
    listed: (mode, outcome) => lists.inc({ ...labels, mode, outcome }),
    watchOver: (outcome) => watches.inc({ ...labels, outcome }),
    stop: () => {
      for (const stop of samples) stop();
    },
  };
}
