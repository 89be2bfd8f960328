import { z } from 'zod';

import { deliveryStatus } from './schema.ts';

const time = z.iso.datetime();
const count = () => z.int().min(0);

export const rotationAnswer = z
  .object({
    secret: z
      .string()
      .regex(/^whsec_/)
      .describe('The new secret. Only here and now: it is never answered again.'),
    previous_secret_expires_at: time
      .nullable()
      .describe('Until when the replaced secret signs as well; null where it no longer does, or where there was none.'),
  })
  .meta({ id: 'WebhookSecretRotation' });

export const testAnswer = z
  .object({
    event_id: z.string().describe('Id of the event that was made: `webhook-id` of the delivery.'),
    delivery_id: z.string().describe('Id of the delivery.'),
  })
  .meta({ id: 'WebhookTest' });

export const deliveryAnswer = z
  .object({
    id: z.string().describe('Id of the delivery.'),
    subscription_id: z.string().describe('The subscription that it is for.'),
    event_id: z.string().describe('Also `webhook-id` and `traceId` of the delivery.'),
    event_name: z.string().describe('Name of the event type.'),
    status: deliveryStatus.describe(
      '`pending`: to be sent, or parked while the endpoint is down. `retrying`: waits for its next attempt. `paused`: waits until the subscription is active again. `succeeded`, `failed`, `skipped`: ended.',
    ),
    reason: z.string().nullable().describe('Why it failed or was skipped; while it waits for another attempt, why the last one failed.'),
    attempts: count().describe('Attempts made so far.'),
    next_attempt_at: time.nullable().describe('When the next attempt may be made at the earliest; null where none is due.'),
    created_at: time.describe('When the event was assigned to the subscription.'),
    ended_at: time.nullable().describe('When it came to its end; null before.'),
  })
  .meta({ id: 'WebhookDelivery' });

export const agentDeliveryAnswer = deliveryAnswer
  .omit({ subscription_id: true })
  .extend({ ai_agent_id: z.string().describe('The agent whose `webhook_url` it is for.') })
  .meta({ id: 'AgentWebhookDelivery' });

export const attemptAnswer = z
  .object({
    number: z.int().min(1).describe('Counts the attempts of a delivery from 1 on, those of earlier series included.'),
    started_at: time.describe('When it began.'),
    duration_ms: count().describe('How long it took, in milliseconds.'),
    succeeded: z.boolean().describe('Whether the endpoint took it.'),
    reason: z.string().describe('`ok`, or the kind of failure.'),
    status_code: z.int().nullable().describe('The HTTP status; null where no answer came.'),
    message: z.string().describe('For people. Never holds what the endpoint answered.'),
  })
  .meta({ id: 'WebhookAttempt' });

export const attemptList = z.object({ data: z.array(attemptAnswer).describe('Oldest first.') }).meta({ id: 'WebhookAttemptList' });

export const recoveryAnswer = z.object({ recovered: count().describe('Deliveries that are sent again.') }).meta({ id: 'WebhookRecovery' });

export const eventTypeList = z
  .object({
    data: z
      .array(
        z
          .object({
            name: z.string().describe('Name, as `events` of a subscription has it.'),
            description: z.string().describe('When it happens.'),
          })
          .meta({ id: 'WebhookEventType' }),
      )
      .describe('All event types.'),
  })
  .meta({ id: 'WebhookEventTypeList' });
