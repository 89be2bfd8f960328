/**
 * Retries one delivery by one activity, which Temporal tries again after the delay that the activity gives. The row in Postgres decides
 * everything else (how often, when, whether at all), so that a series survives this workflow and may be handed to another one.
 */
import { proxyActivities } from '@temporalio/workflow';

import type { DeliveryJob } from '../../webhooks/temporal-retries/names.ts';
import type { DeliveryActivities } from './types.ts';

const { deliver } = proxyActivities<DeliveryActivities>({
  // An attempt takes 30 s at most, and short waits come on top.
  startToCloseTimeout: '2 minutes',
  // The activity sends heartbeats, so that a worker which dies in it is noticed soon.
  heartbeatTimeout: '10 seconds',
  // This is for failures that the endpoint has no part in, such as an unavailable database.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** @returns the state that it left the delivery in */
export async function deliverWithRetries(job: DeliveryJob): Promise<string> {
  return deliver(job);
}
