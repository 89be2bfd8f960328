import type { Clock } from '../platform/clock.ts';
import { LruMap } from '../platform/lru.ts';
import { KubeError } from './error.ts';
import type { Transport } from './transport.ts';
import type { KubeObject, Stored } from './types.ts';

/** One version of a Secret. */
export interface SecretVersion {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Base64, by key. */
  readonly data: Readonly<Record<string, string>>;
  /** When it was asked for, on the monotonic clock: what was written before is in it. */
  readonly readAt: number;
}

export interface SecretReaderOptions {
  readonly transport: Pick<Transport, 'request'>;
  readonly clock: Clock;
  /** Secrets that are kept, least recently used first to go. */
  readonly limit: number;
  /** Longer values are left out, in characters of base64; none where absent. */
  readonly longestValue?: number;
  /** Names of the annotations that are kept; none where absent. */
  readonly annotations?: readonly string[];
}

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Reads Secrets one by one and by name, and keeps what it read in memory. How long a kept version counts is for the caller to decide. */
export class SecretReader {
  readonly #options: SecretReaderOptions;
  readonly #kept: LruMap<string, SecretVersion>;
  readonly #reading = new Map<string, Promise<SecretVersion>>();

  constructor(options: SecretReaderOptions) {
    this.#options = options;
    this.#kept = new LruMap(options.limit);
  }

  /** The version that was read last. */
  kept(namespace: string, name: string): SecretVersion | undefined {
    return this.#kept.get(`${namespace}/${name}`);
  }

  /**
   * The present version. Callers that ask at the same time share one request; a Secret that is gone is forgotten.
   *
   * @throws KubeError
   */
  read(namespace: string, name: string, timeoutMs: number): Promise<SecretVersion> {
    const id = `${namespace}/${name}`;
    let reading = this.#reading.get(id);
    if (reading === undefined) {
      reading = this.#read(namespace, name, timeoutMs).finally(() => this.#reading.delete(id));
      this.#reading.set(id, reading);
    }
    return reading;
  }

  async #read(namespace: string, name: string, timeoutMs: number): Promise<SecretVersion> {
    const { transport, clock, longestValue = Number.POSITIVE_INFINITY, annotations = [] } = this.#options;
    const id = `${namespace}/${name}`;
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`;
    const readAt = clock.monotonic();
    try {
      const { metadata, data = {} } = await transport.request<Stored<Secret>>({ method: 'GET', path, timeoutMs });
      const version = {
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
        annotations: Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => annotations.includes(key))),
        data: Object.fromEntries(Object.entries(data).filter(([, value]) => value.length <= longestValue)),
        readAt,
      };
      this.#kept.set(id, version);
      return version;
    } catch (error) {
      if (error instanceof KubeError && error.notFound) this.#kept.delete(id);
      throw error;
    }
  }
}

/**
 * The text of a Secret's value, without the line break at its end that editors and `kubectl create secret --from-file` leave there.
 *
 * @param value - in base64
 */
export function secretText(value: string): string {
  return Buffer.from(value, 'base64')
    .toString()
    .replace(/\r?\n$/, '');
}
