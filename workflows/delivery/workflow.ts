/**
 * The retries of one delivery: one activity, which Temporal tries again after as long as the activity says. Everything else (how often,
 * when, whether at all) is decided by the row in Postgres, so that a series survives this workflow and may be handed to another one.
 */
import { proxyActivities } from '@temporalio/workflow';

import type { DeliveryJob } from '../../webhooks/temporal-retries/names.ts';
import type { DeliveryActivities } from './types.ts';

const { deliver } = proxyActivities<DeliveryActivities>({
  // An attempt takes 30 s at most, and short waits come on top.
  startToCloseTimeout: '2 minutes',
  // Says every few seconds that it is alive, so that a worker which dies in it is noticed soon.
  heartbeatTimeout: '10 seconds',
  // For what has nothing to do with the endpoint, such as a database that is unavailable.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** @returns the state that it left the delivery in */
export async function deliverWithRetries(job: DeliveryJob): Promise<string> {
  return deliver(job);
}
