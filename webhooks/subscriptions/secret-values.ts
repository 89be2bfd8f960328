/**
 * Values of Secrets, for signing and for headers. One watch for each organisation that needs any shows the versions, by
 * metadata only; a value is read once for each version and kept. While the API server is away, what is kept goes on.
 */
import type { Registry } from 'prom-client';

import { wellKnown } from '../../crds/index.ts';
import {
  compareResourceVersions,
  createInformer,
  KubeError,
  ResourceClient,
  type Informer,
  type KubeObject,
  type ResourceDescriptor,
  type Stored,
  type Transport,
} from '../../kube/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { LruMap } from '../../platform/lru.ts';
import { CredentialsError } from './credentials-error.ts';

/** One version of a Secret. */
export interface SecretValues {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Base64, by key. */
  readonly data: Readonly<Record<string, string>>;
  /** Until when former signing keys sign, as the annotation says it. */
  readonly signingExpiry?: string;
}

/** Tells one state of a Secret from every other, also of a namesake. */
export const versionOf = ({ uid, resourceVersion }: SecretValues): string => `${uid}/${resourceVersion}`;

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface SecretValuesOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry?: Registry;
}

const descriptor: ResourceDescriptor = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
const fieldManager = 'parley-dispatcher';

/** Secrets of which values are kept. */
const mostSecrets = 20_000;
/** Longest value that is kept, in characters of base64. No header or key is longer; what else is in a Secret is nothing to us. */
const longestValue = 16_384;
/** How long one may take to read, in milliseconds. */
const readTimeoutMs = 5_000;
/** How long one that could not be read is not asked for again, in milliseconds, unless it changes: many deliveries may wait for it. */
const failureMs = 1_000;
/** How long values do that could not be read anew, in milliseconds: deliveries must not each wait for an API server that doesn't answer. */
const excusedMs = 5_000;
/** How long values count as new where no watch tells of changes, in milliseconds. */
const unwatchedMs = 30_000;

interface Failure {
  readonly error: CredentialsError;
  /** On the monotonic clock. */
  readonly at: number;
  readonly seenVersion: string | undefined;
}

interface Kept {
  readonly values: SecretValues;
  /** On the monotonic clock. */
  readonly readAt: number;
  /** Until then they do although there may be newer ones, on the monotonic clock: the API server can't be asked. */
  readonly excusedUntil?: number;
}

export class WatchedSecrets {
  readonly #options: SecretValuesOptions;
  readonly #client: ResourceClient<Secret>;
  readonly #watches = new Map<string, { readonly informer: Informer<KubeObject>; users: number }>();
  readonly #kept = new LruMap<string, Kept>(mostSecrets);
  readonly #failed = new LruMap<string, Failure>(mostSecrets);
  readonly #reading = new Map<string, Promise<SecretValues>>();

  constructor(options: SecretValuesOptions) {
    this.#options = options;
    this.#client = new ResourceClient<Secret>({ transport: options.transport, descriptor, fieldManager });
  }

