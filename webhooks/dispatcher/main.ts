/** The dispatcher role: relays events and sends them to webhook subscriptions. */
import type { Registry } from 'prom-client';

import { sleep, systemClock, type Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { Readiness, runUntilStopped, startProbeServer } from '../../platform/lifecycle.ts';
import type { Logger } from '../../platform/logging.ts';
import { readyGauge } from '../../platform/ready-gauge.ts';
import { watchHealth, type DeliveryCounts } from '../../store/index.ts';
import { Caretaker } from './caretaker.ts';
import { Dispatcher } from './dispatcher.ts';
import { createDeliveryMetrics } from './metrics.ts';
import { StatusWriter, statusClient } from '../health/status-writer.ts';
import { openWebhooks, type Webhooks } from '../open-webhooks.ts';

export interface RunDispatcherOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Stops the dispatcher, as SIGTERM does. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** Told the port of the probes once they answer. */
  readonly onListening?: (port: number) => void;
}

/** Between two looks whether Postgres answers, in milliseconds. */
const CHECK_MS = 5_000;
/** What waits there is counted in each so many of these looks. */
const COUNT_EVERY = 3;
/** Between two times that tables for the days to come are made and old ones dropped. */
const PARTITIONS_MS = 3_600_000;

/**
 * Runs until SIGTERM, SIGINT or `signal`. Postgres, the API server and Temporal may be away at the start or later: it is unready
 * then, says why, and tries again. Without Temporal first attempts go on; without the API server it goes by what it knew last.
 *
 * @throws ConfigError when there is no DATABASE_URL, or no API server is configured
 */
export async function runDispatcher(options: RunDispatcherOptions): Promise<void> {
  const { config, logger, registry, clock = systemClock } = options;
  const readiness = new Readiness();
  readiness.notReady('postgres', 'not yet asked');
  readiness.notReady('subscriptions', 'the first listing from the API server is not complete');

  let dispatcher: Dispatcher | undefined;
  const webhooks = openWebhooks({
    config,
    applicationName: 'parley dispatcher',
    onCleared: (uid) => dispatcher?.fetcher.due([uid]),
    logger,
    registry,
    clock,
  });
  const { store, directory, book, attempt, recordAttempts, starter, transport } = webhooks;
  let counts: DeliveryCounts | undefined;
  const metrics = createDeliveryMetrics(registry, {
    inFlight: () => dispatcher?.deliverer.inFlight ?? 0,
    claimed: () => dispatcher?.held ?? 0,
    unrecorded: () => dispatcher?.unrecorded ?? 0,
    counts: () => counts,
    breakers: () => book.counts(),
  });
  dispatcher = new Dispatcher({
    store,
    directory,
    book,
    attempt,
    recordAttempts,
    starter,
    onRetriesAvailable: (reason) => (reason === undefined ? readiness.ready('temporal') : readiness.notReady('temporal', reason)),
    metrics,
    clock,
    random: Math.random,
    logger,
  });
  const caretaker = new Caretaker({ store, directory, book, dispatcher, clock, random: Math.random, logger });
  registry.registerMetric(readyGauge('dispatcher', readiness));

  const probes = await startProbeServer({
    host: config.PARLEY_HOST,
    port: config.PARLEY_DISPATCHER_PORT,
    readiness,
    registry,
    metricsToken: config.PARLEY_METRICS_TOKEN,
  });
  logger.info({ port: probes.port, server: transport.server }, 'probes and metrics are served');
  options.onListening?.(probes.port);

  const stopping = new AbortController();
  directory.start();
  const started = startWhenKnown({ webhooks, dispatcher, caretaker, logger, clock, signal: stopping.signal });
  const statuses = new StatusWriter({ store, directory, client: statusClient(transport), clock, random: Math.random, logger });
  // The directory says whose status it is.
  const writing = started.then(() => statuses.run(stopping.signal));
  let looks = 0;
  const check = async (): Promise<void> => {
    try {
      await store.health();
      if (looks++ % COUNT_EVERY === 0) counts = await store.counts();
    } catch (error) {
      counts = undefined;
      throw error;
    }
  };
  const watching = Promise.all([
    watchHealth({ check, readiness, clock, logger, everyMs: CHECK_MS }, stopping.signal),
    watchDirectory({ directory, readiness, clock }, stopping.signal),
  ]);
  const maintaining = maintain({ store, config, logger, clock }, stopping.signal);

  await runUntilStopped({
    logger,
    readiness,
    timeoutMs: config.PARLEY_SHUTDOWN_TIMEOUT_MS,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    // Run last to first: take nothing more and finish what is on its way, then let go of what that needs.
    steps: [
      { name: 'probes', stop: () => probes.close() },
      { name: 'connections', stop: () => webhooks.close() },
      { name: 'watching', stop: () => Promise.all([watching, maintaining, writing]).then(() => undefined) },
      {
        name: 'deliveries',
        stop: async () => {
          stopping.abort(new Error('the dispatcher stops'));
          // From now on nothing is taken on, whatever the caretaker is still at.
          await Promise.all([dispatcher.stop(), started.then(() => caretaker.stop())]);
          // What it brought last is handed back, too.
          await dispatcher.stop();
        },
      },
    ],
  });
}

/** Who gets an event can be decided once all subscriptions are known, and not before. */
async function startWhenKnown(options: {
  readonly webhooks: Webhooks;
  readonly dispatcher: Dispatcher;
  readonly caretaker: Caretaker;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { webhooks, dispatcher, caretaker, logger, clock, signal } = options;
  try {
    await webhooks.directory.synced(signal);
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  // Also what is wrong with endpoints has to be known before the first one is called.
  while (!signal.aborted) {
    try {
      await webhooks.book.refresh();
      break;
    } catch {
      // Readiness tells of it.
      await sleep(clock, 500, signal).catch(() => undefined);
    }
  }
  if (signal.aborted) return;
  dispatcher.start();
  caretaker.start();
  logger.info({ endpoints: webhooks.directory.list().length }, 'events are delivered');
}

/** Readiness shows whether subscriptions are known; without the API server events go by what was known last. */
async function watchDirectory(
  { directory, readiness, clock }: { readonly directory: Webhooks['directory']; readonly readiness: Readiness; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  // Fails only when it is stopped before.
  await directory.synced(signal).catch(() => undefined);
  while (!signal.aborted) {
    if (directory.connected) readiness.ready('subscriptions');
    else readiness.notReady('subscriptions', 'the API server does not answer; events go by what was known last');
    await sleep(clock, CHECK_MS, signal).catch(() => undefined);
  }
}

async function maintain(
  {
    store,
    config,
    logger,
    clock,
  }: { readonly store: Webhooks['store']; readonly config: Config; readonly logger: Logger; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const done = await store.maintainPartitions({
        eventsKeepDays: config.PARLEY_EVENTS_KEEP_DAYS,
        bodiesKeepDays: config.PARLEY_EVENT_BODIES_KEEP_DAYS,
      });
      if (done.made + done.dropped > 0) logger.info(done, 'tables of events were made and dropped');
    } catch (err) {
      logger.warn({ err }, 'the tables of events were not looked after; they are within the hour');
    }
    await sleep(clock, PARTITIONS_MS * (0.75 + Math.random() / 2), signal).catch(() => undefined);
  }
}
