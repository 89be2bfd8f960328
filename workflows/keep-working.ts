/** Keeps Temporal workers running: connects, works, and begins again after anything but a requested stop. */
import { Client } from '@temporalio/client';
import { NativeConnection, type Worker, type WorkerOptions } from '@temporalio/worker';

import { backoffDelay } from '../platform/backoff.ts';
import { sleep, type Clock } from '../platform/clock.ts';
import { errorMessageOf } from '../platform/caught.ts';
import { every } from '../platform/every.ts';
import type { Readiness } from '../platform/lifecycle.ts';
import type { Logger } from '../platform/logging.ts';
import { tracedActivities } from '../platform/temporal/trace.ts';
import type { Temporal } from '../platform/temporal/access.ts';
import { workerOnOneThread } from './one-thread-worker.ts';

export interface KeepWorkingOptions extends Temporal {
  /** Options of the worker of each task queue; the workers share the connection. */
  readonly workers: readonly Omit<WorkerOptions, 'connection' | 'namespace'>[];
  /** Runs after each connect, e.g. to make schedules; a failure counts as one of the connection. */
  readonly prepare: (client: Client) => Promise<void>;
  readonly readiness: Readiness;
  readonly logger: Logger;
  readonly clock: Clock;
}

const PART = 'temporal';
const RETRY = { baseMs: 500, maxMs: 15_000, random: Math.random };
/** Milliseconds between two checks of the connection. */
const CHECK_EVERY_MS = 5_000;
/** Milliseconds after which a worker counts as healthy: its end then starts a new backoff. */
const SETTLED_MS = 60_000;

/** Works until `signal` aborts, then drains: running work is finished or handed back. Never rejects because Temporal is down. */
export async function keepWorking(options: KeepWorkingOptions, signal: AbortSignal): Promise<void> {
  const { readiness, logger, clock } = options;
  readiness.notReady(PART, `not yet connected to ${options.address}`);
  let failures = 0;
  while (!signal.aborted) {
    const startedAt = clock.monotonic();
    try {
      await workOnce(options, signal);
    } catch (err) {
      if (clock.monotonic() - startedAt > SETTLED_MS) failures = 0;
      failures += 1;
      const waitMs = backoffDelay(failures, RETRY);
      readiness.notReady(PART, `${options.address}, namespace ${options.namespace}: ${errorMessageOf(err)}`);
      logger.warn({ err, waitMs, address: options.address }, 'failed to work for Temporal; trying again');
      await sleep(clock, waitMs, signal).catch(() => undefined);
    }
  }
}

async function workOnce(options: KeepWorkingOptions, signal: AbortSignal): Promise<void> {
  const { namespace, readiness, logger } = options;
  const connection = await NativeConnection.connect({ address: options.address, ...options.access });
  try {
    if (signal.aborted) return;
    await options.prepare(new Client({ connection, namespace }));
    const workers: Worker[] = [];
    const OneThreadWorker = workerOnOneThread(new Map(options.workers.flatMap(({ activities = {} }) => Object.entries(activities))));
    for (const worker of options.workers)
      workers.push(await OneThreadWorker.create({ interceptors: { activity: [tracedActivities] }, ...worker, connection, namespace }));
    const stop = (): void => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    };
    const ended = new AbortController();
    // A worker that ends by itself takes the others with it: all of them start again.
    const running = Promise.all(workers.map((worker) => worker.run().finally(stop))).finally(() => ended.abort());
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) stop();
      readiness.ready(PART);
      logger.info({ address: options.address, namespace, taskQueues: options.workers.map(({ taskQueue }) => taskQueue) }, 'working');
      await Promise.all([running, watchConnection(options, connection, ended.signal)]);
    } finally {
      signal.removeEventListener('abort', stop);
      // The connection can be closed only when its workers have stopped.
      await Promise.allSettled([running]);
    }
  } finally {
    await connection.close();
  }
}

/** Checks the server for readiness: the worker itself polls on through an outage without a word. */
async function watchConnection(options: KeepWorkingOptions, connection: NativeConnection, ended: AbortSignal): Promise<void> {
  const { clock, readiness, logger, namespace } = options;
  await every({ intervalMs: CHECK_EVERY_MS, clock, logger, failure: 'Temporal does not answer', signal: ended }, async () => {
    try {
      await connection.withDeadline(Date.now() + 5_000, () => connection.workflowService.describeNamespace({ namespace }));
      if (!ended.aborted) readiness.ready(PART);
    } catch (error) {
      if (!ended.aborted) readiness.notReady(PART, `${options.address} does not answer`);
      throw error;
    }
  });
}
