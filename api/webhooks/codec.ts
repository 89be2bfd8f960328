/** Webhook subscriptions: REST ↔ WebhookSubscriptionSpec. Pure. */
import { subscriptionNameOf, wellKnown, type WebhookSubscription, type WebhookSubscriptionSpec } from '../../crds/index.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import type { Stored } from '../../kube/types.ts';
import { durationOfMilliseconds } from '../codec/duration.ts';
import { headersFromRest, type Header } from '../codec/headers.ts';
import { present, updated, type Draft } from '../codec/present.ts';
import { headerUses, movedSecrets, type SecretUse } from '../codec/secret-origins.ts';
import type { SecretWriter } from '../codec/secrets.ts';
import { writtenAt } from '../resources/written-at.ts';
import type { ResourceState } from '../state/resource-state.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { isPlain } from './header-values.ts';
import { retryStrategies, type SubscriptionCreate, type SubscriptionUpdate } from './schema.ts';

type Spec = WebhookSubscriptionSpec;
type Strategy = Spec['retryPolicy']['strategy'];
type RestStrategy = (typeof retryStrategies)[number];

const strategies: Readonly<Record<RestStrategy, Strategy>> = {
  FIXED_DELAY: 'FixedDelay',
  EXPONENTIAL_BACKOFF: 'ExponentialBackoff',
  NO_RETRY: 'None',
};

/** What a subscription has where nothing is said; written all the same: what the API server fills in would be nobody's. */
const defaults = { active: true, requestTimeout: '1s', strategy: 'FixedDelay', maxAttempts: 3, maxDelay: '10s' } as const;

