import { ApplicationFailure, Context } from '@temporalio/activity';

import { TIMER_LEAD_MS } from '../../webhooks/temporal-retries/names.ts';
import { retryDelivery, type RetryDependencies } from '../../webhooks/temporal-retries/retry-delivery.ts';
import { whileAlive } from '../while-alive.ts';
import type { DeliveryActivities } from './types.ts';

export type DeliveryActivityDependencies = RetryDependencies & {
  /** Returns whether the directory of endpoints is loaded. */
  readonly isReady: () => boolean;
};

/** Milliseconds after which a worker asks again that has just begun, or whose API server is unavailable. */
const NOT_READY_MS = 2_000;

export function createDeliveryActivities(dependencies: DeliveryActivityDependencies): DeliveryActivities {
  const { isReady } = dependencies;
  return {
    async deliver(job) {
      const context = Context.current();
      if (!isReady()) throw later(NOT_READY_MS);
      const attempt = () => retryDelivery(job, dependencies, context.cancellationSignal);
      const outcome = await whileAlive(() => context.heartbeat(), attempt);
      if (!('done' in outcome)) throw later(outcome.againInMs - TIMER_LEAD_MS);
      return outcome.done;
    },
  };
}

/** The history keeps the message, so that it says nothing about the endpoint. */
function later(ms: number): ApplicationFailure {
  return ApplicationFailure.create({ message: 'not yet delivered', type: 'DueLater', nextRetryDelay: Math.max(1, Math.round(ms)) });
}
