/** The worker role: runs Parley's workflows and their activities. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

import type { WorkflowBundleOption } from '@temporalio/worker';
import type { Registry } from 'prom-client';

import { analysisQueue } from '../voice/calls/analysis/names.ts';
import { CallLifecycle } from '../voice/calls/lifecycle.ts';
import { mediaServerOf } from '../voice/calls/media-server.ts';
import { CallCaretaker } from '../voice/calls/caretaker.ts';
import { Reaper } from '../voice/calls/reaper.ts';
import { createRooms } from '../voice/calls/rooms.ts';
import { sleep, systemClock, type Clock } from '../platform/clock.ts';
import { ConfigError, type Config } from '../platform/config.ts';
import { egressOf } from '../platform/egress/egress-of.ts';
import { Readiness, runUntilStopped, startProbeServer } from '../platform/lifecycle.ts';
import type { Logger } from '../platform/logging.ts';
import { readyGauge } from '../platform/ready-gauge.ts';
import { temporalOf } from '../platform/temporal.ts';
import { sweep } from '../knowledge/ingestion/sweep.ts';
import { ingestionQueues } from '../knowledge/jobs/names.ts';
import { openKnowledge, type Knowledge } from '../knowledge/open-knowledge.ts';
import { createParserPool } from '../knowledge/parsing/index.ts';
import { openStore, watchHealth, type Store } from '../store/index.ts';
import { deliveryQueue } from '../webhooks/retries/names.ts';
import { openAnalyses } from './analysis/open-analyses.ts';
import { workflowBundle } from './bundle.ts';
import { createClearingActivities } from './clearing/activities.ts';
import { createHousekeepingActivities } from './housekeeping/activities.ts';
import { knowsCluster, openDeliveries } from './delivery/open-deliveries.ts';
import { ensureHousekeepingSchedule } from './housekeeping/schedule.ts';
import { createIngestionActivities } from './ingestion/activities.ts';
import { keepWorking } from './keep-working.ts';
import { createReindexActivities } from './reindex/activities.ts';
import { installRuntime } from './runtime.ts';

export interface RunWorkerOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Stops the worker, as SIGTERM does. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** `parley-housekeeping` by default. */
  readonly scheduleId?: string;
  /** The compiled workflows; by default those that the build made, else compiled now. */
  readonly bundle?: WorkflowBundleOption;
  /** Told once the probes answer. */
  readonly onListening?: (port: number) => void;
}

/** Analyses of calls that a worker has under way: they wait for models. */
const ANALYSES_AT_ONCE = 20;
/** Websites that are fetched at once, for each file that is read at once: they mostly wait. */
const SITES_FOR_EACH = 4;
/** Between two looks for lost work, in milliseconds. */
const SWEEP_MS = 30_000;
/** Leftovers are looked for in each so many of these looks: every two hours. */
const LEFTOVERS_EVERY = 240;

