/** The role `worker`: runs Parley's workflows and their activities. */
import { existsSync, readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

import type { WorkflowBundleOption } from '@temporalio/worker';

import { analysisQueue } from '../calls/analysis/names.ts';
import { CallDeletion } from '../calls/call-deletion.ts';
import { CallLifecycle } from '../calls/lifecycle.ts';
import { mediaServerOf } from '../calls/media-server.ts';
import { PersonErasure } from '../calls/person-erasure.ts';
import { AgentRedispatcher } from '../calls/agent-redispatcher.ts';
import { OVERDUE_LIMITS, StaleCallSweeper } from '../calls/stale-call-sweeper.ts';
import { ToolListRefresher } from '../calls/mcp-client/tool-list-refresher.ts';
import { createRooms } from '../calls/rooms.ts';
import { egressOf } from '../platform/egress/egress-of.ts';
import { INSTALLATION } from '../platform/egress/egress.ts';
import { every } from '../platform/every.ts';
import { readyGauge } from '../platform/ready-gauge.ts';
import { runRole, type RoleContext, type RoleOptions } from '../platform/role.ts';
import { temporalOf } from '../platform/temporal/access.ts';
import { createGenAiMetrics } from '../platform/telemetry/gen-ai/gen-ai-metrics.ts';
import type { Measurement } from '../platform/telemetry/gen-ai/model-requests.ts';
import { WorkflowStarter } from '../platform/temporal/workflow-starter.ts';
import { sweep } from '../knowledge/ingestion/sweep.ts';
import { ingestionQueues } from '../knowledge/jobs/names.ts';
import { createOcr } from '../knowledge/ocr/create-ocr.ts';
import { openKnowledge, type Knowledge } from '../knowledge/open-knowledge.ts';
import { ParserPool } from '../knowledge/parsing/index.ts';
import { openStore, watchHealth, type Store } from '../store/index.ts';
import { deliveryQueue } from '../webhooks/temporal-retries/names.ts';
import { openAgentTests } from './agent-tests/open-agent-tests.ts';
import { agentTestQueues, KEPT_PLACES } from './agent-tests/types.ts';
import { openAnalyses } from './analysis/open-analyses.ts';
import { workflowBundle } from './bundle.ts';
import { createClearingActivities } from './clearing/activities.ts';
import { createHousekeepingActivities } from './housekeeping/activities.ts';
import { knowsCluster, openDeliveries } from './delivery/open-deliveries.ts';
import { ensureHousekeepingSchedule } from './housekeeping/schedule.ts';
import { createIngestionActivities } from './ingestion/activities.ts';
import { keepWorking, type KeepWorkingOptions } from './keep-working.ts';
import { openProviderKeys } from './provider-keys.ts';
import { createReindexActivities } from './reindex/activities.ts';
import { installRuntime } from './runtime.ts';

export interface RunWorkerOptions extends RoleOptions {
  /** Id of the housekeeping schedule; `parley-housekeeping` by default. */
  readonly scheduleId?: string;
  /** The compiled workflows; by default the build's, or else compiled now. */
  readonly bundle?: WorkflowBundleOption;
}

/** Analyses of calls that a worker has under way; mostly they wait for models. */
const ANALYSES_AT_ONCE = 20;
/** Websites that are fetched at once, for each file that is read at once: fetching is mostly waiting. */
const SITES_FOR_EACH = 4;
/**
 * Small documents that are under way in one pass, for each that is read at once: the others wait for their turn, or are written together.
 */
const ONE_PASS_FOR_EACH = 8;
/**
 * Workflows of each queue that stay in memory between two of their tasks. Others are read again from Temporal; without a limit a thousand
 * waiting documents would stay in memory.
 */
const CACHED_WORKFLOWS = 64;
/** Milliseconds between two sweeps for lost work. */
const SWEEP_MS = 30_000;
/** One in so many sweeps looks for orphaned vectors and files: every two hours. */
const ORPHANS_EVERY = 240;

/**
 * Runs the worker until SIGTERM, SIGINT or `signal`. Temporal and Postgres may be unavailable at the start or later: the worker is not
 * ready then, and retries.
 *
 * @throws ConfigError without DATABASE_URL
 */
export function runWorker(options: RunWorkerOptions): Promise<void> {
  return runRole(options, {
    name: 'worker',
    database: 'processes documents, deliveries and calls in Postgres',
    start: (role) => start(role, options),
  });
}

async function start(role: RoleContext, { scheduleId, bundle }: Pick<RunWorkerOptions, 'scheduleId' | 'bundle'>): Promise<void> {
  const { config, logger, registry, clock, readiness, stopping } = role;
  readiness.notReady('temporal', 'starting');
  readiness.notReady('postgres', 'not asked yet');
  registry.registerMetric(readyGauge('worker', readiness));
  await role.serveProbes(config.PARLEY_WORKER_PORT);
  const parts = openParts(role);
  installRuntime(logger);
  const working = keepWorking(
    {
      ...temporalOf(config),
      workers: describeWorkers(role, parts, bundle ?? (await workflowBundle())),
      prepare: (client) => ensureHousekeepingSchedule(client, { taskQueue: config.TEMPORAL_TASK_QUEUE, scheduleId }),
      readiness,
      logger,
      clock,
    },
    stopping,
  );
  const { store, deliveries } = parts;
  role.background('temporal', working);
  role.background('sweeps', keepSweeping(store, parts.knowledge, role));
  role.background('analyses', parts.analyses.run(stopping));
  role.background('agent tests', parts.agentTests.run(stopping));
  if (deliveries !== undefined) role.background('deliveries', deliveries.run(stopping));
  runWithoutTemporal(role, parts);
  role.background('health', watchHealth({ check: () => store.health(), readiness, clock, logger }, stopping));
}

type Parts = ReturnType<typeof openParts>;

/** What activities work with. The role closes it when it stops. */
function openParts(role: RoleContext) {
  const { config, databaseUrl, logger, registry, clock, readiness } = role;
  const store = openStore({ databaseUrl, poolSize: config.PARLEY_DATABASE_POOL, applicationName: 'parley worker', logger, registry });
  role.onStop('store', () => store.close());
  const knowledge = openKnowledge({ config, store, logger, registry });
  role.onStop('knowledge', () => knowledge.close());
  const parsers = new ParserPool({
    // Stages read small and large documents and one pass reads its own; one place is kept for organisations of which none is being read.
    size: 3 * config.PARLEY_INGESTION_CONCURRENCY + 1,
    sharedBytes: config.PARLEY_PARSER_MEMORY_MB * 1e6,
    idleMs: config.PARLEY_PARSER_IDLE_SECONDS * 1000,
    logger,
    registry,
  });
  role.onStop('parsers', () => parsers.close());
  const egress = egressOf(config, { logger, registry });
  role.onStop('egress', () => egress.close());
  const ocr = createOcr({ profile: config.PARLEY_OCR, egress: egress.for(INSTALLATION), env: process.env, clock, registry });
  const deliveries = knowsCluster(config, process.env) ? openDeliveries({ config, egress, readiness, clock, logger, registry }) : undefined;
  if (deliveries === undefined)
    logger.warn('KUBECONFIG is not set: this worker cannot read the webhook subscriptions, and leaves retries of deliveries to others');
  else role.onStop('deliveries', () => deliveries.close());
  const providerKeys = openProviderKeys({ config, knowsCluster: deliveries !== undefined, clock, logger });
  role.onStop('provider keys', () => providerKeys.close());
  const workflows = new WorkflowStarter({ ...temporalOf(config), logger });
  role.onStop('workflow starter', () => workflows.close());
  const genAiMetrics = createGenAiMetrics(registry);
  const measure = (measurement: Measurement): void => genAiMetrics.record(measurement);
  const common = { config, store, egress, keys: providerKeys.keys, workflows, measure, clock, logger, registry };
  const analyses = openAnalyses(common);
  const agentTests = openAgentTests({ ...common, search: knowledge.search });
  role.onStop('agent tests', () => agentTests.close());
  return { store, knowledge, parsers, egress, ocr, deliveries, providerKeys, analyses, agentTests };
}

/** One for each task queue. */
function describeWorkers(
  { config, registry, identity }: RoleContext,
  { store, knowledge, parsers, egress, ocr, deliveries, analyses, agentTests }: Parts,
  bundle: WorkflowBundleOption,
): KeepWorkingOptions['workers'] {
  const taskQueue = config.TEMPORAL_TASK_QUEUE;
  const queues = ingestionQueues(taskQueue);
  const testQueues = agentTestQueues(taskQueue);
  const atOnce = config.PARLEY_INGESTION_CONCURRENCY;
  const activitiesOnly = {
    identity,
    // An activity that is still running after the first half is cancelled, and its next batch never begins.
    shutdownGraceTime: config.PARLEY_SHUTDOWN_TIMEOUT_MS * 0.5,
    shutdownForceTime: config.PARLEY_SHUTDOWN_TIMEOUT_MS * 0.8,
  };
  const worker = { ...activitiesOnly, maxCachedWorkflows: CACHED_WORKFLOWS, workflowBundle: bundle };
  const ingestion = {
    ...createIngestionActivities({ ...knowledge, parsers, ocr, egress, registry, readersAtOnce: atOnce }),
    ...createClearingActivities(knowledge),
    ...createReindexActivities(knowledge),
  };
  const housekeeping = createHousekeepingActivities({
    store,
    deletion: new CallDeletion({ store: store.calls, files: knowledge.storage }),
    keep: { eventsKeepDays: config.PARLEY_EVENTS_KEEP_DAYS, bodiesKeepDays: config.PARLEY_EVENT_BODIES_KEEP_DAYS },
    registry,
  });
  return [
    { ...worker, taskQueue, activities: { ...housekeeping }, maxConcurrentActivityTaskExecutions: config.PARLEY_DATABASE_POOL },
    {
      ...worker,
      taskQueue: queues.small,
      activities: ingestion,
      maxConcurrentActivityTaskExecutions: atOnce,
      maxConcurrentWorkflowTaskExecutions: ONE_PASS_FOR_EACH * atOnce,
      maxConcurrentLocalActivityExecutions: ONE_PASS_FOR_EACH * atOnce,
      // Each poll holds a place, and one pass has no second task to poll for.
      maxConcurrentWorkflowTaskPolls: 4,
      nonStickyToStickyPollRatio: 0.5,
    },
    {
      ...activitiesOnly,
      taskQueue: queues.websites,
      activities: ingestion,
      maxConcurrentActivityTaskExecutions: SITES_FOR_EACH * atOnce,
    },
    { ...worker, taskQueue: queues.bulk, activities: ingestion, maxConcurrentActivityTaskExecutions: atOnce },
    {
      ...worker,
      taskQueue: analysisQueue(taskQueue),
      activities: { ...analyses.activities },
      maxConcurrentActivityTaskExecutions: ANALYSES_AT_ONCE,
    },
    {
      ...worker,
      taskQueue: testQueues.text,
      activities: { ...agentTests.activities },
      maxConcurrentActivityTaskExecutions: config.PARLEY_TEST_CONCURRENCY + KEPT_PLACES,
    },
    {
      ...activitiesOnly,
      taskQueue: testQueues.audio,
      activities: { ...agentTests.activities },
      maxConcurrentActivityTaskExecutions: config.PARLEY_TEST_CALLS + KEPT_PLACES,
    },
    ...(deliveries === undefined
      ? []
      : [
          {
            ...worker,
            taskQueue: deliveryQueue(taskQueue),
            activities: { ...deliveries.activities },
            maxConcurrentActivityTaskExecutions: config.PARLEY_DELIVERY_RETRY_CONCURRENCY,
          },
        ]),
  ];
}

/** Runs work that needs no history: tools are listed, and calls end, while Temporal is unavailable, too. */
function runWithoutTemporal(role: RoleContext, { store, knowledge, egress, providerKeys }: Parts): void {
  const { config, clock, logger, registry, stopping } = role;
  const common = { clock, random: Math.random, logger };
  const toolLists = new ToolListRefresher({
    lists: store.toolLists,
    egress,
    keys: providerKeys.currentKeys,
    refreshMs: config.PARLEY_MCP_REFRESH_SECONDS * 1_000,
    ...common,
  });
  if (knowsCluster(config, process.env)) role.background('tool lists', toolLists.run(stopping));
  const mediaServer = mediaServerOf(config);
  const rooms = mediaServer && createRooms(mediaServer);
  const lifecycle = new CallLifecycle({ calls: store.calls.calls, clock });
  const limits = { ...OVERDUE_LIMITS, joinMs: config.PARLEY_CALL_JOIN_SECONDS * 1_000 };
  const sweeper = new StaleCallSweeper({ store: store.calls, lifecycle, rooms, limits, registry, ...common });
  role.background('stale-call sweeper', sweeper.run(stopping));
  const deletion = new CallDeletion({ store: store.calls, files: knowledge.storage });
  role.background('erasures', new PersonErasure({ erasures: store.calls.erasures, deletion, clock, logger }).run(stopping));
  if (rooms !== undefined) {
    const redispatcher = new AgentRedispatcher({ store: store.calls, rooms, ...common });
    role.background('agent redispatcher', redispatcher.run(stopping));
  }
}

/** Gives the worker and its parsers a tenth of the processor time of a role in which somebody waits for an answer. */
const NICE = 10;
const THREADS = '/proc/self/task';

/**
 * Lets requests, searches and calls go first where roles share cores. A heap that grows by a third of its live size, instead of doubling,
 * is collected more often and stays small. Only for a process that is a worker and nothing else.
 */
export function yieldToOthers(): void {
  // On Linux each thread has a priority of its own, which those that it starts inherit.
  const threads = existsSync(THREADS) ? readdirSync(THREADS).map(Number) : [0];
  for (const thread of threads) setPriority(thread, NICE);
  setFlagsFromString('--heap-growing-percent=30');
}

/** Starts ingestions that were never started and, now and then, deletes files and vectors that no document owns. */
function keepSweeping(store: Store, knowledge: Knowledge, { clock, logger, stopping: signal }: RoleContext): Promise<void> {
  let round = 0;
  const failure = 'sweep for lost work failed; retrying in the next round';
  return every({ intervalMs: SWEEP_MS, random: Math.random, clock, logger, failure, signal }, async () => {
    round += 1;
    for (let after = ''; ;) {
      const names = (await store.organizations.list({ after, limit: 1_000 })).map(({ name }) => name);
      await sweep(names, knowledge, { orphans: round % ORPHANS_EVERY === 0, signal });
      if (names.length < 1_000) return;
      after = names.at(-1) ?? after;
    }
  });
}
