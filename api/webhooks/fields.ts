/** Webhook subscriptions in REST: every field. Pure. */
import { z } from 'zod';

import { originOf } from '../../crds/address.ts';
import { isReservedHeader, reservedHeaderPrefixes, reservedHeaders } from '../../crds/delivery-header.ts';
import {
  subscriptionNameOf,
  webhookSubscriptionKind,
  wellKnown,
  type WebhookSubscription,
  type WebhookSubscriptionSpec,
} from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { choice, milliseconds, trimmedName, unlessEmpty } from '../codec/conversions.ts';
import { describeFields } from '../codec/describe-fields.ts';
import {
  answerShape,
  createShape,
  field,
  fieldNamesOf,
  group,
  inOrder,
  readFields,
  updateShape,
  writeFields,
  type Encoding,
  type Decoding,
} from '../codec/fields.ts';
import { headerSecrets, headersFromRest, type Header } from '../codec/headers.ts';
import type { Draft } from '../codec/present.ts';
import { displayName, distinctTexts } from '../codec/schemas.ts';
import { masked } from '../codec/secrets.ts';
import { writtenAt } from '../resources/written-at.ts';
import { resourceState } from '../state/answers.ts';
import type { ResourceState } from '../state/resource-state.ts';
import { sentAs } from '../validation/unknown-fields.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { withRule } from '../validation/validate.ts';
import { isPlain } from './header-values.ts';

type Spec = WebhookSubscriptionSpec;
type Scope = 'ORGANIZATION' | 'WORKSPACE' | 'AGENT';
type Subscription = Stored<WebhookSubscription>;

export interface SubscriptionView {
  /** Switched off by the deliveries themselves. */
  readonly disabled: boolean;
  readonly state: ResourceState;
  /** Absent in lists. */
  readonly headers?: Readonly<Record<string, string>>;
}

type SubscriptionReading = Decoding & SubscriptionView;

export interface SubscriptionEncoding extends Encoding {
  /** Names that exist. */
  readonly eventNames: ReadonlySet<string>;
  /** The subscription that is to change. */
  readonly subscription?: Subscription | undefined;
}

/** What HTTP can carry everywhere: visible ASCII, spaces and tabs, and neither at the ends, where they would get lost. */
const headerValue = z
  .string()
  .max(4096)
  .regex(/^([\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?)?$/);

const reservedName = `this name is reserved: it can be none of ${reservedHeaders.join(', ')}, nor begin with ${reservedHeaderPrefixes.join(' or ')}`;

const headerSchema = withRule(
  z
    .record(
      z
        .string()
        .max(256)
        .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/),
      headerValue,
    )
    .meta({
      id: 'WebhookHeadersCreate',
      maxProperties: 32,
      description:
        'Sent with every delivery. Values are kept in a Secret; those of headers whose names suggest credentials are shown as `"********"` unless the key holds `secrets:read`. The mask sent back means "unchanged", while `url` keeps its scheme, host and port.',
    }),
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

const count = () => z.int().min(0);
const nameSchema = displayName(200, 'Unique in the organisation.');
const urlSchema = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/.*/)
  .describe('Where events are posted. An address on the public internet, without a user name or password in it.');
const strategies = { FIXED_DELAY: 'FixedDelay', EXPONENTIAL_BACKOFF: 'ExponentialBackoff', NO_RETRY: 'None' } as const;
const scopes = z.enum(['ORGANIZATION', 'WORKSPACE', 'AGENT']).meta({ id: 'WebhookScope' });
const retryStrategy = z.enum(['FIXED_DELAY', 'EXPONENTIAL_BACKOFF', 'NO_RETRY']).meta({ id: 'WebhookRetryStrategy' });

