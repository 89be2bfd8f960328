/** The operator role: watches the five kinds and keeps their status, their revisions and their references true. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

import type { Registry } from 'prom-client';

import { prepareJsonSchemas } from '../crds/json-schema.ts';
import { createTransport, EventRecorder, kubeConfigOf, LeaderElector, leases, ResourceClient, type Lease } from '../kube/index.ts';
import { createKnowledgeJobs } from '../knowledge/jobs/jobs.ts';
import { systemClock } from '../platform/clock.ts';
import { ConfigError, type Config } from '../platform/config.ts';
import { Readiness, runUntilStopped, startProbeServer } from '../platform/lifecycle.ts';
import type { Logger } from '../platform/logging.ts';
import { temporalOf } from '../platform/temporal.ts';
import { openStore } from '../store/index.ts';
import { LEASE_NAME } from './lease-name.ts';
import { FIELD_MANAGER } from './runtime/caches.ts';
import { Manager } from './runtime/manager.ts';

export interface RunOperatorOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Stops the operator, as SIGTERM does. */
  readonly signal?: AbortSignal;
  /** Told the port of the probes once they answer. */
  readonly onListening?: (port: number) => void;
}

/**
 * Runs until SIGTERM, SIGINT or `signal`. The API server and Postgres may be away at the start or later: it waits for
 * them, and goes on by itself. Ready when the caches are filled, leading or not, so that a standby takes over at once.
 *
 * @throws ConfigError when there is no DATABASE_URL, or no API server is configured
 */
export async function runOperator(options: RunOperatorOptions): Promise<void> {
  const { config, logger, registry } = options;
  if (config.DATABASE_URL === undefined) {
    throw new ConfigError(
      'DATABASE_URL is not set: the operator stores agent revisions in Postgres. Set it to postgres://user:password@host:port/database',
    );
  }
  const readiness = new Readiness();
  readiness.notReady('caches', 'the first listing from the API server is not complete');

  const transport = createTransport({ kubeConfig: kubeConfigOf(config), registry, logger });
  const store = openStore({
    databaseUrl: config.DATABASE_URL,
    poolSize: config.PARLEY_DATABASE_POOL,
    applicationName: 'parley operator',
    logger,
    registry,
  });
  const identity = config.PARLEY_IDENTITY ?? `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
  const events = new EventRecorder({ transport, controller: 'parley.dev/operator', instance: identity, logger });
  const jobs = createKnowledgeJobs({
    ...temporalOf(config),
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    logger,
  });
  const manager = new Manager({ config, transport, store, jobs, events, clock: systemClock, random: Math.random, logger, registry });
  const probes = await startProbeServer({
    host: config.PARLEY_HOST,
    port: config.PARLEY_OPERATOR_PORT,
    readiness,
    registry,
    metricsToken: config.PARLEY_METRICS_TOKEN,
  });
  logger.info({ port: probes.port, identity, server: transport.server }, 'probes and metrics are served');
  options.onListening?.(probes.port);

  const stopping = new AbortController();
  prepareJsonSchemas();
  manager.start();
  const filling = fillCaches(manager, { readiness, logger, signal: stopping.signal });
  const working = work({ config, logger, manager, transport, identity, signal: stopping.signal });
  const broken = new AbortController();
  working.catch((err: unknown) => {
    logger.fatal({ err }, 'the operator cannot go on');
    broken.abort(err);
  });

  await runUntilStopped({
    logger,
    readiness,
    timeoutMs: config.PARLEY_SHUTDOWN_TIMEOUT_MS,
    signal: AbortSignal.any([broken.signal, ...(options.signal === undefined ? [] : [options.signal])]),
    // Run last to first: stop the work and hand the lease over, then what the work needs.
    steps: [
      { name: 'probes', stop: () => probes.close() },
      { name: 'store', stop: () => store.close() },
      { name: 'transport', stop: () => transport.close() },
      { name: 'temporal', stop: () => jobs.close() },
      { name: 'caches', stop: () => manager.stop() },
      { name: 'events', stop: () => events.flush() },
      {
        name: 'work',
        stop: async () => {
          stopping.abort(new Error('the operator stops'));
          await Promise.all([filling, working.catch(() => undefined)]);
        },
      },
    ],
  });
  if (broken.signal.aborted) throw broken.signal.reason;
}

async function fillCaches(
  manager: Manager,
  options: { readonly readiness: Readiness; readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  try {
    await manager.synced(options.signal);
    options.readiness.ready('caches');
    options.logger.info('caches are filled');
  } catch (error) {
    // Stopped before the first listing was complete.
    if (!options.signal.aborted) throw error;
  }
}

/** Leads when it may: always, where leader election is switched off. */
async function work(options: {
  readonly config: Config;
  readonly logger: Logger;
  readonly manager: Manager;
  readonly transport: ReturnType<typeof createTransport>;
  readonly identity: string;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { config, logger, manager, transport, identity, signal } = options;
  const { leader } = manager.metrics;
  const lead = async (leading: AbortSignal): Promise<void> => {
    leader.set({ name: LEASE_NAME }, 1);
    logger.info({ identity }, 'leading');
    try {
      await manager.lead(leading);
    } catch (error) {
      if (!leading.aborted) throw error;
    } finally {
      leader.set({ name: LEASE_NAME }, 0);
    }
  };
  leader.set({ name: LEASE_NAME }, 0);
  if (!config.PARLEY_LEADER_ELECTION) return lead(signal);
  const elector = new LeaderElector({
    client: new ResourceClient<Lease>({ transport, descriptor: leases, fieldManager: FIELD_MANAGER }),
    namespace: config.PARLEY_LEASE_NAMESPACE,
    name: LEASE_NAME,
    identity,
    logger,
  });
  await elector.run({ onStarted: lead, signal });
}
