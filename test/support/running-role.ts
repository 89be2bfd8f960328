import type { Registry } from 'prom-client';

import { loadConfig } from '../../platform/config/config.ts';
import { createLogger, type Logger } from '../../platform/logging.ts';
import { createRegistry } from '../../platform/metrics.ts';
import type { RoleName } from '../../platform/role-names.ts';
import type { RoleOptions } from '../../platform/role.ts';

export interface RunningRole {
  readonly registry: Registry;
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a role in this process; resolves when it listens, which may be before it is ready. @param logger by default of the level in `env`
 */
export async function startRole(
  role: RoleName,
  run: (options: RoleOptions) => Promise<void>,
  env: Readonly<Record<string, string>>,
  logger?: Logger,
): Promise<RunningRole> {
  const config = loadConfig(env);
  const registry = createRegistry({ role, version: 'test' });
  const stopping = new AbortController();
  const listening = Promise.withResolvers<number>();
  const ended = run({
    config,
    logger: logger ?? createLogger({ role, level: config.PARLEY_LOG_LEVEL }),
    registry,
    signal: stopping.signal,
    onListening: listening.resolve,
  });
  ended.catch(listening.reject);
  const stop = (): Promise<void> => {
    stopping.abort();
    return ended;
  };
  return { registry, port: await listening.promise, stop };
}
