/** Example answers for the OpenAPI document. */

export const subscriptionExample = {
  id: 'crm-k3xq5w7z',
  organization_id: 'acme',
  scope: 'ORGANIZATION',
  created_user_id: 'user-1',
  name: 'CRM',
  url: 'https://hooks.example.com/parley',
  events: ['CallHandler.CallEnded', 'CallAnalysis.Completed'],
  active: true,
  description: 'Writes calls into the CRM.',
  request_timeout_ms: 1000,
  retry_policy: { retryStrategy: 'FIXED_DELAY', maxRetryAttempts: 3, maxRetryDelayMs: 10_000 },
  signing_enabled: true,
  state: { ready: true, reason: 'Available', message: 'events that match are delivered' },
  created_at: '2026-11-21T09:00:00Z',
  updated_at: '2026-11-21T09:00:00Z',
};

/** A key that signs nothing real, from the test vectors of Standard Webhooks. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const subscriptionWithHeadersExample = { ...subscriptionExample, headers: { 'X-Tenant': 'acme', Authorization: '********' } };
export const createdExample = { ...subscriptionWithHeadersExample, secret: SECRET };
export const rotationExample = { secret: SECRET, previous_secret_expires_at: '2026-11-22T09:00:00.000Z' };

const ids = { event_id: 'evt_0199f2d0-7b1e-7c3a-9d52-1f2e3d4c5b6a', delivery_id: 'dlv_0199f2d0-7b1e-8a4f-b0c1-6d5e4f3a2b1c' };
export const testExample = ids;

const sent = {
  id: ids.delivery_id,
  event_id: ids.event_id,
  event_name: 'CallHandler.CallEnded',
  status: 'retrying',
  reason: null,
  attempts: 1,
  next_attempt_at: '2026-11-21T09:00:11.000Z',
  created_at: '2026-11-21T09:00:00.000Z',
  ended_at: null,
};

export const deliveryExample = { ...sent, subscription_id: subscriptionExample.id };
export const agentDeliveryExample = { ...sent, ai_agent_id: 'receptionist' };

export const attemptExample = {
  number: 1,
  started_at: '2026-11-21T09:00:00.004Z',
  duration_ms: 187,
  succeeded: false,
  reason: 'http_status',
  status_code: 502,
  message: 'the endpoint answered 502',
};
