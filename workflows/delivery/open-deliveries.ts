/** Opens what the worker needs to retry deliveries. */
import type { Registry } from 'prom-client';

import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import type { EgressGuard } from '../../platform/egress/egress.ts';
import { every } from '../../platform/every.ts';
import type { Readiness } from '../../platform/lifecycle.ts';
import type { Logger } from '../../platform/logging.ts';
import { createOutcomeMetrics } from '../../webhooks/metrics.ts';
import { openWebhooks } from '../../webhooks/open-webhooks.ts';
import { EndpointLimits } from '../../webhooks/temporal-retries/endpoint-limits.ts';
import { createDeliveryActivities } from './activities.ts';
import type { DeliveryActivities } from './types.ts';

export interface Deliveries {
  readonly activities: DeliveryActivities;
  /** Refreshes the health of endpoints until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface OpenDeliveriesOptions {
  readonly config: Config;
  readonly egress: EgressGuard;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

const PART = 'subscriptions';
/** Milliseconds between two refreshes of the health of endpoints. */
const REFRESH_MS = 1_000;

/** Tells whether the address of the API server is known: a pod knows it, and elsewhere `KUBECONFIG` gives it. */
export function knowsCluster(config: Config, env: Readonly<Record<string, string | undefined>>): boolean {
  return config.KUBECONFIG !== undefined || (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
}

/** @throws ConfigError for a kubeconfig that can't be used */
export function openDeliveries({ config, egress, readiness, clock, logger, registry }: OpenDeliveriesOptions): Deliveries {
  const webhooks = openWebhooks({ config, applicationName: 'parley worker', egress, storeMeasured: true, logger, registry, clock });
  const { store, directory, health, attempt, recordAttempts } = webhooks;
  readiness.notReady(PART, 'the first listing from the API server is not complete');
  let ready = false;
  return {
    activities: createDeliveryActivities({
      isReady: () => ready,
      store,
      directory,
      health,
      attempt,
      recordAttempts,
      limits: new EndpointLimits({ clock, atOnce: config.PARLEY_DELIVERY_RETRY_CONCURRENCY }),
      metrics: createOutcomeMetrics(registry),
      clock,
      random: Math.random,
      logger,
    }),
    async run(signal) {
      directory.start();
      try {
        await directory.synced(signal);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      const failure = 'failed to refresh the health of endpoints; using the last known state';
      await every({ intervalMs: REFRESH_MS, clock, logger, failure, signal }, async () => {
        await health.refresh();
        if (!ready) readiness.ready(PART);
        ready = true;
      });
    },
    close: () => webhooks.close(),
  };
}
