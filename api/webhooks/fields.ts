/** Lists every field of webhook subscriptions in REST. Pure. */
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
import { choice, listUnlessEmpty, milliseconds, references, trimmedName, unlessEmpty } from '../codec/conversions.ts';
import {
  answerShape,
  createShape,
  fieldNamesOf,
  inOrder,
  readFields,
  updateShape,
  writeFields,
  type Conversion,
  type Encoding,
  type Decoding,
} from '../codec/fields.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import { headerSecrets, headersFromRest, type Header } from '../codec/headers.ts';
import type { Draft } from '../codec/draft.ts';
import { bodySchema, distinct, itemOf, listLike, mapLike, without } from '../codec/rest-schema.ts';
import { masked } from '../codec/secrets.ts';
import { writtenAt } from '../resources/written-at.ts';
import { resourceState } from '../state/answers.ts';
import type { ResourceState } from '../state/resource-state.ts';
import { answersOnly } from '../validation/request.ts';
import { sentAs, volatile, type AnsweredField } from '../validation/unknown-fields.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { withRule } from '../validation/validate.ts';
import { isPlain } from './header-values.ts';

type Spec = WebhookSubscriptionSpec;
type Scope = 'ORGANIZATION' | 'WORKSPACE' | 'AGENT';
type Subscription = Stored<WebhookSubscription>;

export interface SubscriptionView {
  /** Set where failing deliveries have switched the subscription off. */
  readonly disabled: boolean;
  readonly state: ResourceState;
  /** Absent in lists. */
  readonly headers?: Readonly<Record<string, string>>;
}

type SubscriptionReading = Decoding & SubscriptionView;

export interface SubscriptionEncoding extends Encoding {
  readonly eventNames: ReadonlySet<string>;
  /** The subscription to change; absent for a new one. */
  readonly subscription?: Subscription | undefined;
  readonly answered?: readonly AnsweredField[];
}

