/**
 * Values of Secrets, for signing and for headers. One watch for each organisation that needs any shows the versions, by
 * metadata only; a value is read once for each version and kept. While the API server is unavailable, what is kept goes on.
 */
import type { Registry } from 'prom-client';

import { wellKnown } from '../../crds/index.ts';
import {
  compareResourceVersions,
  createInformer,
  KubeError,
  ResourceClient,
  SecretReader,
  type Informer,
  type KubeObject,
  type ResourceDescriptor,
  type SecretVersion,
  type Stored,
  type Transport,
} from '../../kube/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { LruMap } from '../../platform/lru.ts';
import { DeliverySecretError } from './delivery-secret-error.ts';

/** Writes what distinguishes a version of a Secret from every other, also of a namesake. */
export const versionOf = ({ uid, resourceVersion }: SecretVersion): string => `${uid}/${resourceVersion}`;

export interface SecretValuesOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry?: Registry;
}

const descriptor: ResourceDescriptor = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
const FIELD_MANAGER = 'parley-dispatcher';

const MOST_SECRETS = 20_000;
/** Longest value that is kept, in characters of base64. No header or key is longer; what else is in a Secret is nothing to us. */
const LONGEST_VALUE = 16_384;
/** How long a Secret may take to read, in milliseconds. */
const READ_TIMEOUT_MS = 5_000;
/** How long a Secret that could not be read is not asked for again, in milliseconds, unless it changes: many deliveries may wait for it. */
const FAILURE_MS = 1_000;
/** How long stale values serve when they cannot be read again, in milliseconds: deliveries must not each wait for an API server that is down. */
const EXCUSED_MS = 5_000;
/** How long values count as new where no watch reports changes, in milliseconds. */
const UNWATCHED_MS = 30_000;

interface Watch {
  readonly informer: Informer<KubeObject>;
  users: number;
  /** Highest version that was asked about before the first listing, and when, on the monotonic clock. */
  asked?: { readonly resourceVersion: string; readonly at: number };
}

interface Failure {
  readonly error: DeliverySecretError;
  /** Time of the failure, on the monotonic clock. */
  readonly at: number;
  readonly seenVersion: string | undefined;
}

export class WatchedSecrets {
  readonly #options: SecretValuesOptions;
  readonly #secrets: SecretReader;
  readonly #watches = new Map<string, Watch>();
  /** Until when a kept version counts although there may be a newer one, on the monotonic clock: the API server does not answer. */
  readonly #excused = new LruMap<string, number>(MOST_SECRETS);
  readonly #failed = new LruMap<string, Failure>(MOST_SECRETS);

