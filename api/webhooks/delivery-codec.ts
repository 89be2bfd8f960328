/** Turns deliveries and their attempts into answers. Pure. */
import { deliveryIdText, eventIdOf } from '../../events/envelope.ts';
import type { AttemptRecord, DeliveryRecord, DeliveryState } from '../../store/index.ts';
import type { DeliveryStatus } from './schema.ts';

/** Hides whether a workflow has taken a retry already. */
const states: Readonly<Record<DeliveryStatus, readonly DeliveryState[]>> = {
  pending: ['pending'],
  retrying: ['retry_pending', 'retrying'],
  paused: ['paused'],
  succeeded: ['succeeded'],
  failed: ['failed'],
  skipped: ['skipped'],
};

export function statesOf(status: DeliveryStatus): readonly DeliveryState[] {
  return states[status];
}

function deliveryStatus(state: DeliveryState): DeliveryStatus {
  return state === 'retry_pending' ? 'retrying' : state;
}

/** @param subscription the name of the resource; its deliveries are stored under its uid */
export function deliveryToRest(delivery: DeliveryRecord, subscription: string): Readonly<Record<string, unknown>> {
  return { ...sentToRest(delivery), subscription_id: subscription };
}

export function agentDeliveryToRest(delivery: DeliveryRecord, agent: string): Readonly<Record<string, unknown>> {
  return { ...sentToRest(delivery), ai_agent_id: agent };
}

function sentToRest(delivery: DeliveryRecord): Readonly<Record<string, unknown>> {
  const { id, eventId, eventName, state, reason, attempts, dueAt, createdAt, endedAt } = delivery;
  return {
    id: deliveryIdText(id),
    event_id: eventIdOf(eventId),
    event_name: eventName,
    status: deliveryStatus(state),
    reason: reason ?? null,
    attempts,
    next_attempt_at: endedAt === undefined && state !== 'paused' ? (dueAt?.toISOString() ?? null) : null,
    created_at: createdAt.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
  };
}

export function attemptToRest({
  number,
  startedAt,
  durationMs,
  succeeded,
  reason,
  statusCode,
  message,
}: AttemptRecord): Readonly<Record<string, unknown>> {
  return {
    number,
    started_at: startedAt.toISOString(),
    duration_ms: durationMs,
    succeeded,
    reason,
    status_code: statusCode ?? null,
    message,
  };
}

const SHAPE = /^dlv_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** @returns the stored form of an id; undefined for a text that can't be one */
export function deliveryIdFrom(text: string): string | undefined {
  return SHAPE.exec(text)?.[1];
}
