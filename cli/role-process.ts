import { loadConfig } from '../platform/config/config.ts';
import { createLogger } from '../platform/logging.ts';
import { createRegistry } from '../platform/metrics.ts';
import type { RoleOptions } from '../platform/role.ts';
import { openTracing } from '../platform/telemetry/open-tracing.ts';
import { version } from '../platform/version.ts';

/** A stopped role should leave no open handle; if it leaves one, the process exits after this time all the same. */
const EXIT_AFTER_MS = 3_000;

/** Runs one role to its end with the configuration of the environment, and writes its last spans and log lines. */
export async function runRoleProcess(role: string, run: (options: RoleOptions) => Promise<void>): Promise<void> {
  const config = loadConfig(process.env);
  const logger = createLogger({ role, level: config.PARLEY_LOG_LEVEL });
  const registry = createRegistry({ role, version });
  process.once('uncaughtException', (err) => {
    logger.fatal({ err }, 'unexpected error; exiting');
    logger.flush(() => process.exit(70));
  });
  logger.info({ version, node: process.version, pid: process.pid }, 'starting');
  const tracing = await openTracing({ env: process.env, role, version, logger });
  try {
    await run({ config, logger, registry });
  } finally {
    await tracing.close();
    await new Promise<void>((resolve) => logger.flush(() => resolve()));
    setTimeout(() => process.exit(), EXIT_AFTER_MS).unref();
  }
}
