/** The connections of a job process, which its calls share: opened once, connected on first use. */
import { Registry } from 'prom-client';

import { PriceTable } from '../../calls/usage/price-table.ts';
import { CallMeters } from '../../calls/usage/call-meters.ts';
import { UsageMeter, type UsageAdded } from '../../calls/usage/usage-meter.ts';
import { CallLifecycle } from '../../calls/lifecycle.ts';
import { openSearch } from '../../knowledge/open-search.ts';
import type { Search } from '../../knowledge/search/search.ts';
import { openFileStorage } from '../../knowledge/storage/open-file-storage.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import { ConfigError, type Config } from '../../platform/config/config.ts';
import { egressOf } from '../../platform/egress/egress-of.ts';
import type { EgressGuard } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Measurement } from '../../platform/telemetry/gen-ai/model-requests.ts';
import { openStore, type CallRecord, type Store } from '../../store/index.ts';
import { keysFromRole } from '../job-processes/key-answers.ts';
import type { RoleClient } from '../job-processes/role-client.ts';
import { createProviderKeyReader, type ProviderKeyReader, type ProviderDefaults, type ProviderPart } from '../providers/index.ts';
import { RecordingEncoder, Recordings, spoolFolderOf } from '../recording/index.ts';
import { MeasurementReports } from './measurement-reports.ts';
import { createToolServices, type ToolServices } from '../tools/services.ts';
import { lazyTransport } from './lazy-transport.ts';

export interface Services {
  readonly config: Config;
  readonly store: Store;
  readonly lifecycle: CallLifecycle;
  readonly recordings: Recordings;
  /** Encoder of all recordings of the process. */
  readonly recordingEncoder: RecordingEncoder;
  readonly keys: ProviderKeyReader;
  readonly providerDefaults: ProviderDefaults;
  readonly onTakeover: (part: ProviderPart) => void;
  /** Called with each value that is taken out. @param kind as in the metric */
  readonly onRedaction: (kind: string) => void;
  /** Called with each request to a provider. */
  readonly measure: (measurement: Measurement) => void;
  readonly usageOf: (call: CallRecord) => CallMeters;
  readonly egress: EgressGuard;
  readonly search: Pick<Search, 'search'>;
  readonly tools: ToolServices;
  readonly clock: Clock;
  readonly logger: Logger;
  close(): Promise<void>;
}

/** Most connections to Postgres, for all calls: transcripts are written while other things are read. */
const POOL_SIZE = 4;

/** Opens the services. @throws ConfigError without a database */
export function openServices(config: Config, logger: Logger, role: RoleClient): Services {
  if (config.DATABASE_URL === undefined) throw new ConfigError('DATABASE_URL is not set: calls are in Postgres');
  const clock = systemClock;
  // Nobody reads this registry: a job process reports in its last log line instead.
  const registry = new Registry();
  const store = openStore({ databaseUrl: config.DATABASE_URL, poolSize: POOL_SIZE, applicationName: 'parley voice job', logger });
  const lifecycle = new CallLifecycle({ calls: store.calls.calls, clock });
  const storage = openFileStorage({ url: config.STORAGE_URL });
  const egress = egressOf(config, { logger });
  const searching = openSearch({ config, store, logger, registry });
  const tools = createToolServices({ config, clock });
  const cluster = lazyTransport(config, logger);
  const own = createProviderKeyReader({ transport: cluster, clock });
  const nothing = (): undefined => undefined;
  const measurements = new MeasurementReports({ send: (gathered) => role.ask('reportMeasurements', gathered).catch(nothing), clock });
  const prices = new PriceTable(config.PARLEY_PRICES);
  return {
    config,
    store,
    lifecycle,
    recordingEncoder: new RecordingEncoder(),
    recordings: new Recordings({ ...store.calls, storage, lifecycle, clock, logger, spool: spoolFolderOf(config) }),
    keys: keysFromRole(role, own),
    providerDefaults: config.PARLEY_PROVIDERS,
    onTakeover: (part) => void role.ask('reportTakeover', part).catch(nothing),
    onRedaction: (kind) => void role.ask('reportRedaction', kind).catch(nothing),
    measure: (measurement) => measurements.add(measurement),
    usageOf: ({ org }) =>
      new CallMeters({
        create: (agent) => {
          const onUsage = (added: readonly UsageAdded[]) => void role.ask('reportUsage', { org, agent, added }).catch(nothing);
          return new UsageMeter({ prices, clock, onUsage });
        },
        countTokens: (texts) => role.ask('countTokens', texts),
      }),
    egress,
    search: searching.search,
    tools,
    clock,
    logger,
    async close() {
      await measurements.flush();
      egress.close();
      tools.close();
      await Promise.allSettled([searching.close(), cluster.close()]);
      storage.close();
      await store.close();
    },
  };
}