/** Header values that HTTP carries everywhere: visible ASCII, spaces and tabs, and neither at the ends, where they would get lost. */
const HEADER_VALUE = /^([\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?)?$/;

const reservedName = `this name is reserved: it can be none of ${reservedHeaders.join(', ')}, nor begin with ${reservedHeaderPrefixes.join(' or ')}`;

const headers: Conversion<readonly Header[], Readonly<Record<string, string>>, Readonly<Record<string, string>>, SubscriptionEncoding> = {
  body: (stored) =>
    withRule(mapLike(stored, z.string().max(4096).regex(HEADER_VALUE)).meta({ id: 'WebhookHeadersCreate' }), (map, loc) => {
      const seen = new Set<string>();
      return Object.keys(map).flatMap((header) => {
        const lower = header.toLowerCase();
        if (seen.has(lower)) return [issues.value([...loc, header], 'this header is there twice, in different cases')];
        seen.add(lower);
        return isReservedHeader(header) ? [issues.value([...loc, header], reservedName)] : [];
      });
    }),
  answer: () => z.record(z.string(), z.string()),
  // The caller's view of the headers is computed earlier: see SubscriptionView.
  read: () => undefined,
  write: (sent, { stored: previous }, { secrets, loc, found }) =>
    unlessEmpty(
      headersFromRest(sent, { previous, secrets, purpose: 'headers', loc: [...loc, 'headers'], found, isSecret: () => true }),
      previous,
    ),
  below: { '.*': '' },
  // Requests don't send signing secrets, and a value that every reader may see is no secret.
  secretsIn(list, encoding) {
    const { metadata } = encoding?.subscription ?? {};
    return headerSecrets(list, metadata && ((header) => isPlain(header, metadata)));
  },
};

const subscribedEvents: Conversion<readonly string[], readonly string[], readonly string[], SubscriptionEncoding> = {
  ...listUnlessEmpty,
  body: (stored) =>
    withRule(
      without(listLike(stored, without(bodySchema(itemOf(stored)), 'string_format')), 'min_length'),
      distinct('events', (name) => name),
    ),
  write: (names, { stored }, encoding) => unlessEmpty(knownEvents(names, stored, encoding), stored),
};

/** Converts `suspend` to its opposite; one that is stored as false stays. */
const opposite: Conversion<boolean, boolean> = {
  body: () => z.boolean(),
  answer: () => z.boolean(),
  read: (suspended) => !suspended,
  write: (active, { stored }) => (active && stored !== false ? undefined : !active),
};

const count = () => z.int().min(0);
const strategies = { FIXED_DELAY: 'FixedDelay', EXPONENTIAL_BACKOFF: 'ExponentialBackoff' } as const;
const scopes = z.enum(['ORGANIZATION', 'WORKSPACE', 'AGENT']).meta({ id: 'WebhookScope' });

const { field, answered, restField, group } = fieldsOf<
  typeof webhookSubscriptionKind.spec,
  Subscription,
  SubscriptionReading,
  SubscriptionEncoding
>(webhookSubscriptionKind.spec);

const retryPolicy = group(
  {
    retryStrategy: field('retryPolicy.strategy', { as: choice(strategies), id: 'WebhookRetryStrategy', ownsDefault: true }),
    maxRetryAttempts: field('retryPolicy.maxRetries', { text: 'Retries after the first attempt.', ownsDefault: true }),
    maxRetryDelayMs: field('retryPolicy.delay', {
      as: milliseconds,
      text: 'The wait of `FIXED_DELAY`, the longest one of `EXPONENTIAL_BACKOFF`.',
      ownsDefault: true,
    }),
  },
  { name: 'WebhookRetryPolicy', path: 'retryPolicy' },
);

const fields = {
  id: answered(
    z.string().describe('Name of the WebhookSubscription resource in the namespace of the organisation.'),
    ({ metadata }) => metadata.name,
  ),
  organization_id: answered(z.string().describe('The organisation: its namespace.'), ({ metadata }) => metadata.namespace ?? ''),
  created_user_id: answered(
    z.string().optional().describe('Who made it; absent where no user is known.'),
    ({ metadata }) => metadata.annotations?.[wellKnown.createdBy],
  ),
  name: field('displayName', {
    as: trimmedName,
    required: true,
    text: 'Unique in the organisation. Spaces around it are dropped.',
    answer: z.string(),
    read: subscriptionNameOf,
  }),
  url: field('url', {
    // The contract has this length and pattern.
    body: () =>
      z
        .string()
        .max(2048)
        .regex(/^https?:\/\/.*/),
    text: 'Where events are posted. An address on the public internet, without a user name or password in it.',
  }),
  enable_signed_webhooks: restField({
    path: 'signing',
    also: ['signing.mode', 'signing.secretRef'],
    create: z.boolean().describe('true: deliveries are signed, and the answer holds the secret, once.'),
    update: z
      .boolean()
      .optional()
      .describe(
        'true for an unsigned subscription: it is signed from now on, and the answer holds the secret, once. false: no longer signed.',
      ),
    write(wanted, spec) {
      if (wanted === undefined || wanted === isSigned(spec)) return spec;
      return { ...spec, signing: { mode: wanted ? 'Generated' : 'None' } };
    },
  }),
  active: field('suspend', {
    as: opposite,
    text: { body: 'false: nothing is sent.', answer: 'false: paused, or disabled because nothing but failures came back.' },
    empty: true,
    read: ({ spec }, { disabled }) => spec.suspend !== true && !disabled,
  }),
  events: field('events', {
    as: subscribedEvents,
    text: {
      body: 'Names of event types, in their own spelling (see `listWebhookEventTypes`). Empty, absent or `["*"]` means all.',
      answer: 'Empty or `["*"]` means all events.',
    },
    empty: [],
  }),
  headers: field('headers', {
    as: headers,
    text: {
      body: 'Sent with every delivery. Values are kept in a Secret; those of headers whose names suggest credentials are shown as `"********"` unless the key holds `secrets:read`. The mask sent back means "unchanged", while `url` keeps its scheme, host and port.',
      answer: 'Omitted when unset. Values that may not be seen, or can not be read just now, are `"********"`.',
    },
    read: (_, { headers: shown = {} }) => (Object.keys(shown).length === 0 ? undefined : shown),
    sentTo: ({ url: to = '' }) => ({ url: originOf(to) }),
  }),
  description: field('description', { text: { body: 'A note for people.', answer: 'Omitted when unset.' } }),
  agent_ids: field('scope.agentRefs', {
    as: { ...references, body: (stored) => without(references.body(stored), 'min_length') },
    text: { body: 'Only events of these AI agents.', answer: 'The agents whose events it gets; with the scope `AGENT`.' },
    write: (_, spec) => spec,
  }),
  workspace_ids: field('scope.workspaces', {
    as: listUnlessEmpty,
    text: {
      body: 'Only events of objects in these workspaces: values of the label `parley.dev/workspace`.',
      answer: 'The workspaces whose events it gets; with the scope `WORKSPACE`.',
    },
    write: (_, spec) => spec,
  }),
  scope: restField({
    path: 'scope.type',
    create: scopes.optional().describe('Follows from the lists. May be sent along; it has to be what they make it.'),
    answer: scopes.describe('Whose events it gets: all, or those of what the lists name.'),
    read: ({ spec }) => scopeOf(spec.scope),
    write: (_, spec, { found }, body: SentScope) => {
      const { scope: before, ...others } = spec ?? {};
      const scope = scopeFromRest(body, before, found);
      return scope === undefined ? others : { ...others, scope };
    },
  }),
  request_timeout_ms: field('requestTimeout', { as: milliseconds, ownsDefault: true }),
  retry_policy: retryPolicy,
  signing_enabled: restField({
    answer: sentAs(z.boolean().describe('Whether deliveries are signed.'), 'enable_signed_webhooks'),
    read: ({ spec }) => isSigned(spec),
    // A client that sends the answer's field wants to switch signing on or off.
    write: (_, spec, { answered: sent = [], found }) => {
      found.push(...sent.filter(({ path, value }) => path[0] === 'signing_enabled' && value !== isSigned(spec)).map(answersOnly));
      return spec;
    },
  }),
  state: answered(resourceState, (_, { state }) => state),
  created_at: answered(z.iso.datetime().describe('When it was made.'), ({ metadata }) => metadata.creationTimestamp),
  updated_at: answered(volatile(z.iso.datetime().describe('When its settings last changed, by whatever means.')), writtenAt),
} as const;

/** The object is closed: a misnamed scope would subscribe to everything. */
export const subscriptionCreate = z.strictObject(createShape(fields));

export type SubscriptionCreate = z.output<typeof subscriptionCreate>;

/** Absent fields keep their value, also within `retry_policy`; `null` brings back the default. */
export const subscriptionUpdate = z.strictObject(updateShape(fields));

export type SubscriptionUpdate = z.output<typeof subscriptionUpdate>;

const { headers: _headers, ...itemFields } = fields;
const answerFields = inOrder(answerShape(fields), ['id', 'organization_id', 'scope', 'created_user_id', 'name', 'url', 'events']);

export const subscriptionItem = z
  .object(inOrder(answerShape(itemFields), ['id', 'organization_id', 'scope', 'created_user_id', 'name', 'url', 'events']))
  .meta({ id: 'WebhookSubscriptionItem' });
export const subscriptionAnswer = z.object(answerFields).meta({ id: 'WebhookSubscription' });
export const subscriptionWithSecret = z
  .object({
    ...answerFields,
    secret: volatile(
      z
        .string()
        .regex(/^whsec_/)
        .optional()
        .describe('The signing secret. Only here and now: it is never answered again.'),
    ),
  })
  .meta({ id: 'WebhookSubscriptionWithSecret' });

export const subscriptionList = z
  .object({
    data: z.array(subscriptionItem).describe('The subscriptions on this page.'),
    next_page_token: z.string().nullable().describe('For `page_token` of the next page; null on the last one.'),
    total_count: count().describe('How many there are on all pages together.'),
  })
  .meta({ id: 'WebhookSubscriptionList' });

/** Maps paths of a WebhookSubscription's spec to REST's names. */
export const webhookFieldNames = fieldNamesOf(fields);

export function subscriptionToRest(subscription: Subscription, view: SubscriptionView): Readonly<Record<string, unknown>> {
  return readFields(fields, subscription, { secrets: masked, ...view });
}

/** Writes the fields of a request into the spec. @see writeFields */
export function subscriptionFromRest(
  body: SubscriptionCreate | SubscriptionUpdate,
  subscription: Subscription | undefined,
  encoding: Omit<SubscriptionEncoding, 'subscription' | 'objectName'>,
): Draft<Spec> {
  const own: SubscriptionEncoding = { ...encoding, subscription, objectName: subscription?.metadata.name };
  return writeFields(fields, body, subscription?.spec, own);
}

function isSigned(spec: Draft<Spec> | undefined): boolean {
  return (spec?.signing?.mode ?? 'None') !== 'None';
}

function scopeOf(scope: Draft<Spec['scope']>): Scope {
  if (scope?.agentRefs !== undefined) return 'AGENT';
  return scope?.workspaces === undefined ? 'ORGANIZATION' : 'WORKSPACE';
}

interface SentScope {
  readonly agent_ids?: readonly string[] | null | undefined;
  readonly workspace_ids?: readonly string[] | null | undefined;
  readonly scope?: Scope | undefined;
}

/** Writes the scope. A list takes the place of the other one; an empty list, or null, takes its own away. */
function scopeFromRest(
  { agent_ids: agents, workspace_ids: workspaces, scope: said }: SentScope,
  previous: Draft<Spec['scope']>,
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
    ? { type: 'AgentRefs', agentRefs: (agents ?? []).map((name) => ({ name })) }
    : named.workspaces
      ? { type: 'Workspaces', workspaces: [...(workspaces ?? [])] }
      : cleared
        ? undefined
        : previous;
  if (said !== undefined && said !== scopeOf(scope)) {
    const cure = { AGENT: 'give agent_ids', WORKSPACE: 'give workspace_ids', ORGANIZATION: 'give the list that limits it as []' };
    found.push(issues.value(['body', 'scope'], `the lists make it ${scopeOf(scope)}: ${cure[said]}, or leave scope out`));
  }
  return scope;
}

/** Checks event names. A stored name may be sent back: a newer version may have known it. */
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
