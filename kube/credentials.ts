import type { RequestOptions } from 'node:https';

import { KubeConfig } from '@kubernetes/client-node';

import type { Clock } from '../platform/clock.ts';
import { KubeError } from './error.ts';

/** The part of TLS that connections to the API server are made with. */
export interface TlsMaterial {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface Identity {
  /** Authorization and impersonation headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
  /** A key that is equal for equal TLS material: new connections are opened when it changes. */
  readonly tlsKey: string;
}

/** Files are looked at again after this long: a rotated token or CA is in use within seconds. */
const MAX_AGE_MS = 5_000;

/**
 * Tells who we are before each request. client-node parses the configuration, runs exec plugins, refreshes OIDC
 * tokens and reads token files; what it keeps for too long (a token file for 60 s, an exec token until its stated
 * expiry) is forgotten by {@link refresh}, which a 401 calls.
 */
export class KubeCredentials {
  readonly #clock: Clock;
  #config: KubeConfig;
  #current: { readonly identity: Promise<Identity>; readonly at: number } | undefined;

  constructor(options: { readonly kubeConfig: KubeConfig; readonly clock: Clock }) {
    this.#config = options.kubeConfig;
    this.#clock = options.clock;
  }

  /** @throws KubeError with reason `Unauthorized` when the credentials can't be had, e.g. an exec plugin that fails. */
  current(): Promise<Identity> {
    const now = this.#clock.monotonic();
    if (this.#current !== undefined && now - this.#current.at < MAX_AGE_MS) return this.#current.identity;
    const identity = read(this.#config);
    this.#current = { identity, at: now };
    // A failure is not worth keeping: the next request asks again.
    identity.catch(() => {
      if (this.#current?.identity === identity) this.#current = undefined;
    });
    return identity;
  }

  /** Forgets everything that was read for `used`, unless it has been read again since. */
  refresh(used: Promise<Identity>): void {
    if (this.#current !== undefined && this.#current.identity !== used) return;
    const fresh = new KubeConfig();
    const { clusters, contexts, users, currentContext } = this.#config;
    fresh.loadFromOptions({ clusters, contexts, users, currentContext });
    this.#config = fresh;
    this.#current = undefined;
  }
}

async function read(config: KubeConfig): Promise<Identity> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (cause) {
    throw new KubeError({
      code: 401,
      reason: 'Unauthorized',
      message: `no credentials for the API server: ${(cause as Error).message.trim()}; check the current user of the kubeconfig`,
      cause,
    });
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value).trim();
  if (options.auth) headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  const tls: TlsMaterial = {
    ...(options.ca ? { ca: options.ca as Buffer } : {}),
    ...(options.cert ? { cert: options.cert as Buffer } : {}),
    ...(options.key ? { key: options.key as Buffer } : {}),
    ...(options.servername ? { servername: options.servername } : {}),
    ...(options.rejectUnauthorized === undefined ? {} : { rejectUnauthorized: options.rejectUnauthorized }),
  };
  return {
    headers,
    tls,
    tlsKey: JSON.stringify([tls.servername, tls.rejectUnauthorized, ...[tls.ca, tls.cert, tls.key].map((part) => part?.toString())]),
  };
}
