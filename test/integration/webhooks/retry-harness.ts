/** Runs workers next to dispatchers, for retries. */
import { randomBytes } from 'node:crypto';

import { onTestFinished } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { spawnRole, type RoleProcess } from '../../support/role-process.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { startWorkerRole } from '../workflows/support.ts';
import { dispatchHarness, type DispatchHarness } from './dispatch-harness.ts';

export interface AttemptRow {
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly started_at: number;
  readonly duration_ms: number;
  readonly succeeded: boolean;
  readonly reason: string;
  readonly status_code: number | null;
}

export interface RetryHarness extends DispatchHarness {
  /** Starts a worker in this process; by default resolves once it is ready. */
  worker(options?: { readonly ready?: boolean }): Promise<{ stop(): Promise<void> }>;
  /** Starts a worker that can be killed. */
  workerProcess(env?: Readonly<Record<string, string>>): RoleProcess;
  /** Returns the attempts of all deliveries of a subscription, by delivery and number. */
  attempts(uid: string): Promise<AttemptRow[]>;
}

/** Makes a harness with a task queue of its own on the shared Temporal, or on the one at `TEMPORAL_ADDRESS`. */
export async function retryHarness(more: Readonly<Record<string, string>> = {}): Promise<RetryHarness> {
  const harness = await dispatchHarness({
    TEMPORAL_ADDRESS: more['TEMPORAL_ADDRESS'] ?? (await temporalAddress()),
    TEMPORAL_TASK_QUEUE: `retries-${randomBytes(4).toString('hex')}`,
    PARLEY_WORKER_PORT: '0',
    STORAGE_URL: 'file:///tmp/parley-no-files',
    ...more,
  });
  return {
    ...harness,
    async worker({ ready = true } = {}) {
      const { port, stop } = await startWorkerRole(harness.env);
      onTestFinished(stop);
      await eventually(async () => {
        const { status } = await fetch(`http://127.0.0.1:${port}/readyz`);
        if (ready && status !== 200) throw new Error('the worker is not ready yet');
      });
      return { stop };
    },
    workerProcess: (own = {}) => spawnRole('worker', { ...harness.env, ...own }),
    attempts: (uid) =>
      harness.sql<AttemptRow>(
        `SELECT number, (extract(epoch FROM started_at) * 1000)::float8 AS started_at, duration_ms, succeeded, reason, status_code
         FROM parley.delivery_attempts WHERE subscription_uid = $1 ORDER BY delivery_id, number`,
        [uid],
      ),
  };
}

/** Returns the milliseconds between the end of each attempt and the beginning of the next one. */
export function waits(attempts: readonly AttemptRow[]): readonly number[] {
  return attempts.slice(1).map(({ started_at: startedAt }, index) => {
    const before = attempts[index]!;
    return startedAt - before.started_at - before.duration_ms;
  });
}
