/** Reads the keys of providers and tools from Secrets of the organisation, one by one and by name. */
import { KubeError } from '../../kube/error.ts';
import type { Transport } from '../../kube/index.ts';
import { SecretReader, secretText, type SecretVersion } from '../../kube/secret-reader.ts';
import type { Clock } from '../../platform/clock.ts';

export interface SecretKeyRef {
  readonly name: string;
  readonly key: string;
}

export interface ProviderKeyReader {
  /**
   * Reads one key of one Secret in the organisation's namespace; the value is at most 60 s old, and while the API server is away, at most
   * {@link KEPT_MS}.
   * @throws ProviderKeyError
   */
  read(org: string, ref: SecretKeyRef): Promise<string>;
}

export type ProviderKeyErrorReason =
  /** There is no such Secret, it lacks the key, or the value is empty or no text. */
  | 'missing'
  /** Parley may not read it. */
  | 'forbidden'
  /** The API server is away, and no value is known from before. */
  | 'unavailable';

/** The message names the Secret and the key, and what to do; never a value. */
export class ProviderKeyError extends Error {
  override readonly name = 'ProviderKeyError';
  readonly reason: ProviderKeyErrorReason;

  constructor(reason: ProviderKeyErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface ProviderKeyReaderOptions {
  readonly transport: Pick<Transport, 'request'>;
  readonly clock: Clock;
  /** How long a value is used without reading it again, in milliseconds; a minute by default. */
  readonly freshMs?: number;
}

/** How long a value is used without reading it again, in milliseconds: a rotation takes effect within this time. */
const FRESH_MS = 60_000;
/** How long a value is used while the API server is away, in milliseconds: the key is most likely unchanged. */
const KEPT_MS = 15 * 60_000;
/** How long the start of a call waits for the API server, in milliseconds; less where an older value is known. */
const TIMEOUT_MS = 5_000;
const SHORT_TIMEOUT_MS = 1_000;
const MAX_SECRETS = 1_000;

/** A missing Secret is not cached: it may just have been created. */
export function createProviderKeyReader({ transport, clock, freshMs = FRESH_MS }: ProviderKeyReaderOptions): ProviderKeyReader {
  const secrets = new SecretReader({ transport, clock, limit: MAX_SECRETS });

  const versionOf = async (org: string, name: string): Promise<SecretVersion> => {
    const before = secrets.kept(org, name);
    const age = before === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() - before.readAt;
    if (before !== undefined && age < freshMs) return before;
    try {
      return await secrets.read(org, name, before === undefined ? TIMEOUT_MS : SHORT_TIMEOUT_MS);
    } catch (error) {
      if (!(error instanceof KubeError))
        throw unavailable(org, name, error instanceof Error ? error.message : 'for an unknown reason', error);
      if (error.notFound) {
        throw new ProviderKeyError('missing', `Secret ${org}/${name} does not exist: create it, or refer to another one`, { cause: error });
      }
      if (error.code === 401 || error.code === 403) {
        throw new ProviderKeyError(
          'forbidden',
          `Parley may not read Secret ${org}/${name}: allow its service account to get Secrets in the namespace ${org}`,
          { cause: error },
        );
      }
      if (before !== undefined && age < KEPT_MS) return before;
      throw unavailable(org, name, `the Kubernetes API doesn't answer (${error.reason})`, error);
    }
  };

  return {
    async read(org, { name, key }) {
      const { data } = await versionOf(org, name);
      const encoded = data[key];
      if (encoded === undefined) {
        throw new ProviderKeyError('missing', `Secret ${org}/${name} has no key ${JSON.stringify(key)}: add it, or refer to another one`);
      }
      const value = secretText(encoded);
      if (value.trim() === '')
        throw new ProviderKeyError('missing', `key ${JSON.stringify(key)} of Secret ${org}/${name} is empty: put a value there`);
      return value;
    },
  };
}

const unavailable = (org: string, name: string, why: string, cause: unknown): ProviderKeyError =>
  new ProviderKeyError('unavailable', `Secret ${org}/${name} can't be read: ${why}`, { cause });
