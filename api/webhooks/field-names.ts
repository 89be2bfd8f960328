import type { FieldNames } from '../partial/field-names.ts';

/** Paths of a WebhookSubscription's spec in REST's words. */
export const webhookFieldNames: FieldNames = {
  displayName: 'name',
  url: 'url',
  description: 'description',
  events: 'events',
  'events.*': 'events.*',
  active: 'active',
  headers: 'headers',
  'headers.*': 'headers',
  requestTimeout: 'request_timeout_ms',
  retryPolicy: 'retry_policy',
  'retryPolicy.strategy': 'retry_policy.retryStrategy',
  'retryPolicy.maxAttempts': 'retry_policy.maxRetryAttempts',
  'retryPolicy.maxDelay': 'retry_policy.maxRetryDelayMs',
  signing: 'enable_signed_webhooks',
  'signing.secretRef': 'enable_signed_webhooks',
  'scope.agentRefs': 'agent_ids',
  'scope.agentRefs.*': 'agent_ids.*',
  'scope.agentRefs.*.name': 'agent_ids.*',
  'scope.workspaces': 'workspace_ids',
  'scope.workspaces.*': 'workspace_ids.*',
};
