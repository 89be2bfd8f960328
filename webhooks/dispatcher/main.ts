/** The role `dispatcher`: relays events and makes the first attempt at each delivery. `dispatcher.ts` lists the steps. */
import { every } from '../../platform/every.ts';
import { pollUntil } from '../../platform/poll-until.ts';
import { readyGauge } from '../../platform/ready-gauge.ts';
import { retry } from '../../platform/retry.ts';
import { runRole, type RoleContext, type RoleOptions } from '../../platform/role.ts';
import { HOUR_MS } from '../../platform/time.ts';
import { watchHealth, type DeliveryCounts } from '../../store/index.ts';
import { Dispatcher } from './dispatcher.ts';
import { createDeliveryMetrics, observeDispatcher } from '../metrics.ts';
import { StatusWriter, statusClient } from '../endpoint-health/status-writer.ts';
import { openWebhooks, type Webhooks } from '../open-webhooks.ts';

/** Time between two checks whether Postgres answers, in milliseconds. */
const CHECK_MS = 5_000;
/** One in so many checks counts the deliveries that wait. */
const COUNT_EVERY = 3;

/**
 * Delivers until SIGTERM, SIGINT or `signal`. Postgres, the API server and Temporal may be unavailable at the start or later: the dispatcher is not
 * ready then, says why, and retries. Without Temporal first attempts go on; without the API server it uses the subscriptions that it knew last.
 *
 * @throws ConfigError without DATABASE_URL or without a configured API server
 */
export function runDispatcher(options: RoleOptions): Promise<void> {
  return runRole(options, { name: 'dispatcher', database: 'reads events and records deliveries in Postgres', start });
}

async function start(role: RoleContext): Promise<void> {
  const { config, logger, registry, clock, readiness, stopping } = role;
  readiness.notReady('postgres', 'not asked yet');
  readiness.notReady('subscriptions', 'the first listing from the API server is not complete');

  const webhooks = openWebhooks({ config, applicationName: 'parley dispatcher', logger, registry, clock });
  role.onStop('connections', () => webhooks.close());
  const { store, directory, health, attempt, recordAttempts, starter, transport } = webhooks;
  let counts: DeliveryCounts | undefined;
  const dispatcher = new Dispatcher({
    store,
    directory,
    health,
    attempt,
    recordAttempts,
    starter,
    onRetriesAvailable: (reason) => (reason === undefined ? readiness.ready('temporal') : readiness.notReady('temporal', reason)),
    metrics: createDeliveryMetrics(registry),
    clock,
    random: Math.random,
    logger,
  });
  observeDispatcher(registry, {
    inFlight: () => dispatcher.inFlight,
    claimed: () => dispatcher.held,
    unrecorded: () => dispatcher.unrecorded,
    counts: () => counts,
    breakers: () => health.counts(),
  });
  registry.registerMetric(readyGauge('dispatcher', readiness));
  await role.serveProbes(config.PARLEY_DISPATCHER_PORT, { server: transport.server });

  directory.start();
  const started = startOnceSubscriptionsAreKnown(role, webhooks, dispatcher);
  role.background('start', started);
  const statuses = new StatusWriter({ store, directory, client: statusClient(transport), clock, random: Math.random, logger });
  // The directory says which subscription a status belongs to.
  role.background(
    'statuses',
    started.then(() => statuses.run(stopping)),
  );
  let checks = 0;
  const check = async (): Promise<void> => {
    try {
      await store.health();
      if (checks++ % COUNT_EVERY === 0) counts = await store.counts();
    } catch (error) {
      counts = undefined;
      throw error;
    }
  };
  role.background('health', watchHealth({ check, readiness, clock, logger, everyMs: CHECK_MS }, stopping));
  role.background('subscriptions', watchDirectory(directory, role));
  role.background('partitions', maintainPartitions(store, role));
  role.onStop('deliveries', async () => {
    await started;
    await dispatcher.stop();
  });
}

/** Which subscriptions an event matches can be decided only once all of them are known. */
async function startOnceSubscriptionsAreKnown(
  { clock, logger, stopping }: RoleContext,
  { directory, health }: Webhooks,
  dispatcher: Dispatcher,
): Promise<void> {
  try {
    await directory.synced(stopping);
    // The health of endpoints has to be known before the first request, too; `/readyz` shows why it can't be read.
    await retry(() => health.refresh(), { delayMs: () => 500, clock, signal: stopping });
  } catch (error) {
    if (stopping.aborted) return;
    throw error;
  }
  if (stopping.aborted) return;
  dispatcher.start();
  logger.info({ endpoints: directory.list().length }, 'events are delivered');
}

/** Readiness shows whether subscriptions are known; without the API server the last known ones receive events. */
async function watchDirectory(directory: Webhooks['directory'], { readiness, clock, stopping }: RoleContext): Promise<void> {
  // It fails only when the role stops before.
  await directory.synced(stopping).catch(() => undefined);
  const show = (): void => {
    if (directory.connected) readiness.ready('subscriptions');
    else readiness.notReady('subscriptions', 'the API server does not answer; using the subscriptions known last');
  };
  await pollUntil(show, () => false, { everyMs: CHECK_MS, clock, signal: stopping });
}

function maintainPartitions(store: Webhooks['store'], { config, logger, clock, stopping: signal }: RoleContext): Promise<void> {
  const failure = 'failed to maintain the partitions of event tables; retrying within the hour';
  return every({ intervalMs: HOUR_MS, random: Math.random, clock, logger, failure, signal }, async () => {
    const done = await store.maintainPartitions({
      eventsKeepDays: config.PARLEY_EVENTS_KEEP_DAYS,
      bodiesKeepDays: config.PARLEY_EVENT_BODIES_KEEP_DAYS,
    });
    if (done.made + done.dropped > 0) logger.info(done, 'created and dropped partitions of event tables');
  });
}
