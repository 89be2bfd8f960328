import { randomBytes } from 'node:crypto';

import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { Client } from '@temporalio/client';

import { createLogger, type Logger } from '../../../platform/logging.ts';
import { bundleWorkflows } from '../../../workflows/bundle.ts';
import type { HousekeepingActivities } from '../../../workflows/housekeeping/types.ts';
import { runWorker } from '../../../workflows/main.ts';
import { installRuntime } from '../../../workflows/runtime.ts';
import { startRole, type RunningRole } from '../../support/running-role.ts';

installRuntime(createLogger({ role: 'test', level: 'error' }));

export const unique = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`;

/** The workflows are bundled once for each process of tests, because webpack needs some seconds. */
let bundle: ReturnType<typeof bundleWorkflows> | undefined;
export const sharedBundle = (): ReturnType<typeof bundleWorkflows> => (bundle ??= bundleWorkflows());

/** Starts a worker in this process, with a schedule of its own. */
export async function startWorkerRole(env: Readonly<Record<string, string>>, logger?: Logger): Promise<RunningRole> {
  const own = { scheduleId: unique('schedule'), bundle: await sharedBundle() };
  return startRole('worker', (options) => runWorker({ ...options, ...own }), env, logger);
}

/** Runs `use` while a worker with these activities takes the work of a task queue of its own. */
export async function whileWorking<T>(
  options: { readonly address: string; readonly activities: object; readonly worker?: Partial<WorkerOptions> },
  use: (client: Client, taskQueue: string) => Promise<T>,
): Promise<T> {
  const taskQueue = unique('test');
  const connection = await NativeConnection.connect({ address: options.address });
  try {
    const worker = await Worker.create({
      connection,
      taskQueue,
      workflowBundle: await sharedBundle(),
      activities: { ...options.activities },
      ...options.worker,
    });
    return await worker.runUntil(use(new Client({ connection }), taskQueue));
  } finally {
    await connection.close();
  }
}

/** Plays activities over `count` organisations with a row of each kind to delete; those named in `failing` never succeed. */
export function pretendedActivities(
  count: number,
  failing: readonly string[] = [],
): HousekeepingActivities & { readonly tidied: string[] } {
  const names = Array.from({ length: count }, (_, index) => `org-${String(index).padStart(5, '0')}`);
  const tidied: string[] = [];
  return {
    tidied,
    tidyEvents: async () => undefined,
    async organizationsAfter({ after, limit }) {
      return names.filter((name) => name > after).slice(0, limit);
    },
    async tidyOrganization(organization) {
      if (failing.includes(organization)) throw ApplicationFailure.nonRetryable(`${organization} is broken`, 'Broken');
      tidied.push(organization);
      return { revisions: 2, apiKeys: 1 };
    },
  };
}
