/** What the facade needs from the outside. */
import type { Registry } from 'prom-client';

import type { Transport } from '../kube/transport.ts';
import type { Clock } from '../platform/clock.ts';
import type { Readiness } from '../platform/lifecycle.ts';
import type { Logger } from '../platform/logging.ts';
import type { Store } from '../store/index.ts';

export interface ApiDependencies {
  readonly store: Pick<Store, 'apiKeys' | 'organizations' | 'health'>;
  readonly transport: Transport;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly readiness: Readiness;
  readonly clock: Clock;
  /** 0 ≤ x < 1, for waiting times. Names and keys come from the system's own source of randomness. */
  readonly random: () => number;
  /** At least 32 bytes, the same on every replica: page tokens are signed with it. */
  readonly pageTokenKey: Uint8Array;
}