/**
 * Runs until SIGTERM, SIGINT or `signal`. Temporal and Postgres may be away at the start or later: it is unready then, and tries again.
 *
 * @throws ConfigError when there is no DATABASE_URL
 */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  const { config, logger, registry, clock = systemClock } = options;
  const taskQueue = config.TEMPORAL_TASK_QUEUE;
  if (config.DATABASE_URL === undefined) throw new ConfigError('DATABASE_URL is not set: the worker cleans up in Postgres');
  const mediaServer = mediaServerOf(config);
  const readiness = new Readiness();
  readiness.notReady('temporal', 'starting');
  readiness.notReady('postgres', 'not yet asked');
  registry.registerMetric(readyGauge('worker', readiness));
  const probes = await startProbeServer({
    host: config.PARLEY_HOST,
    port: config.PARLEY_WORKER_PORT,
    readiness,
    registry,
    metricsToken: config.PARLEY_METRICS_TOKEN,
  });
  options.onListening?.(probes.port);
  logger.info({ port: probes.port }, 'probes and metrics are served');

  const store = openStore({
    databaseUrl: config.DATABASE_URL,
    poolSize: config.PARLEY_DATABASE_POOL,
    applicationName: 'parley worker',
    logger,
    registry,
  });
  const knowledge = openKnowledge({ config, store, logger, registry });
  const queues = ingestionQueues(taskQueue);
  const atOnce = config.PARLEY_INGESTION_CONCURRENCY;
  const parsers = createParserPool({ size: 2 * atOnce, logger, registry });
  const egress = egressOf(config, { logger, registry });
  const deliveries = knowsCluster(config, process.env) ? openDeliveries({ config, egress, readiness, clock, logger, registry }) : undefined;
  if (deliveries === undefined) {
    logger.warn('KUBECONFIG is not set: this worker cannot know the webhook subscriptions, and leaves retries of deliveries to others');
  }
  const analyses = openAnalyses({ config, store, egress, knowsCluster: deliveries !== undefined, clock, logger, registry });
  installRuntime(logger);
  const stopping = new AbortController();
  const common = {
    workflowBundle: options.bundle ?? (await workflowBundle()),
    identity: config.PARLEY_IDENTITY ?? `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`,
    // An activity that is still running after the first half is cancelled, and its next batch never begins.
    shutdownGraceTime: config.PARLEY_SHUTDOWN_TIMEOUT_MS * 0.5,
    shutdownForceTime: config.PARLEY_SHUTDOWN_TIMEOUT_MS * 0.8,
  };
  const ingestion = {
    ...createIngestionActivities({ ...knowledge, parsers, egress, registry }),
    ...createClearingActivities(knowledge),
    ...createReindexActivities(knowledge),
  };
  const working = keepWorking(
    {
      ...temporalOf(config),
      workers: [
        {
          ...common,
          taskQueue,
          activities: {
            ...createHousekeepingActivities({
              store,
              keep: { eventsKeepDays: config.PARLEY_EVENTS_KEEP_DAYS, bodiesKeepDays: config.PARLEY_EVENT_BODIES_KEEP_DAYS },
              registry,
            }),
          },
          maxConcurrentActivityTaskExecutions: config.PARLEY_DATABASE_POOL,
        },
        { ...common, taskQueue: queues.small, activities: ingestion, maxConcurrentActivityTaskExecutions: atOnce },
        { ...common, taskQueue: queues.websites, activities: ingestion, maxConcurrentActivityTaskExecutions: SITES_FOR_EACH * atOnce },
        { ...common, taskQueue: queues.bulk, activities: ingestion, maxConcurrentActivityTaskExecutions: atOnce },
        {
          ...common,
          taskQueue: analysisQueue(taskQueue),
          activities: { ...analyses.activities },
          maxConcurrentActivityTaskExecutions: ANALYSES_AT_ONCE,
        },
        ...(deliveries === undefined
          ? []
          : [
              {
                ...common,
                taskQueue: deliveryQueue(taskQueue),
                activities: { ...deliveries.activities },
                maxConcurrentActivityTaskExecutions: config.PARLEY_DELIVERY_RETRY_CONCURRENCY,
              },
            ]),
      ],
      prepare: (client) => ensureHousekeepingSchedule(client, { taskQueue, scheduleId: options.scheduleId }),
      readiness,
      logger,
      clock,
    },
    stopping.signal,
  );
  const sweeping = keepSweeping({ store, knowledge, clock, logger }, stopping.signal);
  const analysing = analyses.run(stopping.signal);
  const delivering = deliveries?.run(stopping.signal);
  const rooms = mediaServer && createRooms(mediaServer, () => clock.now());
  // Not Temporal's business: calls end while it is away, too.
  const reaping = new Reaper({
    store: store.calls,
    lifecycle: new CallLifecycle({ calls: store.calls.calls, clock }),
    rooms,
    clock,
    random: Math.random,
    logger,
    registry,
  }).run(stopping.signal);
  const attending = rooms && new CallCaretaker({ store: store.calls, rooms, clock, random: Math.random, logger }).run(stopping.signal);
  const watching = watchHealth({ check: () => store.health(), readiness, clock, logger }, stopping.signal);

  await runUntilStopped({
    logger,
    readiness,
    timeoutMs: config.PARLEY_SHUTDOWN_TIMEOUT_MS,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    steps: [
      { name: 'probes', stop: () => probes.close() },
      { name: 'store', stop: () => store.close() },
      { name: 'knowledge', stop: () => knowledge.close() },
      { name: 'parsers', stop: () => parsers.close() },
      { name: 'egress', stop: () => egress.close() },
      { name: 'analyses', stop: () => analyses.close() },
      ...(deliveries === undefined ? [] : [{ name: 'deliveries', stop: () => deliveries.close() }]),
      {
        name: 'worker',
        stop: async () => {
          stopping.abort();
          await Promise.all([working, watching, sweeping, analysing, delivering, reaping, attending]);
        },
      },
    ],
  });
}

/** Starts what nobody started, and now and then takes away what nobody owns. */
async function keepSweeping(
  {
    store,
    knowledge,
    clock,
    logger,
  }: { readonly store: Store; readonly knowledge: Knowledge; readonly clock: Clock; readonly logger: Logger },
  signal: AbortSignal,
): Promise<void> {
  for (let round = 1; !signal.aborted; round += 1) {
    try {
      for (let after = ''; ;) {
        const names = (await store.organizations.list({ after, limit: 1_000 })).map(({ name }) => name);
        await sweep(names, knowledge, { leftovers: round % LEFTOVERS_EVERY === 0, signal });
        if (names.length < 1_000) break;
        after = names.at(-1) ?? after;
      }
    } catch (error) {
      logger.warn({ err: error }, 'the organisations were not looked after; the next round looks again');
    }
    // Replicas don't look all at the same time.
    await sleep(clock, SWEEP_MS * (0.75 + Math.random() / 2), signal).catch(() => undefined);
  }
}
