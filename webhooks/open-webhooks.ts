/** Everything that deliveries need, as the configuration names it: the same for the dispatcher and for the worker's retries. */
import type { Registry } from 'prom-client';

import { createTransport, kubeConfigOf, type Transport } from '../kube/index.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { ConfigError, type Config } from '../platform/config/config.ts';
import type { EgressGuard } from '../platform/egress/egress.ts';
import { egressOf } from '../platform/egress/egress-of.ts';
import type { Logger } from '../platform/logging.ts';
import { temporalOf } from '../platform/temporal/access.ts';
import { openDispatchStore, type DispatchStore } from '../store/index.ts';
import { createAttempt, type Attempt } from './attempt/attempt.ts';
import { EndpointHealthCache } from './endpoint-health/endpoint-health-cache.ts';
import { createRecordAttempts, type RecordAttempts } from './attempt/record-attempts.ts';
import { createRetryStarter, type RetryStarter } from './temporal-retries/retry-starter.ts';
import type { EndpointDirectory } from './subscriptions/directory.ts';
import { createEndpointDirectory } from './subscriptions/open-directory.ts';

export interface Webhooks {
  readonly store: DispatchStore;
  readonly directory: EndpointDirectory;
  /** Knows which endpoints are parked or switched off. Does not refresh itself: call `refresh` regularly. */
  readonly health: EndpointHealthCache;
  readonly attempt: Attempt;
  readonly recordAttempts: RecordAttempts;
  readonly starter: RetryStarter;
  readonly transport: Transport;
  close(): Promise<void>;
}

export interface OpenWebhooksOptions {
  readonly config: Config;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** The guard that the role has already; without it one is made, and closed with the rest. */
  readonly egress?: EgressGuard;
  /** Whether another pool of the process has the metrics of the store already; default false. */
  readonly storeMeasured?: boolean;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly clock?: Clock;
}

/**
 * Connects to nothing before it is used; the directory has to be started.
 *
 * @throws ConfigError when there is no DATABASE_URL, or no API server is configured
 */
export function openWebhooks(options: OpenWebhooksOptions): Webhooks {
  const { config, logger, registry, clock = systemClock, applicationName } = options;
  if (config.DATABASE_URL === undefined) {
    throw new ConfigError(
      'DATABASE_URL is not set: events and their deliveries are in Postgres. Set it to postgres://user:password@host:port/database',
    );
  }
  const transport = createTransport({ kubeConfig: kubeConfigOf(config), registry, logger });
  const store = openDispatchStore({
    databaseUrl: config.DATABASE_URL,
    poolSize: config.PARLEY_DATABASE_POOL,
    applicationName,
    logger,
    ...(options.storeMeasured === true ? {} : { registry }),
  });
  const directory = createEndpointDirectory({ transport, logger, registry, clock, namespace: config.PARLEY_NAMESPACE });
  const egress = options.egress ?? egressOf(config, { logger, registry });
  const health = new EndpointHealthCache({ store });
  const recordAttempts = createRecordAttempts({ store, directory, health, clock, logger });
  const starter = createRetryStarter({
    ...temporalOf(config),
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    logger,
  });
  return {
    store,
    directory,
    health,
    attempt: createAttempt({ egress, clock }),
    recordAttempts,
    starter,
    transport,
    async close() {
      await starter.close();
      if (options.egress === undefined) egress.close();
      await directory.stop();
      await transport.close();
      await store.close();
    },
  };
}
