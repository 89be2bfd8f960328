/** Runs the REST facade as the role `api`. */
import type { AddressInfo } from 'node:net';

import { createAddressChecks } from '../calls/address-checks.ts';
import { mediaServerOf } from '../calls/media-server.ts';
import { prepareJsonSchemas } from '../crds/json-schema.ts';
import { openKnowledge } from '../knowledge/open-knowledge.ts';
import { createTransport, kubeConfigOf, type Transport } from '../kube/index.ts';
import type { Clock } from '../platform/clock.ts';
import { runRole, type RoleContext, type RoleOptions } from '../platform/role.ts';
import { openStore, watchHealth } from '../store/index.ts';
import { buildApi } from './app.ts';
import type { ExplainObject } from './dependencies.ts';
import { connectionDrain } from './http/drain-connections.ts';
import { limitsOf } from './limits/limits-of.ts';
import { SigningKeys } from './signing/signing-keys.ts';

/** Longest waits for Postgres, in milliseconds: beyond them a request fails. */
export const DATABASE_TIMEOUTS = { statementTimeoutMs: 3_000, connectTimeoutMs: 2_000, retryForMs: 1_000 } as const;

/** Parts that the starter of the facade supplies, because no role imports another. */
export interface ApiParts {
  readonly explainerOf: (transport: Transport, leaseNamespace: string, clock: Clock) => ExplainObject;
}

/**
 * Serves the REST API until SIGTERM, SIGINT or `signal`.
 * @throws ConfigError without DATABASE_URL or with a media server that is configured in part
 */
export function runApi(options: RoleOptions, parts: ApiParts): Promise<void> {
  return runRole(options, {
    name: 'api',
    database: 'stores API keys, calls and deliveries in Postgres',
    start: (context) => start(context, parts),
  });
}

async function start(
  { config, databaseUrl, logger, registry, clock, readiness, ...role }: RoleContext,
  { explainerOf }: ApiParts,
): Promise<void> {
  const mediaServer = mediaServerOf(config);
  const store = openStore({
    databaseUrl,
    poolSize: config.PARLEY_DATABASE_POOL,
    ...DATABASE_TIMEOUTS,
    applicationName: 'parley-api',
    logger,
    registry,
  });
  role.onStop('store', () => store.close());
  const knowledge = openKnowledge({ config, store, logger, registry });
  role.onStop('knowledge', () => knowledge.close());
  const transport = createTransport({ kubeConfig: kubeConfigOf(config), registry, logger });
  role.onStop('kubernetes', () => transport.close());
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
    knowledge: { files, jobs, search, profiles: config.PARLEY_EMBEDDING_PROFILES, rerankProfiles: config.PARLEY_RERANK_PROFILES },
    addresses: createAddressChecks(config),
    calls: {
      mediaServer,
      unjoinedPercent: config.PARLEY_UNJOINED_CALLS_PERCENT,
      recordings: files,
      publicUrl: config.PARLEY_PUBLIC_URL,
      page: config.PARLEY_CALL_PAGE,
    },
    explain: explainerOf(transport, config.PARLEY_LEASE_NAMESPACE, clock),
    mcp: config.PARLEY_MCP,
  });

  readiness.notReady('postgres', 'not asked yet');
  role.background('health', watchHealth({ check: () => store.health(), readiness, clock, logger }, role.stopping));
  role.onStop('server', () => app.close());
  const connections = connectionDrain(app, { clock });
  // After SIGTERM other replicas take over from this one; after Ctrl-C no other replica serves the clients.
  role.onStop('connections', (reason) => (reason === 'SIGTERM' ? connections.drain() : undefined));
  prepareJsonSchemas();
  await app.listen({ host: config.PARLEY_HOST, port: config.PARLEY_API_PORT });
  const { port } = app.server.address() as AddressInfo;
  logger.info({ host: config.PARLEY_HOST, port }, 'listening');
  if (config.PARLEY_PUBLIC_URL === undefined && mediaServer !== undefined)
    logger.warn('PARLEY_PUBLIC_URL is not set: only this machine can open the addresses of recordings');
}
