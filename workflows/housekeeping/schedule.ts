import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client, type ScheduleOptions } from '@temporalio/client';

const HOUSEKEEPING_SCHEDULE = 'parley-housekeeping';

/** Daily, in the night of UTC, at a random minute of an hour, so that installations that share a server don't all come at once. */
function scheduleOptions(scheduleId: string, taskQueue: string) {
  return {
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
}

/** Makes the schedule or brings it to this version's wishes. Idempotent; a schedule that somebody paused stays paused. */
export async function ensureHousekeepingSchedule(
  client: Client,
  options: { readonly taskQueue: string; readonly scheduleId?: string | undefined },
): Promise<void> {
  const wanted = scheduleOptions(options.scheduleId ?? HOUSEKEEPING_SCHEDULE, options.taskQueue);
  try {
    await client.schedule.create(wanted);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule.getHandle(wanted.scheduleId).update((previous) => ({
      spec: wanted.spec,
      policies: wanted.policies,
      action: wanted.action,
      state: previous.state,
    }));
  }
}
