/** What the facade needs from the outside. */
import type { Registry } from 'prom-client';

import type { Transport } from '../kube/transport.ts';
import type { Clock } from '../platform/clock.ts';
import type { Readiness } from '../platform/lifecycle.ts';
import type { Logger } from '../platform/logging.ts';
import type { NumberPool } from '../platform/number-pool.ts';
import type { Store } from '../store/index.ts';
import type { RateLimit } from './limits/bucket.ts';
import type { LimitClass } from './limits/limit-class.ts';

/** How much is too much. */
export interface Limits {
  readonly classes: readonly LimitClass[];
  /** Time between two exchanges with the other replicas, in milliseconds; 0 for none. */
  readonly exchangeMs: number;
  /** Keys that look real and aren't, by client address. */
  readonly unknownKeys: RateLimit;
  /** Longest time for one request, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** What the provider `native` can be asked for. */
  readonly nativeNumbers: NumberPool;
  /** Addresses and networks of proxies that are believed when they say where a request comes from. */
  readonly trustedProxies: readonly string[];
}

export interface ApiDependencies {
  readonly store: Pick<Store, 'apiKeys' | 'organizations' | 'rateLimits' | 'health'>;
  readonly transport: Transport;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly readiness: Readiness;
  readonly clock: Clock;
  /** 0 ≤ x < 1, for waiting times. Names and keys come from the system's own source of randomness. */
  readonly random: () => number;
  /** At least 32 bytes, the same on every replica: page tokens are signed with it. */
  readonly pageTokenKey: Uint8Array;
  readonly limits: Limits;
}