  constructor(options: SecretValuesOptions) {
    this.#options = options;
    const { transport, clock } = options;
    this.#secrets = new SecretReader({
      transport,
      clock,
      limit: MOST_SECRETS,
      longestValue: LONGEST_VALUE,
      annotations: [wellKnown.signingExpiry],
    });
  }

  /** Begins to watch the Secrets of an organisation, for one more user. */
  watch(org: string): void {
    const watch = this.#watches.get(org);
    if (watch !== undefined) {
      watch.users += 1;
      return;
    }
    const { transport, logger, registry, clock } = this.#options;
    const client = new ResourceClient<KubeObject>({ transport, descriptor, fieldManager: FIELD_MANAGER, metadataOnly: true });
    const informer = createInformer<KubeObject>({
      client,
      namespace: org,
      transform: versionOnly,
      clock,
      logger,
      ...(registry === undefined ? {} : { registry }),
    });
    this.#watches.set(org, { informer, users: 1 });
    informer.start();
  }

  /** Drops one user; the last one ends the watch. */
  unwatch(org: string): void {
    const watch = this.#watches.get(org);
    if (watch === undefined) return;
    watch.users -= 1;
    if (watch.users > 0) return;
    this.#watches.delete(org);
    void watch.informer.stop();
  }

  /** Returns the version that was read last, where it is known to be the newest one or a newer one cannot be read. */
  known(org: string, name: string): SecretVersion | undefined {
    const kept = this.#secrets.kept(org, name);
    if (kept === undefined) return undefined;
    const now = this.#options.clock.monotonic();
    if (now < (this.#excused.get(`${org}/${name}`) ?? -Infinity)) return kept;
    const { informer, asked } = this.#watches.get(org) ?? {};
    if (informer?.cache.synced !== true) return kept.readAt > Math.max(now - UNWATCHED_MS, asked?.at ?? -Infinity) ? kept : undefined;
    const seen = this.#seen(org, name);
    // What was read may be newer than what the watch has shown, or so new that the watch has shown nothing of it yet.
    const current =
      seen === undefined
        ? compareResourceVersions(kept.resourceVersion, informer.cache.resourceVersion) > 0
        : seen.uid === kept.uid && compareResourceVersions(kept.resourceVersion, seen.resourceVersion) >= 0;
    return current ? kept : undefined;
  }

  /**
   * Returns the newest version, or the one that is kept where the API server does not answer.
   *
   * @throws DeliverySecretError
   */
  async read(org: string, name: string): Promise<SecretVersion> {
    const { clock } = this.#options;
    const key = `${org}/${name}`;
    const failure = this.#failed.get(key);
    if (failure !== undefined) {
      if (clock.monotonic() - failure.at < FAILURE_MS && failure.seenVersion === this.#seen(org, name)?.resourceVersion)
        throw failure.error;
      this.#failed.delete(key);
    }
    try {
      await this.#secrets.read(org, name, READ_TIMEOUT_MS);
      this.#excused.delete(key);
      // A read that was under way already may have missed a newer one; another read begins after it.
      return this.known(org, name) ?? (await this.#secrets.read(org, name, READ_TIMEOUT_MS));
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      const kept = error.code === 403 ? undefined : this.#secrets.kept(org, name);
      if (kept !== undefined) {
        this.#excused.set(key, clock.monotonic() + EXCUSED_MS);
        return kept;
      }
      const unread = unreadable(org, name, error);
      this.#failed.set(key, { error: unread, at: clock.monotonic(), seenVersion: this.#seen(org, name)?.resourceVersion });
      throw unread;
    }
  }

  #seen(org: string, name: string): Stored<KubeObject>['metadata'] | undefined {
    return this.#watches.get(org)?.informer.cache.get(`${org}/${name}`)?.metadata;
  }

  /** Whether the watch has yet to show what `resourceVersion` stands for. Until the first listing: false, and older values are read again. */
  behind(org: string, resourceVersion: string): boolean {
    const watch = this.#watches.get(org);
    if (watch === undefined) return false;
    const { cache } = watch.informer;
    if (cache.synced) return compareResourceVersions(cache.resourceVersion, resourceVersion) < 0;
    if (watch.asked === undefined || compareResourceVersions(watch.asked.resourceVersion, resourceVersion) < 0)
      watch.asked = { resourceVersion, at: this.#options.clock.monotonic() };
    return false;
  }

  async waitFor(org: string, resourceVersion: string, signal?: AbortSignal): Promise<void> {
    const cache = this.#watches.get(org)?.informer.cache;
    if (cache?.synced === true) await cache.waitFor(resourceVersion, signal);
  }

  async stop(): Promise<void> {
    const informers = [...this.#watches.values()].map(({ informer }) => informer);
    this.#watches.clear();
    await Promise.all(informers.map((informer) => informer.stop()));
  }
}

function unreadable(org: string, name: string, error: KubeError): DeliverySecretError {
  const what = `Secret ${org}/${name}`;
  if (error.notFound) return new DeliverySecretError({ reason: 'missing', message: `${what} does not exist; create it`, cause: error });
  return error.code === 403
    ? new DeliverySecretError({
        reason: 'forbidden',
        message: `${what} may not be read; grant get on it to this service account`,
        cause: error,
      })
    : new DeliverySecretError({ reason: 'unreachable', message: `${what} could not be read: ${error.message}`, cause: error });
}

/** Keeps identity and version: nothing else of Secrets, which mostly belong to others, is looked at. */
export function versionOnly(object: Stored<KubeObject>): Stored<KubeObject> {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const metadata = { name, uid, resourceVersion, creationTimestamp, ...(namespace === undefined ? {} : { namespace }) };
  return { apiVersion: object.apiVersion, kind: object.kind, metadata };
}
