/** Bodies and queries of the webhook routes. */
import { z } from 'zod';

import { isReservedHeader, reservedHeaderPrefixes, reservedHeaders } from '../../crds/delivery-header.ts';
import { distinct } from '../codec/schemas.ts';
import { pageQuery } from '../pagination/keyset.ts';
import { readyFilter } from '../state/answers.ts';
import { issues } from '../validation/issue.ts';
import { withRule } from '../validation/validate.ts';

const name = z.string().min(1).max(200).regex(/\S/).trim().describe('Unique in the organisation. Spaces around it are dropped.');
const url = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/.*/)
  .describe('Where events are posted. An address on the public internet, without a user name or password in it.');
const active = z.boolean().describe('false: nothing is sent.');
const description = z.string().max(1500).describe('A note for people.');

/** The description comes before the rule: zod copies a schema that is described, and the copy has no rule. */
const distinctNames = (item: z.ZodType<string>, max: number, what: string, about: string) =>
  withRule(
    z.array(item).max(max).describe(about),
    distinct(what, (each) => each),
  );

const events = distinctNames(
  z.string().min(1).max(128),
  64,
  'events',
  'Names of event types, in their own spelling (see `listWebhookEventTypes`). Empty, absent or `["*"]` means all.',
);
const agentIds = distinctNames(z.string().min(1).max(253), 100, 'ids', 'Only events of these AI agents.');
const workspaceIds = distinctNames(
  z.string().min(1).max(63),
  100,
  'ids',
  'Only events of objects in these workspaces: values of the label `parley.dev/workspace`.',
);

/** What HTTP can carry everywhere: visible ASCII, spaces and tabs, and neither at the ends, where they would get lost. */
const headerValue = z
  .string()
  .max(4096)
  .regex(/^([\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?)?$/);

const reservedName = `this name is reserved: it can be none of ${reservedHeaders.join(', ')}, nor begin with ${reservedHeaderPrefixes.join(' or ')}`;

const headers = withRule(
  z
    .record(
      z
        .string()
        .max(256)
        .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/),
      headerValue,
    )
    .meta({ maxProperties: 32 })
    .describe(
      'Sent with every delivery. Values are kept in a Secret; those of headers whose names tell of credentials are shown as `"********"` unless the key holds `secrets:read`. The mask sent back means "unchanged", while `url` keeps its scheme, host and port.',
    ),
  (map, loc) => {
    const seen = new Set<string>();
    return Object.keys(map).flatMap((header) => {
      const lower = header.toLowerCase();
      if (seen.has(lower)) return [issues.value([...loc, header], 'this header is there twice, in different cases')];
      seen.add(lower);
      return isReservedHeader(header) ? [issues.value([...loc, header], reservedName)] : [];
    });
  },
);

const requestTimeout = z.int().min(100).max(30_000).describe('Longest time for one attempt, in milliseconds; 1000 where absent.');

export const retryStrategies = ['FIXED_DELAY', 'EXPONENTIAL_BACKOFF', 'NO_RETRY'] as const;

const retryPolicy = z
  .object({
    retryStrategy: z.enum(retryStrategies).nullish().describe('How the wait between attempts grows; `FIXED_DELAY` where absent.'),
    maxRetryAttempts: z.int().min(0).max(10).nullish().describe('Attempts after the first one; 3 where absent.'),
    maxRetryDelayMs: z
      .int()
      .min(0)
      .max(3_600_000)
      .nullish()
      .describe('The wait of `FIXED_DELAY`, the longest one of `EXPONENTIAL_BACKOFF`, in milliseconds; 10000 where absent.'),
  })
  .describe('What happens after a failed attempt.');

const scope = z
  .enum(['ORGANIZATION', 'WORKSPACE', 'AGENT'])
  .optional()
  .describe('Follows from the lists. May be sent along; it has to be what they make it.');

const rest = {
  events: events.nullish(),
  headers: headers.nullish(),
  description: description.nullish(),
  agent_ids: agentIds.nullish(),
  workspace_ids: workspaceIds.nullish(),
  scope,
  request_timeout_ms: requestTimeout.nullish(),
  retry_policy: retryPolicy.nullish(),
};

/** Closed: a misnamed scope would subscribe to everything. */
export const subscriptionCreate = z.strictObject({
  name,
  url,
  enable_signed_webhooks: z.boolean().describe('true: deliveries are signed, and the answer holds the secret, once.'),
  active: active.nullish(),
  ...rest,
});

export type SubscriptionCreate = z.output<typeof subscriptionCreate>;

/** Absent fields keep their value, also within `retry_policy`; `null` brings back the default. */
export const subscriptionUpdate = z.strictObject({
  name: name.optional(),
  url: url.optional(),
  enable_signed_webhooks: z
    .boolean()
    .optional()
    .describe(
      'true for an unsigned subscription: it is signed from now on, and the answer holds the secret, once. false: no longer signed.',
    ),
  active: active.nullish(),
  ...rest,
});

export type SubscriptionUpdate = z.output<typeof subscriptionUpdate>;

/** The page size has no default here: the contract wants it said. */
export const subscriptionPage = z.object({
  page_size: z.int().min(1).max(100).describe('Subscriptions on a page; has to be given.'),
  page_token: pageQuery.shape.page_token,
  ...readyFilter,
});

/** Longest time for which a replaced secret goes on signing, in hours. */
const longestGraceHours = 168;

export const rotation = z
  .object({
    grace_period_hours: z
      .number()
      .min(0)
      .max(longestGraceHours)
      .default(24)
      .describe('How long the replaced secret signs along; 0: it stops at once, with every older one.'),
  })
  .default({ grace_period_hours: 24 });

export const deliveryStatuses = ['pending', 'retrying', 'paused', 'succeeded', 'failed', 'skipped'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

export const deliveryPage = z.object({
  ...pageQuery.shape,
  status: z.enum(deliveryStatuses).optional().describe('Only deliveries of this status.'),
});

const momentParts = /^(\d{4})-(\d\d)-(\d\d)[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** `Date` makes 2 March of 30 February. */
function isMoment(text: string): boolean {
  const [, year, month, day] = momentParts.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(text))) return false;
  // Years below 100 would be taken for those of the 20th century; leap years repeat every 400.
  return Number(day) <= new Date(Date.UTC(Number(year) + 400, Number(month), 0)).getUTCDate();
}

/** RFC 3339, whatever its offset. */
const moment = (what: string) =>
  withRule(z.string().max(40).meta({ format: 'date-time', description: what }), (text, loc) =>
    isMoment(text) ? [] : [issues.value(loc, 'write a time as in 2026-11-21T09:00:00Z')],
  );

/** Closed: a misnamed bound would send more again. */
export const recovery = withRule(
  z.strictObject({
    since: moment('Events from this time on.'),
    until: moment('Events before this time; now where absent.').nullish(),
    status: z.enum(['failed', 'skipped']).nullish().describe('Only deliveries of this status; both where absent.'),
  }),
  ({ since, until }, loc) =>
    typeof until === 'string' && Date.parse(until) <= Date.parse(since)
      ? [issues.value([...loc, 'until'], 'has to be later than since')]
      : [],
);

export type Recovery = z.output<typeof recovery>;
