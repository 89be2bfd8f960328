import type { Endpoint } from '../../webhooks/subscriptions/endpoint.ts';

/** Returns an endpoint for tests that need one: every event of `acme`, unsigned, no retries. */
export const endpoint = (more: Partial<Endpoint> = {}): Endpoint => ({
  uid: 'uid-1',
  org: 'acme',
  name: 'subscription-1',
  kind: 'WebhookSubscription',
  url: 'http://127.0.0.1:1/',
  events: [],
  active: true,
  timeoutMs: 1_000,
  retry: { strategy: 'FixedDelay', maxRetries: 0, delayMs: 0 },
  headers: [],
  generation: 1,
  resourceVersion: '1',
  ...more,
});
