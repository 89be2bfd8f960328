import { z } from 'zod';

import { deleted } from '../codec/answers.ts';
import { dryRunQuery, writeQuery } from '../http/conditions.ts';
import { routesOf } from '../http/route.ts';
import { WEBHOOK_ROOT } from '../http/webhook-failure.ts';
import { eventTypeList, rotationAnswer, testAnswer } from './answers.ts';
import { createdExample, rotationExample, subscriptionExample, subscriptionWithHeadersExample, testExample } from './examples.ts';
import { subscriptionAnswer, subscriptionCreate, subscriptionList, subscriptionUpdate, subscriptionWithSecret } from './fields.ts';
import { rotation, subscriptionPage } from './schema.ts';

export const defineRoute = routesOf('Webhooks');
export const subscriptionParams = { subscription_id: 'The `id`: the name of the WebhookSubscription resource.' };
export const subscriptionPath = `${WEBHOOK_ROOT}/subscription` as const;
const one = `${subscriptionPath}/:subscription_id` as const;

export const createSubscription = defineRoute({
  method: 'POST',
  path: subscriptionPath,
  operationId: 'createWebhookSubscription',
  summary: 'Make a webhook subscription',
  description: 'Every event from the answer on reaches it. A signed one has its secret in this answer, and nowhere else.',
  permission: 'webhooks:write',
  query: z.object(dryRunQuery),
  body: subscriptionCreate.meta({ id: 'WebhookSubscriptionCreate' }),
  bodyExamples: {
    'what is needed': { name: 'CRM', url: 'https://hooks.example.com/parley', enable_signed_webhooks: true },
    everything: {
      name: 'Help desk',
      url: 'https://hooks.example.com/desk',
      active: true,
      enable_signed_webhooks: true,
      events: ['CallHandler.CallEnded'],
      headers: { 'X-Tenant': 'acme', Authorization: 'Bearer of good news' },
      description: 'Opens a ticket for every call.',
      workspace_ids: ['support'],
      request_timeout_ms: 2000,
      retry_policy: { retryStrategy: 'EXPONENTIAL_BACKOFF', maxRetryAttempts: 8, maxRetryDelayMs: 600_000 },
    },
  },
  answers: {
    201: {
      description: 'The subscription.',
      schema: subscriptionWithSecret,
      example: createdExample,
      headers: ['ETag'],
      identifies: { subscription_id: 'id' },
    },
  },
  errors: ['conflict'],
});

export const listSubscriptions = defineRoute({
  method: 'GET',
  path: `${WEBHOOK_ROOT}/subscriptions`,
  operationId: 'listWebhookSubscriptions',
  summary: 'List webhook subscriptions, in the order of their creation',
  permission: 'webhooks:read',
  query: subscriptionPage,
  answers: {
    200: {
      description: 'A page of subscriptions.',
      schema: subscriptionList,
      example: { data: [subscriptionExample], next_page_token: null, total_count: 1 },
      headers: ['Age'],
    },
  },
});

export const getSubscription = defineRoute({
  method: 'GET',
  path: one,
  operationId: 'getWebhookSubscription',
  summary: 'Get a webhook subscription',
  permission: 'webhooks:read',
  params: subscriptionParams,
  answers: {
    200: {
      description: 'The subscription.',
      schema: subscriptionAnswer,
      example: subscriptionWithHeadersExample,
      headers: ['ETag', 'Age'],
    },
  },
});

const update = {
  permission: 'webhooks:write',
  params: subscriptionParams,
  query: writeQuery,
  ifMatch: true,
  body: subscriptionUpdate.meta({ id: 'WebhookSubscriptionUpdate' }),
  answers: {
    200: { description: 'The subscription as it is now.', schema: subscriptionWithSecret, example: createdExample, headers: ['ETag'] },
  },
  errors: ['conflict'],
} as const;

export const replaceSubscription = defineRoute({
  ...update,
  method: 'PUT',
  path: one,
  operationId: 'replaceWebhookSubscription',
  summary: 'Change the fields given, as PATCH does',
  bodyExamples: {
    'another address': { name: 'CRM', url: 'https://hooks.example.com/v2', enable_signed_webhooks: true, events: ['*'], active: true },
  },
});

export const updateSubscription = defineRoute({
  ...update,
  method: 'PATCH',
  path: one,
  operationId: 'updateWebhookSubscription',
  summary: 'Change the fields given',
  description:
    'Absent fields keep their value, `null` brings back the default; lists and `headers` are replaced as a whole. `active: true` also switches on again what was disabled because of its failures.',
  bodyExamples: { 'a pause': { active: false }, 'events of all agents again': { agent_ids: [] } },
});

export const deleteSubscription = defineRoute({
  method: 'DELETE',
  path: one,
  operationId: 'deleteWebhookSubscription',
  summary: 'Delete a webhook subscription',
  description: 'Nothing more is sent to it; what was under way ends.',
  permission: 'webhooks:write',
  params: subscriptionParams,
  query: z.object(dryRunQuery),
  ifMatch: true,
  answers: { 200: deleted('The webhook subscription was deleted') },
  errors: ['conflict'],
});

export const rotateSecret = defineRoute({
  method: 'POST',
  path: `${one}/rotate-secret`,
  operationId: 'rotateWebhookSecret',
  summary: 'Replace the signing secret',
  description:
    'Deliveries are signed with the new secret from the answer on, and with the replaced one as well until its grace period ends. At most four former ones sign along: with four, a rotation with a grace period answers 409 until the first of them stops. A subscription that is unsigned, or whose Secret a person keeps (`spec.signing.secretRef`), answers 409.',
  permission: 'webhooks:write',
  params: subscriptionParams,
  body: rotation.meta({ id: 'WebhookSecretRotationRequest' }),
  bodyExamples: { 'a day to change over': {}, 'the secret has leaked': { grace_period_hours: 0 } },
  answers: { 200: { description: 'The new secret.', schema: rotationAnswer, example: rotationExample } },
  errors: ['conflict'],
});

export const testSubscription = defineRoute({
  method: 'POST',
  path: `${one}/test`,
  operationId: 'testWebhookSubscription',
  summary: 'Send a test event to this subscription alone',
  description:
    'A `Webhook.Test`, whatever events it is for, on the same way as every other event, and at once, also where the circuit breaker keeps others back. While the subscription is paused that answers 409.',
  permission: 'webhooks:write',
  params: subscriptionParams,
  answers: {
    202: {
      description: 'It is being sent.',
      schema: testAnswer,
      example: testExample,
      identifies: { delivery_id: 'delivery_id' },
    },
  },
  errors: ['conflict'],
});

export const listEventTypes = defineRoute({
  method: 'GET',
  path: `${WEBHOOK_ROOT}/event-types`,
  operationId: 'listWebhookEventTypes',
  summary: 'List the event types',
  permission: 'webhooks:read',
  answers: {
    200: {
      description: 'All of them.',
      schema: eventTypeList,
      example: { data: [{ name: 'CallHandler.CallEnded', description: 'A call is over.' }] },
    },
  },
});
