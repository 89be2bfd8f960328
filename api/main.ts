/** The role `api`: the REST facade as a process. */
import type { AddressInfo } from 'node:net';

import type { Registry } from 'prom-client';

import { createAddressChecks } from '../voice/calls/address-checks.ts';
import { mediaServerOf } from '../voice/calls/media-server.ts';
import { prepareJsonSchemas } from '../crds/json-schema.ts';
import { openKnowledge } from '../knowledge/open-knowledge.ts';
import { createTransport, kubeConfigOf } from '../kube/index.ts';
import { systemClock } from '../platform/clock.ts';
import { ConfigError, type Config } from '../platform/config.ts';
import { Readiness, runUntilStopped } from '../platform/lifecycle.ts';
import type { Logger } from '../platform/logging.ts';
import { openStore, watchHealth } from '../store/index.ts';
import { buildApi } from './app.ts';
import { connectionDrain } from './http/drain-connections.ts';
import { limitsOf } from './limits/limit-class.ts';
import { SigningKeys } from './signing/signing-keys.ts';

export interface RunApiOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Stops the role, as SIGTERM does. */
  readonly signal?: AbortSignal;
}

/** How long a request waits for the database, in milliseconds: the client behind it would rather have an answer. */
export const databasePatience = { statementTimeoutMs: 3_000, connectTimeoutMs: 2_000, retryForMs: 1_000 } as const;

/**
 * Serves until SIGTERM or until the signal aborts.
 * @throws ConfigError without DATABASE_URL
 */
export async function runApi({ config, logger, registry, signal }: RunApiOptions): Promise<void> {
  if (config.DATABASE_URL === undefined)
    throw new ConfigError('the api role needs DATABASE_URL: the address of Postgres, postgres://user:password@host:port/database');
  const mediaServer = mediaServerOf(config);
  const readiness = new Readiness();
  const clock = systemClock;
  const store = openStore({
    databaseUrl: config.DATABASE_URL,
    poolSize: config.PARLEY_DATABASE_POOL,
    ...databasePatience,
    applicationName: 'parley-api',
    logger,
    registry,
  });
  const transport = createTransport({ kubeConfig: kubeConfigOf(config), registry, logger });
  const knowledge = openKnowledge({ config, store, logger, registry });
  const { search, jobs, storage: files } = knowledge;
  const app = buildApi({
    store,
    transport,
    logger,
    registry,
    readiness,
    metricsToken: config.PARLEY_METRICS_TOKEN,
    clock,
    random: Math.random,
    signing: new SigningKeys({ given: config.PARLEY_SIGNING_SECRETS, stored: () => store.signingSecret() }),
    limits: limitsOf(config),
    namespace: config.PARLEY_NAMESPACE,
    knowledge: { files, jobs, search, profiles: config.PARLEY_EMBEDDING_PROFILES },
    addresses: createAddressChecks(config),
    calls: {
      mediaServer,
      recordings: files,
      publicUrl: config.PARLEY_PUBLIC_URL,
      page: config.PARLEY_CALL_PAGE,
    },
  });

  const watching = new AbortController();
  readiness.notReady('postgres', 'not asked yet');
  const health = watchHealth({ check: () => store.health(), readiness, clock, logger }, watching.signal);
  const connections = connectionDrain(app, { clock });
  // Others take over from a pod that goes; whoever presses Ctrl-C has nobody behind the connections.
  let drain = async (): Promise<void> => undefined;
  process.once('SIGTERM', () => (drain = () => connections.drain()));
  prepareJsonSchemas();
  await app.listen({ host: config.PARLEY_HOST, port: config.PARLEY_API_PORT });
  const { port } = app.server.address() as AddressInfo;
  logger.info({ host: config.PARLEY_HOST, port }, 'listening');
  if (config.PARLEY_PUBLIC_URL === undefined && mediaServer !== undefined)
    logger.warn('PARLEY_PUBLIC_URL is not set: only this machine can open the addresses of recordings');

  await runUntilStopped({
    logger,
    readiness,
    timeoutMs: config.PARLEY_SHUTDOWN_TIMEOUT_MS,
    ...(signal && { signal }),
    steps: [
      { name: 'store', stop: () => store.close() },
      { name: 'knowledge', stop: () => knowledge.close() },
      { name: 'kubernetes', stop: () => transport.close() },
      {
        name: 'health',
        stop: async () => {
          watching.abort();
          await health;
        },
      },
      { name: 'server', stop: () => app.close() },
      { name: 'connections', stop: () => drain() },
    ],
  });
}
