/** The worker role: runs Parley's workflows and their activities. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

import { Gauge, type Registry } from 'prom-client';

import { sleep, systemClock, type Clock } from '../platform/clock.ts';
import { ConfigError, type Config } from '../platform/config.ts';
import { Readiness, runUntilStopped, startProbeServer } from '../platform/lifecycle.ts';
import type { Logger } from '../platform/logging.ts';
import { openStore, type Store } from '../store/index.ts';
import { workflowBundle } from './bundle.ts';
import { createHousekeepingActivities } from './housekeeping/activities.ts';
import { ensureHousekeepingSchedule } from './housekeeping/schedule.ts';
import { keepWorking } from './keep-working.ts';
import { installRuntime } from './runtime.ts';

const TASK_QUEUE = 'parley';

export interface RunWorkerOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Stops the worker, as SIGTERM does. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** `parley` by default; installations that share a Temporal namespace need one each. */
  readonly taskQueue?: string;
  /** `parley-housekeeping` by default. */
  readonly scheduleId?: string;
  /** Told once the probes answer. */
  readonly onListening?: (port: number) => void;
}

const DATABASE_CHECK_MS = 5_000;

/**
 * Runs until SIGTERM, SIGINT or `signal`. Temporal and Postgres may be away at the start or later: it is unready then, and tries again.
 *
 * @throws ConfigError when there is no DATABASE_URL
 */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  const { config, logger, registry, clock = systemClock, taskQueue = TASK_QUEUE } = options;
  if (config.DATABASE_URL === undefined) throw new ConfigError('DATABASE_URL is not set: the worker cleans up in Postgres');
  const readiness = new Readiness();
  readiness.notReady('temporal', 'starting');
  readiness.notReady('postgres', 'not yet asked');
  const ready = new Gauge({
    name: 'parley_worker_ready',
    help: '1 while Temporal and Postgres answer and the worker takes work.',
    registers: [],
    collect() {
      this.set(readiness.isReady ? 1 : 0);
    },
  });
  registry.registerMetric(ready);
  const probes = await startProbeServer({ host: config.PARLEY_HOST, port: config.PARLEY_WORKER_PORT, readiness, registry });
  options.onListening?.(probes.port);
  logger.info({ port: probes.port }, 'probes and metrics are served');

  const store = openStore({
    databaseUrl: config.DATABASE_URL,
    poolSize: config.PARLEY_DATABASE_POOL,
    applicationName: 'parley worker',
    logger,
    registry,
  });
  installRuntime(logger);
  const stopping = new AbortController();
  const working = keepWorking(
    {
      address: config.TEMPORAL_ADDRESS,
      namespace: config.TEMPORAL_NAMESPACE,
      worker: {
        taskQueue,
        workflowBundle: await workflowBundle(),
        activities: { ...createHousekeepingActivities({ store, registry }) },
        identity: config.PARLEY_IDENTITY ?? `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`,
        maxConcurrentActivityTaskExecutions: config.PARLEY_DATABASE_POOL,
        // An activity that is still running after the first half is cancelled, and its next batch never begins.
        shutdownGraceTime: config.PARLEY_SHUTDOWN_TIMEOUT_MS * 0.5,
        shutdownForceTime: config.PARLEY_SHUTDOWN_TIMEOUT_MS * 0.8,
      },
      prepare: (client) => ensureHousekeepingSchedule(client, { taskQueue, scheduleId: options.scheduleId }),
      readiness,
      logger,
      clock,
    },
    stopping.signal,
  );
  const watching = watchDatabase({ store, readiness, logger, clock }, stopping.signal);

  await runUntilStopped({
    logger,
    readiness,
    timeoutMs: config.PARLEY_SHUTDOWN_TIMEOUT_MS,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    steps: [
      { name: 'probes', stop: () => probes.close() },
      { name: 'store', stop: () => store.close() },
      {
        name: 'worker',
        stop: async () => {
          stopping.abort();
          await Promise.all([working, watching]);
        },
      },
    ],
  });
}

/** Readiness shows whether Postgres answers and has the schema; the reason is what a person reads at `/readyz`. */
async function watchDatabase(
  {
    store,
    readiness,
    logger,
    clock,
  }: { readonly store: Store; readonly readiness: Readiness; readonly logger: Logger; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  let reason: string | undefined;
  while (!signal.aborted) {
    try {
      await store.health();
      reason = undefined;
      readiness.ready('postgres');
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== reason) logger.warn({ err: error }, 'Postgres is not usable');
      reason = message;
      readiness.notReady('postgres', message);
    }
    await sleep(clock, DATABASE_CHECK_MS, signal).catch(() => undefined);
  }
}
