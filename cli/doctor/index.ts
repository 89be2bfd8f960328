/** Runs the checks of `parley doctor`. */
import { randomUUID } from 'node:crypto';

import { awakeClock, withTimeout } from '../../platform/clock.ts';
import { ConfigError, loadConfig, type Config } from '../../platform/config/config.ts';
import { temporalOf } from '../../platform/temporal/access.ts';
import type { CheckId } from './checks.ts';
import { checkOwnCluster } from './cluster.ts';
import { checkClocks } from './clocks.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { Audience } from './permissions.ts';
import { checkPostgres, type ClockReading } from './postgres.ts';
import { checkFileStorage, checkMediaServer, checkPublicUrl, checkNameServers, checkTemporal, checkVectorStore } from './services.ts';

export { describeFinding, type Finding } from './finding.ts';
export type { Audience } from './permissions.ts';

/** Longest time for one check of a server, in milliseconds. */
const LONGEST = 45_000;

export interface DoctorOptions {
  /** Environment of a role: `KUBECONFIG`, `DATABASE_URL` and the others. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The audience whose permissions the kubeconfig should have; `installer` by default. */
  readonly audience?: Audience;
  /** Namespaces of organisations that are looked into; by default those that this user can list, at most 20. */
  readonly organizations?: readonly string[] | undefined;
  /**
   * True to look at this machine, and its working directory, as the home of a local stack, and at no installation; by default where the
   * environment names no cluster.
   */
  readonly machine?: boolean;
}

/** Yields each finding as soon as it is made. Never throws for what is wrong with the installation: that is a finding. */
export async function* runDoctor(options: DoctorOptions): AsyncGenerator<Finding> {
  const { env, audience = 'installer' } = options;
  // A pod has its service account instead of a file.
  if (options.machine ?? (isEmpty(env['KUBECONFIG']) && isEmpty(env['KUBERNETES_SERVICE_HOST']))) {
    const { checkMachine } = await import('./machine.ts');
    yield* checkMachine({ env: { ...env }, folder: process.cwd() });
    return;
  }
  const configuration = findingsOf('configuration');
  let config: Config;
  try {
    config = loadConfig(env);
    yield configuration.ok('every variable of this environment can be read');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    yield configuration.fail(
      error.message
        .split('\n')
        .slice(1, -1)
        .map((line) => line.trim())
        .join('; '),
      'parley config shows what is allowed',
    );
    return;
  }
  const readings: ClockReading[] = [];
  const onClock = (reading: ClockReading): void => void readings.push(reading);
  yield* checkOwnCluster({
    audience,
    namespace: config.PARLEY_NAMESPACE,
    organizations: options.organizations,
    leaseNamespace: config.PARLEY_LEASE_NAMESPACE,
    onClock,
  });
  yield* checkPostgres({ databaseUrl: config.DATABASE_URL, poolSize: config.PARLEY_DATABASE_POOL, onClock });
  yield* checkTemporal(temporalOf(config));
  yield await inTime('media-server', checkMediaServer(config));
  yield checkPublicUrl(config);
  const storage = checkFileStorage(config.STORAGE_URL, { isSet: !isEmpty(env['STORAGE_URL']), id: randomUUID() });
  yield await inTime('file-storage', storage);
  yield await inTime('vector-store', checkVectorStore(config.VECTOR_STORE_URL));
  yield await inTime('name-servers', checkNameServers(config.PARLEY_EGRESS_DNS_SERVERS));
  yield checkClocks(readings);
}

const isEmpty = (value: string | undefined): boolean => value === undefined || value === '';

/** Limits each check: a server that never answers does not hold up the others. */
async function inTime(check: CheckId, finding: Promise<Finding>): Promise<Finding> {
  const cure = 'it can be reached and does not answer: look at its own log, and at what stands between';
  return (await withTimeout(awakeClock, LONGEST, finding)) ?? findingsOf(check).fail(`no answer within ${LONGEST / 1_000} s`, cure);
}
