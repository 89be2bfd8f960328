/** Runs every role: readiness, probes, signals, failures and an orderly stop. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { hostname } from 'node:os';

import type { Registry } from 'prom-client';

import { awakeClock, systemClock, withTimeout, type Clock } from './clock.ts';
import { ConfigError, type Config } from './config/config.ts';
import { Readiness, startProbeServer } from './lifecycle.ts';
import type { Logger } from './logging.ts';

export interface RoleOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Stops the role, as SIGTERM does. */
  readonly signal?: AbortSignal;
  /** Called with the port of the probes once they answer. */
  readonly onListening?: (port: number) => void;
}

export type StopReason = 'SIGTERM' | 'SIGINT' | 'aborted' | 'failed';

export interface RoleContext extends Pick<RoleOptions, 'config' | 'logger' | 'registry'> {
  readonly databaseUrl: string;
  readonly clock: Clock;
  /** Not ready until the role clears its reasons; `/readyz` shows them. */
  readonly readiness: Readiness;
  /** Name of this process in leases, events and Temporal. */
  readonly identity: string;
  /** Aborts before the first step of the stop. */
  readonly stopping: AbortSignal;
  /** Adds a step to the stop, which runs the last one added first. */
  readonly onStop: (name: string, stop: (reason: StopReason) => unknown) => void;
  /** Awaits `task` at this place of the stop. When it fails earlier, the whole role stops and fails with its error. */
  readonly background: (name: string, task: Promise<unknown>) => void;
  /** Serves `/healthz`, `/readyz` and `/metrics` to the end of the stop. `fields` go to the log line. */
  readonly serveProbes: (port: number, fields?: object) => Promise<void>;
}

interface Role {
  readonly name: string;
  /** Use of Postgres, for the error without DATABASE_URL: `stores agent revisions in Postgres`. */
  readonly database: string;
  /** Most milliseconds that the stop may take; PARLEY_SHUTDOWN_TIMEOUT_MS by default. */
  readonly stopTimeoutMs?: number;
  readonly start: (context: RoleContext) => Promise<void>;
}

/**
 * Starts a role, waits for SIGTERM, SIGINT, `signal` or a failure, then runs the steps of the stop one after another. A step that fails is
 * logged and does not keep the others from running. A role that fails to start is stopped in the same way.
 *
 * @throws ConfigError without DATABASE_URL; the error of the start or of a background task
 */
export async function runRole(options: RoleOptions, role: Role): Promise<void> {
  const { config, logger, registry } = options;
  const databaseUrl = config.DATABASE_URL;
  if (databaseUrl === undefined) {
    throw new ConfigError(
      `DATABASE_URL is not set: the ${role.name} role ${role.database}. Set it to postgres://user:password@host:port/database`,
    );
  }
  const readiness = new Readiness();
  const stopping = new AbortController();
  const failed = new AbortController();
  const ended = new AbortController();
  const steps: { readonly name: string; readonly stop: (reason: StopReason) => unknown }[] = [];
  const context: RoleContext = {
    config,
    logger,
    registry,
    databaseUrl,
    clock: systemClock,
    readiness,
    identity: config.PARLEY_IDENTITY ?? `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`,
    stopping: stopping.signal,
    onStop: (name, stop) => void steps.push({ name, stop }),
    background(name, task) {
      task.catch((err: unknown) => {
        if (stopping.signal.aborted) return;
        logger.fatal({ err, task: name }, 'a background task failed; stopping the role');
        failed.abort(err);
      });
      steps.push({ name, stop: () => (failed.signal.aborted ? task.catch(() => undefined) : task) });
    },
    async serveProbes(port, fields) {
      const metricsToken = config.PARLEY_METRICS_TOKEN;
      const probes = await startProbeServer({ host: config.PARLEY_HOST, port, readiness, registry, metricsToken });
      steps.unshift({ name: 'probes', stop: () => probes.close() });
      logger.info({ port: probes.port, ...fields }, 'probes and metrics are served');
      options.onListening?.(probes.port);
    },
  };

  let reason: StopReason = 'failed';
  try {
    await role.start(context);
    reason = await stopReason(failed.signal, ended.signal, options.signal);
  } finally {
    logger.info({ why: reason }, 'stopping');
    readiness.notReady('process', 'stopping');
    stopping.abort(new Error(`the ${role.name} role stops`));
    const timeoutMs = role.stopTimeoutMs ?? config.PARLEY_SHUTDOWN_TIMEOUT_MS;
    const stopped = (async () => {
      for (const { name, stop } of steps.reverse()) {
        try {
          await stop(reason);
        } catch (err) {
          logger.error({ err, step: name }, 'a step of the stop failed');
        }
      }
      return true;
    })();
    if ((await withTimeout(awakeClock, timeoutMs, stopped)) === undefined) logger.error({ timeoutMs }, 'the stop took too long; leaving');
    logger.info('stopped');
    ended.abort();
  }
  failed.signal.throwIfAborted();
}

/** Ends the process at once on a second signal of the same name, while the role stops. @param ended aborts when the role has stopped */
function stopReason(failed: AbortSignal, ended: AbortSignal, aborted: AbortSignal = new AbortController().signal): Promise<StopReason> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const)
      once(process, name, { signal: ended }).then(
        () => resolve(name),
        () => undefined,
      );
    for (const [signal, reason] of [[failed, 'failed'] as const, [aborted, 'aborted'] as const]) {
      if (signal.aborted) resolve(reason);
      signal.addEventListener('abort', () => resolve(reason), { once: true });
    }
  });
}
