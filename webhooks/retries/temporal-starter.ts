/** Starts the workflows of retries in Temporal. */
import { Client, Connection, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';

import type { Logger } from '../../platform/logging.ts';
import { ensureSearchAttributes } from '../../platform/search-attributes.ts';
import { tracedStarts } from '../../platform/telemetry/temporal-trace.ts';
import type { Temporal } from '../../platform/temporal.ts';
import { RetriesUnavailable, type Retry, type RetryStarter } from '../dispatcher/retry-starter.ts';
import {
  type DeliveryJob,
  DELIVERY_WORKFLOW,
  deliveryQueue,
  deliverySearchAttributes,
  deliveryWorkflowId,
  TIMER_LEAD_MS,
} from './names.ts';

export interface TemporalStarterOptions extends Temporal {
  /** The installation's task queue, as the worker has it. */
  readonly taskQueue: string;
  readonly logger: Logger;
  /** Longest wait for Temporal, in milliseconds; 3,000 by default. */
  readonly timeoutMs?: number;
}

const organization = defineSearchAttributeKey(deliverySearchAttributes[0], SearchAttributeType.KEYWORD);
const subscription = defineSearchAttributeKey(deliverySearchAttributes[1], SearchAttributeType.KEYWORD);

/** Connects when it is first used. */
export function createTemporalStarter(options: TemporalStarterOptions): RetryStarter {
  const { logger, namespace, timeoutMs = 3_000 } = options;
  const taskQueue = deliveryQueue(options.taskQueue);
  const connection = Connection.lazy({ address: options.address, ...options.access, connectTimeout: timeoutMs });
  const client = new Client({ connection, namespace, interceptors: { workflow: [tracedStarts] } });
  let searchable: Promise<boolean> | undefined;

  return {
    async start(retry) {
      const workflowId = deliveryWorkflowId(retry);
      // So short a wait no timer keeps: the activity waits by itself.
      const startDelay = retry.delayMs < 2 * TIMER_LEAD_MS ? 0 : Math.round(retry.delayMs - TIMER_LEAD_MS);
      try {
        await connection.withDeadline(Date.now() + timeoutMs, async () => {
          searchable ??= ensureSearchAttributes(connection, { namespace, names: deliverySearchAttributes, logger });
          const typedSearchAttributes = (await searchable)
            ? new TypedSearchAttributes([
                { key: organization, value: retry.org },
                { key: subscription, value: retry.subscriptionUid },
              ])
            : undefined;
          await client.workflow.start(DELIVERY_WORKFLOW, {
            workflowId,
            taskQueue,
            args: [{ deliveryId: retry.deliveryId, subscriptionUid: retry.subscriptionUid } satisfies DeliveryJob],
            workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
            workflowIdConflictPolicy: conflictPolicy(retry),
            staticSummary: `dlv_${retry.deliveryId} of ${retry.org}`,
            ...(startDelay > 0 && { startDelay }),
            ...(typedSearchAttributes && { typedSearchAttributes }),
            // Heeded by servers that know fairness: endpoints take turns.
            priority: { fairnessKey: retry.subscriptionUid },
          });
        });
      } catch (error) {
        // Asked again next time: the server may be another one by then.
        searchable = undefined;
        throw new RetriesUnavailable(`Temporal did not take ${workflowId} on: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
    },
    close: () => connection.close(),
  };
}

/**
 * Where nobody has the delivery there may still be a workflow that sleeps: somebody had the delivery sent again meanwhile, or its
 * endpoint was left alone for a while. It would wake at the wrong time, and is replaced. One that is only thought to be lost may be
 * waiting for its turn with a busy worker, which must not be lost by asking.
 */
const conflictPolicy = ({ lost }: Retry): WorkflowIdConflictPolicy =>
  lost ? WorkflowIdConflictPolicy.USE_EXISTING : WorkflowIdConflictPolicy.TERMINATE_EXISTING;