export interface SubscriptionView {
  /** Switched off by the deliveries themselves. */
  readonly disabled: boolean;
  readonly state: ResourceState;
  /** Absent in lists. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The subscription of the contract, without its secret. */
export function subscriptionToRest(
  subscription: Stored<WebhookSubscription>,
  { disabled, state, headers }: SubscriptionView,
): Readonly<Record<string, unknown>> {
  const { metadata, spec } = subscription;
  const { agentRefs, workspaces } = spec.scope ?? {};
  return present({
    id: metadata.name,
    organization_id: metadata.namespace ?? '',
    scope: scopeOf(spec.scope),
    created_user_id: metadata.annotations?.[wellKnown.createdBy],
    name: subscriptionNameOf(subscription),
    url: spec.url,
    events: spec.events ?? [],
    active: spec.active && !disabled,
    headers: headers === undefined || Object.keys(headers).length === 0 ? undefined : headers,
    description: spec.description,
    agent_ids: agentRefs?.map(({ name }) => name),
    workspace_ids: workspaces,
    request_timeout_ms: wholeMilliseconds(spec.requestTimeout),
    retry_policy: {
      retryStrategy: retryStrategies.find((each) => strategies[each] === spec.retryPolicy.strategy) ?? 'FIXED_DELAY',
      maxRetryAttempts: spec.retryPolicy.maxAttempts,
      maxRetryDelayMs: wholeMilliseconds(spec.retryPolicy.maxDelay),
    },
    signing_enabled: spec.signing !== undefined,
    state,
    created_at: metadata.creationTimestamp,
    updated_at: writtenAt(subscription),
  });
}

export interface SubscriptionEncoding {
  readonly secrets: SecretWriter;
  /** Names that exist. */
  readonly eventNames: ReadonlySet<string>;
  readonly found: ValidationIssue[];
}

/**
 * @param stored the subscription, of whose spec everything is kept that the request doesn't name
 * @returns the whole spec as it should be; failures are added to `encoding.found`
 */
export function subscriptionFromRest(
  body: SubscriptionCreate | SubscriptionUpdate,
  stored: Stored<WebhookSubscription> | undefined,
  encoding: SubscriptionEncoding,
): Draft<Spec> {
  const { secrets, found } = encoding;
  const previous = stored?.spec;
  const desired = present({
    ...previous,
    // Called by its `metadata.name` it has no name of its own.
    displayName:
      stored !== undefined && body.name === subscriptionNameOf(stored) ? previous?.displayName : (body.name ?? previous?.displayName),
    url: body.url ?? previous?.url,
    description: updated(body.description, previous?.description, same),
    events: updated(body.events, previous?.events, (names) =>
      keepingEmpty(knownEvents(names, previous?.events, encoding), previous?.events),
    ),
    active: updated(body.active, previous?.active, same) ?? defaults.active,
    headers: updated(body.headers, previous?.headers, (headers) =>
      keepingEmpty(
        headersFromRest(headers, {
          previous: previous?.headers,
          secrets,
          purpose: 'headers',
          loc: ['body', 'headers'],
          found,
          isSecret: () => true,
        }),
        previous?.headers,
      ),
    ),
    requestTimeout:
      updated(body.request_timeout_ms, previous?.requestTimeout, (ms) => durationOf(ms, previous?.requestTimeout)) ??
      defaults.requestTimeout,
    retryPolicy: retryPolicyFromRest(body.retry_policy, previous?.retryPolicy),
    signing: body.enable_signed_webhooks === undefined ? previous?.signing : signingFromRest(body.enable_signed_webhooks, previous),
    scope: scopeFromRest(body, previous?.scope, found),
  }) as Draft<Spec>;
  if (stored !== undefined) found.push(...movedSecrets(secretUses(stored.spec, stored), secretUses(desired, stored), secrets));
  return desired;
}

/** Where a subscription sends which secret. What signs deliveries isn't sent, and what everybody may see is no secret. */
function secretUses({ headers, url }: Draft<Spec>, { metadata }: Stored<WebhookSubscription>): readonly SecretUse[] {
  const isShown = (header: Header): boolean => isPlain(header, metadata);
  return headerUses(headers, { url, field: 'url', loc: ['body', 'headers'], isShown });
}

const same = <T>(value: T): T => value;

/** An empty list means what an absent one means: it stays as it was written. */
function keepingEmpty<T>(list: readonly T[], previous: readonly T[] | undefined): readonly T[] | undefined {
  if (list.length > 0) return list;
  return previous?.length === 0 ? previous : undefined;
}

function signingFromRest(wanted: boolean, previous: Spec | undefined): Spec['signing'] {
  return wanted ? (previous?.signing ?? {}) : undefined;
}

function scopeOf(scope: Draft<Spec['scope']>): 'ORGANIZATION' | 'WORKSPACE' | 'AGENT' {
  if (scope?.agentRefs !== undefined) return 'AGENT';
  return scope?.workspaces === undefined ? 'ORGANIZATION' : 'WORKSPACE';
}

/** A list takes the place of the other one; an empty list, or null, takes its own away. */
function scopeFromRest(
  { agent_ids: agents, workspace_ids: workspaces, scope: said }: SubscriptionCreate | SubscriptionUpdate,
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
      ? { workspaces: workspaces ?? [] }
      : cleared
        ? undefined
        : previous;
  if (said !== undefined && said !== scopeOf(scope)) {
    const cure = { AGENT: 'give agent_ids', WORKSPACE: 'give workspace_ids', ORGANIZATION: 'give the list that limits it as []' };
    found.push(issues.value(['body', 'scope'], `the lists make it ${scopeOf(scope)}: ${cure[said]}, or leave scope out`));
  }
  return scope;
}

function retryPolicyFromRest(
  sent: SubscriptionCreate['retry_policy'],
  previous: Spec['retryPolicy'] | undefined,
): Draft<Spec['retryPolicy']> {
  const { retryStrategy, maxRetryAttempts, maxRetryDelayMs } =
    sent === null ? { retryStrategy: null, maxRetryAttempts: null, maxRetryDelayMs: null } : (sent ?? {});
  return {
    ...previous,
    strategy: updated(retryStrategy, previous?.strategy, (each) => strategies[each]) ?? defaults.strategy,
    maxAttempts: updated(maxRetryAttempts, previous?.maxAttempts, same) ?? defaults.maxAttempts,
    maxDelay: updated(maxRetryDelayMs, previous?.maxDelay, (ms) => durationOf(ms, previous?.maxDelay)) ?? defaults.maxDelay,
  };
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

const wholeMilliseconds = (duration: string): number => Math.round(millisecondsOf(duration));

/** As it was typed, as long as it means the same here. */
function durationOf(ms: number, previous: string | undefined): string {
  return previous !== undefined && wholeMilliseconds(previous) === ms ? previous : durationOfMilliseconds(ms);
}
