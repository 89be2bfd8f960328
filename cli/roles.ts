import type { Registry } from 'prom-client';

import type { Config } from '../platform/config.ts';
import { loadConfig } from '../platform/config.ts';
import { createLogger, type Logger } from '../platform/logging.ts';
import { createRegistry } from '../platform/metrics.ts';
import { openTracing } from '../platform/telemetry/open-tracing.ts';
import { version } from './version.ts';

/** What every role gets from the command line. */
export interface RoleOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** A role that has stopped should leave no open handle behind; if one is left, the process goes all the same. */
const LEAVE_AFTER_MS = 3_000;

/** Reads the configuration, runs one role to its end, and makes sure that its last log lines are written. */
export async function runRole(
  role: 'api' | 'operator' | 'worker' | 'dispatcher' | 'voice',
  run: (options: RoleOptions) => Promise<void>,
): Promise<void> {
  const config = loadConfig(process.env);
  const logger = createLogger({ role, level: config.PARLEY_LOG_LEVEL });
  const registry = createRegistry({ role, version });
  process.once('uncaughtException', (err) => {
    logger.fatal({ err }, 'stopped by an error that nobody expected');
    logger.flush(() => process.exit(70));
  });
  logger.info({ version, node: process.version, pid: process.pid }, 'starting');
  const tracing = await openTracing({ env: process.env, role, version, logger });
  try {
    await run({ config, logger, registry });
  } finally {
    await tracing.close();
    await new Promise<void>((resolve) => logger.flush(() => resolve()));
    setTimeout(() => process.exit(), LEAVE_AFTER_MS).unref();
  }
}
