import { DefaultLogger, IllegalStateError, Runtime, type LogLevel } from '@temporalio/worker';

import type { Logger } from '../platform/logging.ts';

const severities = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const satisfies Record<
  LogLevel,
  string
>;

/**
 * Installs Temporal's native part, which exists once per process: it gets our logger, and no signal handlers, because the role stops in its
 * own order. Once installed it can't be changed; a second worker in the process (tests) shares it.
 */
export function installRuntime(logger: Logger): void {
  try {
    Runtime.install({
      shutdownSignals: [],
      logger: new DefaultLogger('TRACE', ({ level, message, meta }) => logger[severities[level]]({ temporal: meta }, message)),
      telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
