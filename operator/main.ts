/** The role `operator`: reconciles the six kinds. */
import { prepareJsonSchemas } from '../crds/json-schema.ts';
import { createTransport, EventRecorder, kubeConfigOf, LeaderElector, leases, ResourceClient, type Lease } from '../kube/index.ts';
import { JobStarter } from '../knowledge/jobs/job-starter.ts';
import { createKnowledgeJobs } from '../knowledge/jobs/jobs.ts';
import { runRole, type RoleContext, type RoleOptions } from '../platform/role.ts';
import { temporalOf } from '../platform/temporal/access.ts';
import { openStore } from '../store/index.ts';
import { createManager } from './create-manager.ts';
import { LEASE_NAME } from './lease-name.ts';
import type { Manager } from './runtime/manager.ts';
import { createMetrics } from './runtime/metrics.ts';
import { FIELD_MANAGER } from './runtime/namespace-informers.ts';

/**
 * Reconciles until SIGTERM, SIGINT or `signal`. The API server and Postgres may be unavailable at the start or later: the operator retries.
 * It is ready once its caches are filled, leading or not, so that a standby takes over at once.
 *
 * @throws ConfigError without DATABASE_URL or without a configured API server
 */
export function runOperator(options: RoleOptions): Promise<void> {
  return runRole(options, { name: 'operator', database: 'stores agent revisions in Postgres', start });
}

async function start(role: RoleContext): Promise<void> {
  const { config, databaseUrl, logger, registry, clock, readiness, identity, stopping } = role;
  readiness.notReady('caches', 'the first listing from the API server is not complete');
  const store = openStore({ databaseUrl, poolSize: config.PARLEY_DATABASE_POOL, applicationName: 'parley operator', logger, registry });
  role.onStop('store', () => store.close());
  const transport = createTransport({ kubeConfig: kubeConfigOf(config), registry, logger });
  role.onStop('transport', () => transport.close());
  const jobs = createKnowledgeJobs({ ...temporalOf(config), taskQueue: config.TEMPORAL_TASK_QUEUE, logger });
  role.onStop('temporal', () => jobs.close());
  const events = new EventRecorder({ transport, controller: 'parley.dev/operator', instance: identity, logger });
  const starter = new JobStarter({ jobs, logger });
  role.onStop('job starts', () => starter.close());
  const metrics = createMetrics(registry);
  const manager = createManager({
    config,
    transport,
    store,
    jobs: starter,
    events,
    metrics,
    clock,
    random: Math.random,
    logger,
    registry,
  });
  role.onStop('caches', () => manager.stop());
  role.onStop('events', () => events.flush());
  await role.serveProbes(config.PARLEY_OPERATOR_PORT, { identity, server: transport.server });

  prepareJsonSchemas();
  manager.start();
  role.background('caches', fillCaches(manager, role));
  const elector = new LeaderElector({
    client: new ResourceClient<Lease>({ transport, descriptor: leases, fieldManager: FIELD_MANAGER }),
    namespace: config.PARLEY_LEASE_NAMESPACE,
    name: LEASE_NAME,
    identity,
    logger,
  });
  const { leader } = metrics;
  leader.set({ name: LEASE_NAME }, 0);
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
  role.background('work', config.PARLEY_LEADER_ELECTION ? elector.run({ onStarted: lead, signal: stopping }) : lead(stopping));
}

async function fillCaches(manager: Manager, { readiness, logger, stopping }: RoleContext): Promise<void> {
  try {
    await manager.synced(stopping);
    readiness.ready('caches');
    logger.info('caches are filled');
  } catch (error) {
    // Stopped before the first listing was complete.
    if (!stopping.aborted) throw error;
  }
}
