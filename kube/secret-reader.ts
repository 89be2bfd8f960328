import type { Clock } from '../platform/clock.ts';
import { LruMap } from '../platform/lru.ts';
import { KubeError } from './error.ts';
import type { Transport } from './transport.ts';
import type { KubeObject, Stored } from './types.ts';

export interface SecretVersion {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Values in base64, by key. */
  readonly data: Readonly<Record<string, string>>;
  /** Time of the request, on the monotonic clock: what was written before it is in this version. */
  readonly readAt: number;
}

export interface SecretReaderOptions {
  readonly transport: Pick<Transport, 'request'>;
  readonly clock: Clock;
  /** Most Secrets that are kept; the least recently used one goes first. */
  readonly limit: number;
  /** Longest value that is kept, in characters of base64; without it all values are kept. */
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

  kept(namespace: string, name: string): SecretVersion | undefined {
    return this.#kept.get(`${namespace}/${name}`);
  }

  /**
   * Reads the present version. Callers that ask at the same time share one request; a Secret that is gone is forgotten.
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
 * Returns the text of a Secret's value, without the line break at its end that editors and `kubectl create secret --from-file` leave there.
 *
 * @param value - in base64
 */
export function secretText(value: string): string {
  return Buffer.from(value, 'base64')
    .toString()
    .replace(/\r?\n$/, '');
}
