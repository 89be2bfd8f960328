import { z } from 'zod';

import { ageColumn, defineKind, readyColumn, reasonColumn, type Resource } from './kind.ts';
import { cel, duration, exactlyOneOf, header, localRef, mapOf, name, setOf, text, url } from './schema.ts';
import { commonStatus } from './status.ts';

const spec = z.object({
  suspend: z.boolean().optional().describe('Stop reconciling; deletion still works.'),
  displayName: name(200).optional().describe('Unique in the organisation, the oldest wins; metadata.name where absent.'),
  url: url(),
  description: text(1500).optional(),
  events: setOf(name(128), 64).optional().describe('Event types; empty, absent or ["*"] means all.'),
  active: z.boolean().default(true).describe('false: nothing is sent.'),
  headers: mapOf(header(), ['name'], 32).optional().describe('Sent with every delivery.'),
  requestTimeout: duration('100ms', '30s').default('1s').describe('Limit of one attempt.'),
  retryPolicy: z
    .object({
      strategy: z.enum(['FixedDelay', 'ExponentialBackoff', 'None']).default('FixedDelay'),
      maxAttempts: z.int().min(0).max(10).default(3).describe('Retries after the first attempt.'),
      maxDelay: duration('0s', '1h').default('10s'),
    })
    .prefault({}),
  signing: z
    .object({ secretRef: localRef().optional() })
    .optional()
    .describe('Absent: unsigned. {}: the operator generates a Secret. secretRef: a Secret with the keys current, previous-1 and so on.'),
  scope: cel(
    z.object({ agentRefs: mapOf(localRef(), ['name'], 100).optional(), workspaces: setOf(name(63), 100).optional() }),
    exactlyOneOf(['agentRefs', 'workspaces']),
  )
    .optional()
    .describe('Absent: the whole organisation.'),
});

const status = z.object({
  ...commonStatus,
  signingSecretRef: localRef().optional(),
  autoDisabled: z.object({ since: z.iso.datetime().max(64), reason: text(1024) }).optional(),
  lastSuccessAt: z.iso.datetime().max(64).optional(),
  lastFailureAt: z.iso.datetime().max(64).optional(),
  consecutiveFailures: z.int().min(0).optional(),
});

export const webhookSubscriptionKind = defineKind('WebhookSubscription', 'webhooksubscriptions', {
  shortNames: ['whsub'],
  description: 'An endpoint that is told about events by signed HTTP POST.',
  printerColumns: [
    readyColumn,
    { name: 'URL', type: 'string', jsonPath: '.spec.url' },
    { name: 'Events', type: 'string', jsonPath: '.spec.events' },
    { name: 'Active', type: 'boolean', jsonPath: '.spec.active' },
    { name: 'LastDelivery', type: 'date', jsonPath: '.status.lastSuccessAt' },
    reasonColumn,
    ageColumn,
  ],
  spec,
  status,
});

export type WebhookSubscriptionSpec = z.output<typeof spec>;
export type WebhookSubscriptionStatus = z.output<typeof status>;
export type WebhookSubscription = Resource<WebhookSubscriptionSpec, WebhookSubscriptionStatus>;
