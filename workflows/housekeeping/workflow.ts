/**
 * Runs once a day: drops old tables of events, then removes superseded agent revisions and long-dead API keys of each organisation.
 * This file runs in Temporal's sandbox and is replayed from history: no clock, no random, no I/O. A change that would alter the order of
 * its steps needs `patched()`; the recorded histories in test/integration/workflows/histories check that.
 */
import { ActivityFailure, ApplicationFailure, continueAsNew, log, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { HousekeepingActivities, HousekeepingState, Totals } from './types.ts';

const quick = proxyActivities<Pick<HousekeepingActivities, 'organizationsAfter'>>({
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '6 hours',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '5 minutes' },
});

const tables = proxyActivities<Pick<HousekeepingActivities, 'tidyEvents'>>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '10 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes', maximumAttempts: 5 },
});

const bulky = proxyActivities<Pick<HousekeepingActivities, 'tidyOrganization'>>({
  startToCloseTimeout: '30 minutes',
  scheduleToCloseTimeout: '6 hours',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '5 minutes', maximumAttempts: 10 },
});

/** Organisations that are tidied side by side. */
const AT_ONCE = 10;
const PAGE = 50;
/** Bounds a history far below Temporal's limit of 51,200 events. */
const PAGES_PER_RUN = 10;
const FAILED_NAMES = 100;

const nothing: Totals = { organizations: 0, revisions: 0, apiKeys: 0 };

/** @throws ApplicationFailure `OrganizationsNotTidied` at the end when some organisation failed for good; the others are done by then */
export async function housekeeping(begin: HousekeepingState = { after: '', totals: nothing, failed: [] }): Promise<Totals> {
  let state = begin;
  if (begin.after === '') await tidyEvents();
  for (let page = 0; page < PAGES_PER_RUN && !workflowInfo().continueAsNewSuggested; page += 1) {
    const names = await quick.organizationsAfter({ after: state.after, limit: PAGE });
    for (let first = 0; first < names.length; first += AT_ONCE) state = await tidy(state, names.slice(first, first + AT_ONCE));
    if (names.length < PAGE) return finish(state);
  }
  return continueAsNew<typeof housekeeping>(state);
}

/** Swallows failures: dispatchers maintain these tables too, every hour. */
async function tidyEvents(): Promise<void> {
  try {
    await tables.tidyEvents();
  } catch (error) {
    if (!(error instanceof ActivityFailure) || !(error.cause instanceof ApplicationFailure)) throw error;
    log.warn('tables of events were not tidied');
  }
}

async function tidy(state: HousekeepingState, names: readonly string[]): Promise<HousekeepingState> {
  const results = await Promise.allSettled(names.map((name) => bulky.tidyOrganization(name)));
  const totals = { ...state.totals };
  const failed = [...state.failed];
  results.forEach((result, index) => {
    const name = names[index] ?? '';
    if (result.status === 'fulfilled') {
      totals.organizations += 1;
      totals.revisions += result.value.revisions;
      totals.apiKeys += result.value.apiKeys;
      return;
    }
    // A cancelled workflow stops; only an activity that gave up is one organisation's own trouble.
    if (!(result.reason instanceof ActivityFailure) || !(result.reason.cause instanceof ApplicationFailure)) throw result.reason;
    log.warn('an organisation was not tidied', { organization: name });
    if (failed.length < FAILED_NAMES) failed.push(name);
  });
  return { after: names.at(-1) ?? state.after, totals, failed };
}

function finish({ totals, failed }: HousekeepingState): Totals {
  if (failed.length === 0) return totals;
  throw ApplicationFailure.create({
    message: `${failed.length} organisations were not tidied, the first is ${failed[0]}; they are tried again with the next run`,
    type: 'OrganizationsNotTidied',
    nonRetryable: true,
    details: [{ ...totals, failed }],
  });
}