const retryPolicy = group(
  {
    retryStrategy: field({
      path: 'retryPolicy.strategy',
      as: choice(strategies),
      create: retryStrategy.nullish().describe('How the wait between attempts grows; `FIXED_DELAY` where absent.'),
      answer: retryStrategy,
      default: 'FixedDelay',
    }),
    maxRetryAttempts: field({
      path: 'retryPolicy.maxAttempts',
      create: z.int().min(0).max(10).nullish().describe('Attempts after the first one; 3 where absent.'),
      answer: count(),
      default: 3,
    }),
    maxRetryDelayMs: field({
      path: 'retryPolicy.maxDelay',
      as: milliseconds,
      create: z
        .int()
        .min(0)
        .max(3_600_000)
        .nullish()
        .describe('The wait of `FIXED_DELAY`, the longest one of `EXPONENTIAL_BACKOFF`, in milliseconds; 10000 where absent.'),
      answer: count(),
      default: '10s',
    }),
  },
  { name: 'WebhookRetryPolicy', path: 'retryPolicy' },
);
const retryPolicyBody = retryPolicy.create.nullish();

const fields = {
  id: field({
    answer: z.string().describe('Name of the WebhookSubscription resource in the namespace of the organisation.'),
    read: ({ metadata }: Subscription) => metadata.name,
  }),
  organization_id: field({
    answer: z.string().describe('The organisation: its namespace.'),
    read: ({ metadata }: Subscription) => metadata.namespace ?? '',
  }),
  created_user_id: field({
    answer: z.string().optional().describe('Who made it; absent where no user is known.'),
    read: ({ metadata }: Subscription) => metadata.annotations?.[wellKnown.createdBy],
  }),
  name: field({
    path: 'displayName',
    as: trimmedName,
    create: nameSchema,
    update: nameSchema.optional(),
    answer: z.string(),
    read: (subscription: Subscription) => subscriptionNameOf(subscription),
  }),
  url: field({ path: 'url', create: urlSchema, update: urlSchema.optional(), answer: z.string() }),
  enable_signed_webhooks: field({
    path: 'signing',
    also: ['signing.secretRef'],
    create: z.boolean().describe('true: deliveries are signed, and the answer holds the secret, once.'),
    update: z
      .boolean()
      .optional()
      .describe(
        'true for an unsigned subscription: it is signed from now on, and the answer holds the secret, once. false: no longer signed.',
      ),
    as: { read: (stored) => stored, write: (wanted: boolean, { stored }) => (wanted ? (stored ?? {}) : undefined) },
  }),
  active: field({
    path: 'active',
    create: z.boolean().describe('false: nothing is sent.').nullish(),
    answer: z.boolean().describe('false: paused, or disabled because nothing but failures came back.'),
    default: true,
    read: ({ spec }: Subscription, { disabled }: SubscriptionReading) => spec.active && !disabled,
  }),
  events: field({
    path: 'events',
    as: {
      read: (stored) => stored,
      write: (names: readonly string[], { stored }, encoding: SubscriptionEncoding) =>
        unlessEmpty(knownEvents(names, stored as readonly string[] | undefined, encoding), stored),
      below: { '.*': '.*' },
    },
    create: distinctTexts(
      z.string().min(1).max(128),
      64,
      'events',
      'Names of event types, in their own spelling (see `listWebhookEventTypes`). Empty, absent or `["*"]` means all.',
    ).nullish(),
    answer: z.array(z.string()).describe('Empty or `["*"]`: all.'),
    empty: [],
  }),
  headers: field({
    path: 'headers',
    as: {
      read: (stored) => stored,
      write: (sent: Readonly<Record<string, string>>, { stored }, { secrets, loc, found }) => {
        const previous = stored as readonly Header[] | undefined;
        const options = { previous, secrets, purpose: 'headers', loc: [...loc, 'headers'], found, isSecret: () => true };
        return unlessEmpty(headersFromRest(sent, options), previous);
      },
      below: { '.*': '' },
      // Signing secrets are not sent, and what every reader may see is no secret.
      secretsIn: (list: readonly Header[], { subscription }: SubscriptionEncoding) =>
        headerSecrets(list, subscription && ((header) => isPlain(header, subscription.metadata))),
    },
    create: headerSchema.nullish(),
    answer: z
      .record(z.string(), z.string())
      .optional()
      .describe('Omitted when unset. Values that may not be seen, or can not be read just now, are `"********"`.'),
    read: (_: Subscription, { headers: shown }: SubscriptionReading) =>
      shown === undefined || Object.keys(shown).length === 0 ? undefined : shown,
    sentTo: ({ url: to = '' }: Draft<Spec>) => ({ url: originOf(to) }),
  }),
  description: field({
    path: 'description',
    create: z.string().max(1500).describe('A note for people.').nullish(),
    answer: z.string().optional().describe('Omitted when unset.'),
  }),
  agent_ids: field({
    path: 'scope.agentRefs',
    as: {
      read: (stored: readonly { readonly name: string }[]) => stored.map((ref) => ref.name),
      write: (sent) => sent,
      below: { '.*': '.*', '.*.name': '.*' },
    },
    create: distinctTexts(z.string().min(1).max(253), 100, 'ids', 'Only events of these AI agents.').nullish(),
    answer: z.array(z.string()).optional().describe('With the scope `AGENT`.'),
    write: (_, spec) => spec,
  }),
  workspace_ids: field({
    path: 'scope.workspaces',
    as: { read: (stored) => stored, write: (sent) => sent, below: { '.*': '.*' } },
    create: distinctTexts(
      z.string().min(1).max(63),
      100,
      'ids',
      'Only events of objects in these workspaces: values of the label `parley.dev/workspace`.',
    ).nullish(),
    answer: z.array(z.string()).optional().describe('With the scope `WORKSPACE`.'),
    write: (_, spec) => spec,
  }),
  scope: field({
    create: scopes.optional().describe('Follows from the lists. May be sent along; it has to be what they make it.'),
    answer: scopes.describe('Whose events it gets: all, or those of what the lists name.'),
    read: ({ spec }: Subscription) => scopeOf(spec.scope),
    write: (_, spec: Draft<Spec> | undefined, { found }: SubscriptionEncoding, body: SentScope) => {
      const { scope: before, ...others } = spec ?? {};
      const scope = scopeFromRest(body, before, found);
      return scope === undefined ? others : { ...others, scope };
    },
  }),
  request_timeout_ms: field({
    path: 'requestTimeout',
    as: milliseconds,
    create: z.int().min(100).max(30_000).describe('Longest time for one attempt, in milliseconds; 1000 where absent.').nullish(),
    answer: count(),
    default: '1s',
  }),
  retry_policy: {
    ...retryPolicy,
    create: retryPolicyBody,
    update: retryPolicyBody,
  },
  signing_enabled: field({
    answer: sentAs(z.boolean().describe('Whether deliveries are signed.'), 'enable_signed_webhooks'),
    read: ({ spec }: Subscription) => spec.signing !== undefined,
  }),
  state: field({ answer: resourceState, read: (_: Subscription, { state }: SubscriptionReading) => state }),
  created_at: field({
    answer: z.iso.datetime().describe('When it was made.'),
    read: ({ metadata }: Subscription) => metadata.creationTimestamp,
  }),
  updated_at: field({ answer: z.iso.datetime().describe('When its settings last changed, by whatever means.'), read: writtenAt }),
} as const;

