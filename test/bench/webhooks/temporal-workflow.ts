/** A delivery as a workflow of its own: what the dispatcher is compared with. */
import { proxyActivities } from '@temporalio/workflow';

import type { postWebhook } from './temporal-worker.ts';

export interface DeliverInput {
  readonly url: string;
  readonly id: string;
  readonly body: string;
}

const { postWebhook: post } = proxyActivities<{ postWebhook: typeof postWebhook }>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '10 seconds', maximumAttempts: 4 },
});

export async function deliverWebhook(input: DeliverInput): Promise<void> {
  await post(input);
}
