/** Starts a Temporal workflow for the retries of a delivery. */
import { WorkflowIdConflictPolicy } from '@temporalio/client';

import type { Logger } from '../../platform/logging.ts';
import type { Temporal } from '../../platform/temporal/access.ts';
import { WorkflowStarter } from '../../platform/temporal/workflow-starter.ts';
import {
  type DeliveryJob,
  DELIVERY_WORKFLOW,
  deliveryQueue,
  deliverySearchAttributes,
  deliveryWorkflowId,
  TIMER_LEAD_MS,
} from './names.ts';

export interface Retry {
  /** uuid */
  readonly deliveryId: string;
  readonly org: string;
  /** uuid */
  readonly eventId: string;
  readonly subscriptionUid: string;
  /** A workflow was started for it and shows no progress. Otherwise it has none: an earlier one is replaced. */
  readonly lost: boolean;
  /** Trace of the event, while it is kept. */
  readonly traceparent?: string | undefined;
  /** How long the first attempt of the workflow waits, in milliseconds. */
  readonly delayMs: number;
}

/** Starts the workflow that makes the remaining attempts of a delivery. */
export interface RetryStarter {
  /**
   * May be repeated: the row decides who may attempt, so that at worst a workflow starts again.
   *
   * @throws TemporalUnavailableError when Temporal does not answer in time: the row is kept, and a sweep starts it later
   */
  start(retry: Retry): Promise<void>;
  close(): Promise<void>;
}

export interface RetryStarterOptions extends Temporal {
  /** The installation's task queue, as the worker has it. */
  readonly taskQueue: string;
  readonly logger: Logger;
}

export function createRetryStarter({ taskQueue, ...options }: RetryStarterOptions): RetryStarter {
  const workflows = new WorkflowStarter({ ...options, searchAttributes: deliverySearchAttributes });
  return {
    start(retry) {
      const { deliveryId, org, subscriptionUid, delayMs } = retry;
      // A timer cannot keep so short a wait: the activity waits by itself.
      const startDelay = delayMs < 2 * TIMER_LEAD_MS ? 0 : Math.round(delayMs - TIMER_LEAD_MS);
      return workflows.start(DELIVERY_WORKFLOW, {
        workflowId: deliveryWorkflowId(retry),
        taskQueue: deliveryQueue(taskQueue),
        args: [{ deliveryId, subscriptionUid } satisfies DeliveryJob],
        workflowIdConflictPolicy: conflictPolicy(retry),
        staticSummary: `dlv_${deliveryId} of ${org}`,
        ...(startDelay > 0 && { startDelay }),
        attributes: { ParleyOrganization: org, ParleySubscription: subscriptionUid },
        fairnessKey: subscriptionUid,
      });
    },
    close: () => workflows.close(),
  };
}

/**
 * Where no process has the delivery a workflow may still sleep: the delivery was redelivered meanwhile, or its
 * endpoint was parked for a while. It would wake at the wrong time, and is replaced. One that is only thought to be lost may be
 * waiting for its turn with a busy worker, which must not be lost by asking.
 */
const conflictPolicy = ({ lost }: Retry): WorkflowIdConflictPolicy =>
  lost ? WorkflowIdConflictPolicy.USE_EXISTING : WorkflowIdConflictPolicy.TERMINATE_EXISTING;
