import { listOf } from '../codec/answers.ts';
import { WEBHOOK_ROOT } from '../http/webhook-failure.ts';
import { agentDeliveryAnswer, attemptList, deliveryAnswer, recoveryAnswer } from './answers.ts';
import { subscriptionParams, subscriptionPath, defineRoute } from './descriptions.ts';
import { agentDeliveryExample, attemptExample, deliveryExample } from './examples.ts';
import { deliveryPage, recovery } from './schema.ts';

const deliveries = `${subscriptionPath}/:subscription_id/deliveries` as const;
const deliveryParam = { delivery_id: 'The `id` of the delivery.' };
const ofSubscription = { ...subscriptionParams, ...deliveryParam };

const attempts = {
  200: { description: 'The attempts.', schema: attemptList, example: { data: [attemptExample] }, headers: ['Age'] },
} as const;
const redelivered = {
  202: {
    description: 'It is sent again.',
    schema: deliveryAnswer,
    example: { ...deliveryExample, status: 'pending', next_attempt_at: null },
  },
} as const;

export const listDeliveries = defineRoute({
  method: 'GET',
  path: deliveries,
  operationId: 'listWebhookDeliveries',
  summary: 'List the deliveries of a subscription, newest first',
  description: 'They are kept for 30 days, unless the operator of the service says otherwise.',
  permission: 'webhooks:read',
  params: subscriptionParams,
  query: deliveryPage,
  answers: {
    200: {
      description: 'A page of deliveries.',
      schema: listOf(deliveryAnswer, 'WebhookDeliveryList'),
      example: { data: [deliveryExample], next_page_token: null },
      headers: ['Age'],
    },
  },
});

export const listAgentDeliveries = defineRoute({
  method: 'GET',
  path: `${WEBHOOK_ROOT}/agent/:ai_agent_id/deliveries`,
  operationId: 'listAgentWebhookDeliveries',
  summary: "List the deliveries to an agent's own webhook_url, newest first",
  description: 'They are kept as those of subscriptions are. Their attempts are listed by the id of the delivery.',
  permission: 'webhooks:read',
  params: { ai_agent_id: 'The `ai_agent_id`: the name of the Agent resource.' },
  query: deliveryPage,
  answers: {
    200: {
      description: 'A page of deliveries.',
      schema: listOf(agentDeliveryAnswer, 'AgentWebhookDeliveryList'),
      example: { data: [agentDeliveryExample], next_page_token: null },
      headers: ['Age'],
    },
  },
});

export const getDelivery = defineRoute({
  method: 'GET',
  path: `${deliveries}/:delivery_id`,
  operationId: 'getWebhookDelivery',
  summary: 'Get a delivery',
  permission: 'webhooks:read',
  params: ofSubscription,
  answers: { 200: { description: 'The delivery.', schema: deliveryAnswer, example: deliveryExample, headers: ['Age'] } },
});

export const listAttempts = defineRoute({
  method: 'GET',
  path: `${deliveries}/:delivery_id/attempts`,
  operationId: 'listWebhookAttempts',
  summary: 'List the attempts of a delivery',
  permission: 'webhooks:read',
  params: ofSubscription,
  answers: attempts,
});

export const redeliver = defineRoute({
  method: 'POST',
  path: `${deliveries}/:delivery_id/redeliver`,
  operationId: 'redeliverWebhook',
  summary: 'Send a delivery again',
  description:
    'With the same body and the same `webhook-id`, as a new series of attempts; one that waits for a retry goes out at once, in its series. One whose body is no longer kept (7 days, unless the operator of the service says otherwise) and one of a paused subscription answer 409.',
  permission: 'webhooks:write',
  params: ofSubscription,
  answers: redelivered,
  errors: ['conflict'],
});

/** Lists attempts by the delivery's own id, without its subscription's. */
export const listAttemptsById = defineRoute({
  method: 'GET',
  path: `${subscriptionPath}/deliveries/:delivery_id/attempts`,
  operationId: 'listAttemptsOfWebhookDelivery',
  summary: 'List the attempts of a delivery, whichever subscription it is of',
  permission: 'webhooks:read',
  params: deliveryParam,
  answers: attempts,
});

export const redeliverById = defineRoute({
  method: 'POST',
  path: `${subscriptionPath}/deliveries/:delivery_id/redeliver`,
  operationId: 'redeliverWebhookDelivery',
  summary: 'Send a delivery again, whichever subscription it is of',
  permission: 'webhooks:write',
  params: deliveryParam,
  answers: redelivered,
  errors: ['conflict'],
});

export const recover = defineRoute({
  method: 'POST',
  path: `${subscriptionPath}/:subscription_id/recover`,
  operationId: 'recoverWebhookDeliveries',
  summary: 'Send again what failed or was skipped in a time',
  description: 'Oldest first. What is no longer kept is left out. While the subscription is paused that answers 409.',
  permission: 'webhooks:write',
  params: subscriptionParams,
  body: recovery.meta({ id: 'WebhookRecoveryRequest' }),
  bodyExamples: { 'what an outage cost': { since: '2026-11-21T08:00:00Z', until: '2026-11-21T09:00:00Z', status: 'failed' } },
  answers: { 202: { description: 'They are being sent.', schema: recoveryAnswer, example: { recovered: 17 } } },
  errors: ['conflict'],
});