describeFields(webhookSubscriptionKind.spec, fields);

/** Closed: a misnamed scope would subscribe to everything. */
export const subscriptionCreate = z.strictObject(createShape(fields));

export type SubscriptionCreate = z.output<typeof subscriptionCreate>;

/** Absent fields keep their value, also within `retry_policy`; `null` brings back the default. */
export const subscriptionUpdate = z.strictObject(updateShape(fields));

export type SubscriptionUpdate = z.output<typeof subscriptionUpdate>;

const { headers: _headers, ...itemFields } = fields;
const answered = inOrder(answerShape(fields), ['id', 'organization_id', 'scope', 'created_user_id', 'name', 'url', 'events']);

export const subscriptionItem = z
  .object(inOrder(answerShape(itemFields), ['id', 'organization_id', 'scope', 'created_user_id', 'name', 'url', 'events']))
  .meta({ id: 'WebhookSubscriptionItem' });
export const subscriptionAnswer = z.object(answered).meta({ id: 'WebhookSubscription' });
export const subscriptionWithSecret = z
  .object({
    ...answered,
    secret: z
      .string()
      .regex(/^whsec_/)
      .optional()
      .describe('The signing secret. Only here and now: it is never answered again.'),
  })
  .meta({ id: 'WebhookSubscriptionWithSecret' });

