import { z } from 'zod';

import { pageQuery } from '../pagination/keyset.ts';
import { readyFilter } from '../state/answers.ts';
import { instantOf } from '../validation/instant.ts';
import { issues } from '../validation/issue.ts';
import { withRule } from '../validation/validate.ts';

/** Query of a list of subscriptions. The page size has no default: the contract requires it. */
export const subscriptionPage = z.object({
  page_size: z.int().min(1).max(100).describe('Subscriptions on a page; has to be given.'),
  page_token: pageQuery.shape.page_token,
  ...readyFilter,
});

/** Longest time for which a replaced secret goes on signing, in hours. */
const LONGEST_GRACE_HOURS = 168;

/** The object is closed: a misnamed `grace_period_hours: 0` would let a secret that has leaked sign for another day. */
export const rotation = z
  .strictObject({
    grace_period_hours: z
      .number()
      .min(0)
      .max(LONGEST_GRACE_HOURS)
      .default(24)
      .describe('How long the replaced secret signs along; 0: it stops at once, with every older one.'),
  })
  .default({ grace_period_hours: 24 });

export const deliveryStatuses = ['pending', 'retrying', 'paused', 'succeeded', 'failed', 'skipped'] as const;
export const deliveryStatus = z.enum(deliveryStatuses).meta({ id: 'WebhookDeliveryStatus' });
export type DeliveryStatus = (typeof deliveryStatuses)[number];

export const deliveryPage = z.object({
  ...pageQuery.shape,
  status: deliveryStatus.optional().describe('Only deliveries of this status.'),
  call_id: z
    .string()
    .max(128)
    .optional()
    .describe('Only deliveries of events of this call: those that can be sent again, as their bodies are kept (7 days by default).'),
});

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** Makes a schema for a time of RFC 3339, whatever its offset. */
const moment = (what: string) =>
  withRule(z.string().max(40).meta({ format: 'date-time', description: what }), (text, loc) =>
    RFC3339.test(text) && instantOf(text) !== undefined ? [] : [issues.value(loc, 'write a time as in 2026-11-21T09:00:00Z')],
  );

/** The object is closed: a misnamed bound would send more again. */
export const recovery = withRule(
  z.strictObject({
    since: moment('Events from this time on.'),
    until: moment('Events before this time; now where absent.').nullish(),
    status: z
      .enum(['failed', 'skipped'])
      .meta({ id: 'WebhookRecoveryStatus' })
      .nullish()
      .describe('Only deliveries of this status; both where absent.'),
  }),
  ({ since, until }, loc) =>
    typeof until === 'string' && Date.parse(until) <= Date.parse(since)
      ? [issues.value([...loc, 'until'], 'has to be later than since')]
      : [],
);

export type Recovery = z.output<typeof recovery>;
