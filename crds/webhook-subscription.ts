import { z } from 'zod';

import { reservedHeaderMessage, reservedHeaderPrefixes, reservedHeaders } from './delivery-header.ts';
import { ageColumn, defineKind, displayNameColumn, readyColumn, reasonColumn, suspendColumn, type Resource } from './kind.ts';
import { atomic, cel, distinctList, duration, header, headerList, localRef, mapOf, name, setOf, text, unionOf, url } from './schema.ts';
import { commonStatus, suspend, timestamp } from './status.ts';

/** A subscriber can't set headers that HTTP or the delivery itself sets. */
const deliveryHeader = cel(header(), {
  rule: [
    `!(self.name.lowerAscii() in [${reservedHeaders.map((word) => `'${word}'`).join(', ')}])`,
    ...reservedHeaderPrefixes.map((prefix) => `!self.name.lowerAscii().startsWith('${prefix}')`),
  ].join(' && '),
  message: `name ${reservedHeaderMessage}`,
  fieldPath: '.name',
});

const eventName = name(128).regex(/^(\*|[A-Za-z][A-Za-z0-9]*\.[A-Za-z][A-Za-z0-9]*)$/);

const spec = z.object({
  suspend: suspend.describe('Send nothing and stop reconciling: events are recorded meanwhile, and retries wait. Deletion still works.'),
  displayName: name(200)
    .optional()
    .describe('Unique in the organisation without the spaces around it, the oldest wins; metadata.name where absent.'),
  url: url().describe('Where events are posted.'),
  description: text(1500).optional().describe('A note for people.'),
  // A set would leave to the server in which order a person lists them.
  events: distinctList(eventName, 64).min(1).optional().describe('Event types; absent or ["*"] means all.'),
  headers: headerList(deliveryHeader).optional().describe('Sent with every delivery.'),
  requestTimeout: duration('100ms', '30s').default('1s').describe('Limit of one attempt.'),
  retryPolicy: z
    .object({
      strategy: z.enum(['FixedDelay', 'ExponentialBackoff']).default('FixedDelay').describe('How the wait between attempts grows.'),
      maxRetries: z.int().min(0).max(10).default(3).describe('Attempts after the first one; 0 means no retry.'),
      delay: duration('0s', '1h').default('10s').describe('The wait of FixedDelay, the longest of ExponentialBackoff.'),
    })
    .prefault({})
    .describe('What happens after a failed attempt.'),
  signing: cel(
    atomic(
      z.object({
        mode: z
          .enum(['None', 'Generated', 'Secret'])
          .describe(
            'None: unsigned. Generated: the operator makes the key, in the Secret that status.signingSecretRef names. Secret: yours.',
          ),
        secretRef: localRef().optional().describe('A Secret of your own, with the keys current, previous-1 and so on.'),
      }),
    ),
    ...unionOf({ Secret: 'secretRef' }, { discriminator: 'mode' }),
  )
    .default({ mode: 'None' })
    .describe('How deliveries are signed.'),
  scope: cel(
    z.object({
      type: z.enum(['AgentRefs', 'Workspaces']).describe('By what events are chosen.'),
      agentRefs: mapOf(localRef(), ['name'], 100).min(1).optional().describe('Events of these Agents.'),
      workspaces: setOf(name(63), 100).min(1).optional().describe('Events of objects with these values of the label parley.dev/workspace.'),
    }),
    ...unionOf({ AgentRefs: 'agentRefs', Workspaces: 'workspaces' }),
  )
    .optional()
    .describe('Absent: the whole organisation.'),
});

const status = z.object({
  ...commonStatus,
  signingSecretRef: localRef().optional().describe('The Secret that deliveries are signed with.'),
  autoDisabled: z
    .object({ since: timestamp().describe('When it was switched off.'), reason: text(1024).describe('What came back.') })
    .optional()
    .describe('Set when nothing but failures came back for days; nothing is sent then.'),
  lastSuccessAt: timestamp().optional().describe('Last delivery that was taken.'),
  lastFailureAt: timestamp().optional().describe('Last attempt that failed.'),
  circuitBreaker: z
    .object({
      state: z
        .enum(['Open', 'HalfOpen'])
        .describe('Open: almost nothing is sent; HalfOpen: one delivery finds out whether the endpoint is back.'),
      failingSince: timestamp().optional().describe('When nearly all attempts began to fail.'),
    })
    .optional()
    .describe('Set while the endpoint gets less than it could, because nearly all attempts failed: Open tries one delivery now and then.'),
});

export const webhookSubscriptionKind = defineKind('WebhookSubscription', 'webhooksubscriptions', {
  shortNames: ['pwebhook', 'whsub'],
  description: 'An endpoint that receives events by signed HTTP POST.',
  printerColumns: [
    displayNameColumn(),
    readyColumn,
    reasonColumn,
    suspendColumn,
    { name: 'URL', type: 'string', jsonPath: '.spec.url' },
    { name: 'Events', type: 'string', jsonPath: '.spec.events', priority: 1 },
    { name: 'LastDelivery', type: 'date', jsonPath: '.status.lastSuccessAt' },
    ageColumn,
  ],
  spec,
  status,
});

export type WebhookSubscriptionSpec = z.output<typeof spec>;
export type WebhookSubscriptionStatus = z.output<typeof status>;
export type WebhookSubscription = Resource<WebhookSubscriptionSpec, WebhookSubscriptionStatus>;

/** Returns the name that people see, unique without the spaces around it. */
export function subscriptionNameOf(subscription: Pick<WebhookSubscription, 'metadata' | 'spec'>): string {
  return subscription.spec.displayName?.trim() || subscription.metadata.name;
}