export const subscriptionList = z
  .object({
    data: z.array(subscriptionItem).describe('The subscriptions on this page.'),
    next_page_token: z.string().nullable().describe('For `page_token` of the next page; null on the last one.'),
    total_count: count().describe('Of all pages.'),
  })
  .meta({ id: 'WebhookSubscriptionList' });

/** Paths of a WebhookSubscription's spec in REST's words. */
export const webhookFieldNames = fieldNamesOf(fields);

/** The subscription of the contract, without its secret. */
export function subscriptionToRest(subscription: Subscription, view: SubscriptionView): Readonly<Record<string, unknown>> {
  return readFields(fields, subscription, { secrets: masked, ...view });
}

/** @see writeFields */
export function subscriptionFromRest(
  body: SubscriptionCreate | SubscriptionUpdate,
  subscription: Subscription | undefined,
  encoding: Omit<SubscriptionEncoding, 'subscription' | 'objectName'>,
): Draft<Spec> {
  const own: SubscriptionEncoding = { ...encoding, subscription, objectName: subscription?.metadata.name };
  return writeFields(fields, body, subscription?.spec, own);
}

function scopeOf(scope: Draft<Spec['scope']>): Scope {
  if (scope?.agentRefs !== undefined) return 'AGENT';
  return scope?.workspaces === undefined ? 'ORGANIZATION' : 'WORKSPACE';
}

/** What a request says of the scope. */
interface SentScope {
  readonly agent_ids?: readonly string[] | null | undefined;
  readonly workspace_ids?: readonly string[] | null | undefined;
  readonly scope?: Scope | undefined;
}

/** A list takes the place of the other one; an empty list, or null, takes its own away. */
function scopeFromRest(
  { agent_ids: agents, workspace_ids: workspaces, scope: said }: SentScope,
  previous: Spec['scope'],
  found: ValidationIssue[],
): Draft<Spec['scope']> {
  const named = { agents: (agents ?? []).length > 0, workspaces: (workspaces ?? []).length > 0 };
  if (named.agents && named.workspaces) {
    const message = 'give agent_ids or workspace_ids: a subscription is for agents or for workspaces';
    found.push(issues.value(['body', 'agent_ids'], message), issues.value(['body', 'workspace_ids'], message));
    return previous;
  }
  const cleared =
    (agents !== undefined && previous?.agentRefs !== undefined) || (workspaces !== undefined && previous?.workspaces !== undefined);
  const scope: Draft<Spec['scope']> = named.agents
    ? { agentRefs: (agents ?? []).map((name) => ({ name })) }
    : named.workspaces
      ? { workspaces: [...(workspaces ?? [])] }
      : cleared
        ? undefined
        : previous;
  if (said !== undefined && said !== scopeOf(scope)) {
    const cure = { AGENT: 'give agent_ids', WORKSPACE: 'give workspace_ids', ORGANIZATION: 'give the list that limits it as []' };
    found.push(issues.value(['body', 'scope'], `the lists make it ${scopeOf(scope)}: ${cure[said]}, or leave scope out`));
  }
  return scope;
}

/** What is stored already may be sent back: a newer version may have known it. */
function knownEvents(
  names: readonly string[],
  previous: readonly string[] | undefined,
  { eventNames, found }: SubscriptionEncoding,
): string[] {
  const unknown = names.filter((name) => name !== '*' && !eventNames.has(name) && previous?.includes(name) !== true);
  if (unknown.length > 0) {
    const listed = unknown.map((name) => JSON.stringify(name)).join(', ');
    found.push(
      issues.value(['body', 'events'], `there is no event ${listed}; there are ${[...eventNames].join(', ')}, and * for all of them`),
    );
  }
  if (names.includes('*') && names.length > 1) found.push(issues.value(['body', 'events'], '"*" means all events: give it alone'));
  return [...names];
}