  /** Begins to watch the Secrets of an organisation, for one more user. */
  watch(org: string): void {
    const watch = this.#watches.get(org);
    if (watch !== undefined) {
      watch.users += 1;
      return;
    }
    const { transport, logger, registry, clock } = this.#options;
    const client = new ResourceClient<KubeObject>({ transport, descriptor, fieldManager, metadataOnly: true });
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

  /** One user less; the last one ends the watch. */
  unwatch(org: string): void {
    const watch = this.#watches.get(org);
    if (watch === undefined) return;
    watch.users -= 1;
    if (watch.users > 0) return;
    this.#watches.delete(org);
    void watch.informer.stop();
  }

  /** The values, where they are known to be the newest ones or nobody can say. */
  known(org: string, name: string): SecretValues | undefined {
    const kept = this.#kept.get(`${org}/${name}`);
    if (kept === undefined) return undefined;
    if (kept.excusedUntil !== undefined && this.#options.clock.monotonic() < kept.excusedUntil) return kept.values;
    const informer = this.#watches.get(org)?.informer;
    if (informer?.cache.synced !== true) {
      return this.#options.clock.monotonic() - kept.readAt < unwatchedMs ? kept.values : undefined;
    }
    const seen = this.#seen(org, name);
    // What was read may be newer than what the watch has told, or what is there is so new that it has told nothing yet.
    if (seen === undefined)
      return compareResourceVersions(kept.values.resourceVersion, informer.cache.resourceVersion) > 0 ? kept.values : undefined;
    return seen.uid === kept.values.uid && compareResourceVersions(kept.values.resourceVersion, seen.resourceVersion) >= 0
      ? kept.values
      : undefined;
  }

  /**
   * The newest values; those that are kept where the API server can't be asked.
   *
   * @throws CredentialsError
   */
  async read(org: string, name: string): Promise<SecretValues> {
    const key = `${org}/${name}`;
    const failure = this.#failed.get(key);
    if (failure !== undefined) {
      const recent =
        this.#options.clock.monotonic() - failure.at < failureMs && failure.seenVersion === this.#seen(org, name)?.resourceVersion;
      if (recent) throw failure.error;
      this.#failed.delete(key);
    }
    let reading = this.#reading.get(key);
    if (reading === undefined) {
      reading = this.#read(org, name).finally(() => this.#reading.delete(key));
      this.#reading.set(key, reading);
    }
    return reading;
  }

  async #read(org: string, name: string): Promise<SecretValues> {
    const key = `${org}/${name}`;
    try {
      const secret = await this.#client.get({ namespace: org, name }, { timeoutMs: readTimeoutMs });
      const values = valuesOf(secret);
      this.#kept.set(key, { values, readAt: this.#options.clock.monotonic() });
      return values;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.notFound) this.#kept.delete(key);
      else if (error.code !== 403) {
        const kept = this.#kept.get(key);
        if (kept !== undefined) {
          this.#kept.set(key, { ...kept, excusedUntil: this.#options.clock.monotonic() + excusedMs });
          return kept.values;
        }
      }
      const failure = unreadable(org, name, error);
      const at = this.#options.clock.monotonic();
      this.#failed.set(key, { error: failure, at, seenVersion: this.#seen(org, name)?.resourceVersion });
      throw failure;
    }
  }

  #seen(org: string, name: string): Stored<KubeObject>['metadata'] | undefined {
    return this.#watches.get(org)?.informer.cache.get(`${org}/${name}`)?.metadata;
  }

  /** Whether values may be older than what `resourceVersion` stands for. Where nothing can be watched, nobody knows better. */
  behind(org: string, resourceVersion: string): boolean {
    const cache = this.#watches.get(org)?.informer.cache;
    return cache?.synced === true && compareResourceVersions(cache.resourceVersion, resourceVersion) < 0;
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

function valuesOf(secret: Stored<Secret>): SecretValues {
  const { uid, resourceVersion, annotations } = secret.metadata;
  const signingExpiry = annotations?.[wellKnown.signingExpiry];
  const data = Object.fromEntries(Object.entries(secret.data ?? {}).filter(([, value]) => value.length <= longestValue));
  return { uid, resourceVersion, data, ...(signingExpiry === undefined ? {} : { signingExpiry }) };
}

function unreadable(org: string, name: string, error: KubeError): CredentialsError {
  const what = `Secret ${org}/${name}`;
  if (error.notFound) return new CredentialsError({ reason: 'missing', message: `${what} does not exist; create it`, cause: error });
  return error.code === 403
    ? new CredentialsError({
        reason: 'forbidden',
        message: `${what} may not be read; grant get on it to this service account`,
        cause: error,
      })
    : new CredentialsError({ reason: 'unreachable', message: `${what} could not be read: ${error.message}`, cause: error });
}

/** Identity and version: all that is looked at, of Secrets that are mostly somebody else's. */
function versionOnly(object: Stored<KubeObject>): Stored<KubeObject> {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const metadata = { name, uid, resourceVersion, creationTimestamp, ...(namespace === undefined ? {} : { namespace }) };
  return { apiVersion: object.apiVersion, kind: object.kind, metadata };
}
