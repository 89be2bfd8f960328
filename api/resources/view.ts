/** Answers from a watch cache of one kind, without asking the server, and decides how fresh it has to be. */
import type { Registry } from 'prom-client';

import type { IndexFunction } from '../../kube/cache.ts';
import { KubeError } from '../../kube/error.ts';
import { createInformer, type Informer } from '../../kube/informer.ts';
import type { ResourceClient } from '../../kube/resource-client.ts';
import { withoutBookkeeping } from '../../kube/informer.ts';
import { compareResourceVersions } from '../../kube/resource-version.ts';
import { keyOf, type KubeObject, type Stored } from '../../kube/types.ts';
import { withTimeout, type Clock } from '../../platform/clock.ts';
import type { Readiness } from '../../platform/lifecycle.ts';
import type { Logger } from '../../platform/logging.ts';
import { LruMap } from '../../platform/lru.ts';
import { currentRequest } from '../http/request-state.ts';
import { isAway, type ApiServerAvailability } from './api-server-availability.ts';
import { orUndefined } from './companions.ts';
import { KUBERNETES_TIMEOUTS, type KubernetesTimeouts } from './kubernetes-timeouts.ts';
import { isObjectName } from './names.ts';

export interface ViewOptions<T extends KubeObject> {
  readonly client: ResourceClient<T>;
  /** Readiness' name for the view: `phone numbers`. */
  readonly name: string;
  /** Indexes in addition to `namespace`, which every view has. */
  readonly indexes?: Readonly<Record<string, IndexFunction<Stored<T>>>>;
  readonly availability: ApiServerAvailability;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly registry: Registry;
  /** The only namespace that is watched; all of them where undefined. */
  readonly namespace?: string | undefined;
  readonly kubernetesTimeouts?: KubernetesTimeouts | undefined;
}

/** Time for which a deletion is remembered, in milliseconds: far longer than a watch lags behind. */
const TOMBSTONE_MS = 60_000;
/** Most answers to own writes that are kept. */
const RECENT_OBJECTS = 1000;

/** Keeps managedFields, from which partial updates start, and drops kubectl's copy of the object, which they don't need. */
function withOwnership<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const lean = withoutBookkeeping(object);
  const { managedFields } = object.metadata;
  return managedFields === undefined ? lean : { ...lean, metadata: { ...lean.metadata, managedFields } };
}

/** Holds a kind's objects by namespace: at least as new as everything this process has written, and there when the API server isn't. */
export class View<T extends KubeObject> {
  readonly client: ResourceClient<T>;
  readonly #name: string;
  readonly #informer: Informer<T>;
  readonly #availability: ApiServerAvailability;
  readonly #readiness: Readiness;
  readonly #clock: Clock;
  readonly #timeouts: KubernetesTimeouts;
  readonly #deleted = new Map<string, number>();
  /** Waiters for the deletion of an object to arrive, by key. */
  readonly #deletions = new Map<string, Set<(resourceVersion: string) => void>>();
  /** The last answers to this process's own writes, until the cache has them. */
  readonly #recent = new LruMap<string, Stored<T>>(RECENT_OBJECTS);
  #written = '';
  /** Time at which the cache was last known to miss nothing, on the monotonic clock. */
  #currentAt = 0;

