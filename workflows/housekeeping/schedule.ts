import { createHash } from 'node:crypto';

import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client, type ScheduleOptions } from '@temporalio/client';

const HOUSEKEEPING_SCHEDULE = 'parley-housekeeping';

/** Key in the memo of the schedule's workflows: the hash of the options that the schedule was made with. */
const MADE_BY = 'madeBy';

/** Runs daily, in the night of UTC, at a random minute of an hour, so that installations that share a server don't all start at once. */
function scheduleOptions(scheduleId: string, taskQueue: string) {
  const options = {
    scheduleId,
    spec: { calendars: [{ hour: 3, comment: 'daily housekeeping' }], jitter: '1 hour' },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 day' },
    action: {
      type: 'startWorkflow',
      workflowType: 'housekeeping',
      workflowId: scheduleId,
      taskQueue,
      args: [],
      workflowExecutionTimeout: '20 hours',
    },
  } satisfies ScheduleOptions;
  const madeBy = createHash('sha256').update(JSON.stringify(options)).digest('hex');
  return { ...options, action: { ...options.action, memo: { [MADE_BY]: madeBy } } } satisfies ScheduleOptions;
}

/**
 * Makes the schedule or updates it to this version's options. Idempotent. A paused schedule stays paused: one that is up to date is not
 * written, because an update replaces the state as well, and Temporal's client can't make it depend on the state that was read.
 */
export async function ensureHousekeepingSchedule(
  client: Client,
  options: { readonly taskQueue: string; readonly scheduleId?: string | undefined },
): Promise<void> {
  const wanted = scheduleOptions(options.scheduleId ?? HOUSEKEEPING_SCHEDULE, options.taskQueue);
  try {
    await client.schedule.create(wanted);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const schedule = client.schedule.getHandle(wanted.scheduleId);
    const { action } = await schedule.describe();
    if (action.memo?.[MADE_BY] === wanted.action.memo[MADE_BY]) return;
    await schedule.update(({ state }) => ({ spec: wanted.spec, policies: wanted.policies, action: wanted.action, state }));
  }
}