  constructor({
    client,
    name,
    indexes,
    availability,
    readiness,
    clock,
    random,
    logger,
    registry,
    namespace,
    kubernetesTimeouts,
  }: ViewOptions<T>) {
    this.client = client;
    this.#name = name;
    this.#availability = availability;
    this.#readiness = readiness;
    this.#clock = clock;
    this.#timeouts = kubernetesTimeouts ?? KUBERNETES_TIMEOUTS;
    this.#informer = createInformer<T>({
      client,
      transform: withOwnership,
      indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''], ...indexes },
      random,
      logger,
      registry,
      ...(namespace !== undefined && { namespace }),
    });
    // The connection may be dead without knowing it, and the wait for another may be long by now.
    this.#availability.onRegained(() => this.#informer.reconnect());
    // While the server answers and a watch is open the cache misses nothing: a watch is silent where nothing changes.
    this.#availability.onAnswer(() => {
      if (this.#informer.connected) this.#currentAt = this.#clock.monotonic();
    });
    this.#informer.onChange(({ type, object }) => {
      if (type !== 'deleted' && object.metadata.deletionTimestamp === undefined) return;
      for (const resolve of this.#deletions.get(keyOf(object)) ?? []) resolve(object.metadata.resourceVersion);
    });
  }

  start(): void {
    this.#readiness.notReady(this.#name, 'the first listing is not complete');
    this.#informer.start();
    this.#informer.synced().then(
      () => this.#readiness.ready(this.#name),
      () => undefined,
    );
  }

  stop(): Promise<void> {
    return this.#informer.stop();
  }

  /** Returns all objects of an organisation, as {@link find} does. */
  list(org: string): Promise<readonly Stored<T>[]> {
    return this.find('namespace', org);
  }

  /**
   * Returns the objects for which `index` has `value`, without those that are being deleted.
   * @throws KubeError when nothing is known because the API server has been away from the start
   */
  async find(index: string, value: string): Promise<readonly Stored<T>[]> {
    if (!this.#informer.cache.synced && !this.#availability.lost) await this.#informer.synced(this.#catchUpSignal()).catch(() => undefined);
    await this.#caughtUp();
    if (!this.#upToDate) this.#answerFromMemory();
    return this.#present(index, value);
  }

  /** Does what {@link find} does, with all that existed when `object` was written; undefined where the watch is too late. */
  async findSince(object: Stored<T>, index: string, value: string): Promise<readonly Stored<T>[] | undefined> {
    try {
      await this.#informer.cache.waitFor(object.metadata.resourceVersion, this.#catchUpSignal());
    } catch {
      return undefined;
    }
    return this.#present(index, value);
  }

  #present(index: string, value: string): readonly Stored<T>[] {
    return this.#informer.cache
      .byIndex(index, value)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined && !this.#deleted.has(metadata.uid));
  }

  /**
   * Returns one object for an answer: from the cache while that is up to date, otherwise from the server, or from the cache again while the
   * server is away. One that the cache lacks is read from the server: the cache may be a moment old. Undefined for one that is being
   * deleted.
   * @throws KubeError when the server is needed and doesn't answer
   */
  async get(namespace: string, name: string): Promise<Stored<T> | undefined> {
    if (!isObjectName(name)) return undefined;
    const known = this.known(namespace, name);
    if (known !== undefined && this.#upToDate) return known;
    if (this.#availability.lost && this.#informer.cache.synced) return this.#fromMemory(known);
    try {
      return await this.stored(namespace, name);
    } catch (error) {
      if (!isAway(error) || !this.#informer.cache.synced) throw error;
      return this.#fromMemory(known);
    }
  }

  /** Returns one object as far as this process knows, without asking the server. Undefined for an object that is being deleted, too. */
  known(namespace: string, name: string): Stored<T> | undefined {
    return this.#alive(this.newest(namespace, name));
  }

  /** Returns one object as the server has it now, for a write that builds on it. Undefined for an object that is being deleted, too. */
  async stored(namespace: string, name: string): Promise<Stored<T> | undefined> {
    return isObjectName(name) ? this.#alive(await orUndefined(this.client.get({ namespace, name }))) : undefined;
  }

  /** Calls `listener` for each object as it comes or changes. */
  onChange(listener: (object: Stored<T>) => void): void {
    this.#informer.onChange(({ type, object }) => {
      if (type !== 'deleted') listener(object);
    });
  }

  /**
   * Runs `remove`, which should delete an object. The answer to a deletion doesn't say when in the order of writes it was: the watch does.
   * @returns the resource version from which on the object is (being) deleted; undefined where the watch doesn't deliver it in time
   */
  async deletion(
    namespace: string,
    name: string,
    remove: () => Promise<boolean>,
  ): Promise<{ readonly done: boolean; readonly version?: string }> {
    const key = `${namespace}/${name}`;
    const seen = Promise.withResolvers<string>();
    const waiting = this.#deletions.get(key) ?? new Set();
    this.#deletions.set(key, waiting.add(seen.resolve));
    try {
      if (!(await remove())) return { done: false };
      const version = await withTimeout(this.#clock, this.#timeouts.catchUpMs, seen.promise);
      return { done: true, ...(version !== undefined && { version }) };
    } finally {
      waiting.delete(seen.resolve);
      if (waiting.size === 0) this.#deletions.delete(key);
    }
  }

  /** Returns the newest state that this process knows of; the server may know a newer one. */
  newest(namespace: string, name: string): Stored<T> | undefined {
    const key = `${namespace}/${name}`;
    const [cached, recent] = [this.#informer.cache.get(key), this.#recent.get(key)];
    if (cached === undefined || recent === undefined) return cached ?? recent;
    if (compareResourceVersions(recent.metadata.resourceVersion, cached.metadata.resourceVersion) > 0) return recent;
    this.#recent.delete(key);
    return cached;
  }

  /** Notes that this process wrote `object`: later reads see it. */
  wrote(object: Stored<T>): void {
    const { resourceVersion } = object.metadata;
    this.#recent.set(keyOf(object), object);
    if (this.#written === '' || compareResourceVersions(resourceVersion, this.#written) > 0) this.#written = resourceVersion;
  }

  /** Notes that this process deleted `object`: later reads don't see it. */
  deleted(object: Stored<T>): void {
    const now = this.#clock.monotonic();
    for (const [uid, since] of this.#deleted) if (now - since > TOMBSTONE_MS) this.#deleted.delete(uid);
    this.#deleted.set(object.metadata.uid, now);
    this.#recent.delete(keyOf(object));
  }

  /** Set while changes arrive as they happen. */
  get #upToDate(): boolean {
    return this.#informer.connected && !this.#availability.lost;
  }

  #alive(object: Stored<T> | undefined): Stored<T> | undefined {
    return object === undefined || object.metadata.deletionTimestamp !== undefined || this.#deleted.has(object.metadata.uid)
      ? undefined
      : object;
  }

  #fromMemory(known: Stored<T> | undefined): Stored<T> | undefined {
    this.#answerFromMemory();
    return known;
  }

  /** Adds to the answer how old it may be. */
  #answerFromMemory(): void {
    if (!this.#informer.cache.synced) {
      throw new KubeError({ code: 0, reason: 'Unreachable', message: 'the API server has not answered since this process began' });
    }
    currentRequest()?.answeredFromMemory(Math.ceil((this.#clock.monotonic() - this.#currentAt) / 1000));
  }

  #catchUpSignal(): AbortSignal {
    return AbortSignal.any([AbortSignal.timeout(this.#timeouts.catchUpMs), this.#availability.whileHere]);
  }

  async #caughtUp(): Promise<void> {
    // A watch that is just being opened again delivers the write, too.
    if (this.#written === '' || this.#availability.lost) return;
    // A watch that lags this far is as good as down: the cached state is the best there is.
    await this.#informer.cache.waitFor(this.#written, this.#catchUpSignal()).catch(() => undefined);
  }
}
