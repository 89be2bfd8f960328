/** Reads the resources that events go to. */
import { millisecondsOf } from '../../crds/duration.ts';
import { companionName, wellKnown, type Agent, type WebhookSubscription } from '../../crds/index.ts';
import type { Stored } from '../../kube/index.ts';
import type { Endpoint, HeaderSource, RetryPolicy, SubscriptionScope } from './endpoint.ts';

/** Timeout of the implicit endpoint of an agent, and of a subscription by default. */
const DEFAULT_TIMEOUT_MS = 1_000;
export const DEFAULT_RETRY_POLICY: RetryPolicy = { strategy: 'FixedDelay', maxRetries: 3, delayMs: 10_000 };

const noEvents: readonly string[] = [];
const noHeaders: readonly HeaderSource[] = [];

/** @returns undefined for a subscription that is being deleted: it gets nothing more */
export function endpointOfSubscription({ metadata, spec }: Stored<WebhookSubscription>): Endpoint | undefined {
  if (metadata.deletionTimestamp !== undefined) return undefined;
  const { strategy, maxRetries, delay } = spec.retryPolicy;
  const scope = scopeOf(spec.scope);
  const signingSecret = signingSecretOf(spec, metadata.name);
  return {
    ...identity(metadata),
    kind: 'WebhookSubscription',
    url: spec.url,
    events: spec.events === undefined || spec.events.includes('*') ? noEvents : spec.events,
    active: spec.suspend !== true,
    ...(scope === undefined ? {} : { scope }),
    timeoutMs: millisecondsOf(spec.requestTimeout),
    retry: { strategy, maxRetries, delayMs: millisecondsOf(delay) },
    ...(signingSecret === undefined ? {} : { signingSecret }),
    headers: spec.headers === undefined || spec.headers.length === 0 ? noHeaders : spec.headers.flatMap(headerOf),
  };
}

/** @returns undefined for an agent that has no address for events, or is being deleted */
export function endpointOfAgent({ metadata, spec }: Stored<Agent>): Endpoint | undefined {
  if (metadata.deletionTimestamp !== undefined || spec.webhookURL === undefined) return undefined;
  return {
    ...identity(metadata),
    kind: 'Agent',
    url: spec.webhookURL,
    events: noEvents,
    active: true,
    timeoutMs: DEFAULT_TIMEOUT_MS,
    retry: DEFAULT_RETRY_POLICY,
    headers: noHeaders,
  };
}

function identity(
  metadata: Stored<Agent>['metadata'],
): Pick<Endpoint, 'uid' | 'org' | 'name' | 'generation' | 'requestedAt' | 'resourceVersion'> {
  const { uid, namespace = '', name, generation = 0, resourceVersion } = metadata;
  return { uid, org: namespace, name, generation, requestedAt: requestedAtOf(metadata), resourceVersion };
}

function signingSecretOf({ signing }: WebhookSubscription['spec'], name: string): string | undefined {
  return signing.mode === 'Generated' ? companionName('WebhookSubscription', name) : signing.secretRef?.name;
}

/** Reads when a person asked for a reconcile; a request that says no time can't be told from an old one. */
export function requestedAtOf({ annotations }: Pick<Stored<WebhookSubscription>['metadata'], 'annotations'>): number | undefined {
  const at = Date.parse(annotations?.[wellKnown.reconcileRequestedAt] ?? '');
  return Number.isNaN(at) ? undefined : at;
}

function headerOf(header: NonNullable<WebhookSubscription['spec']['headers']>[number]): readonly HeaderSource[] {
  const { name, value, valueFrom } = header;
  if (valueFrom !== undefined) return [{ name, secret: valueFrom.secretKeyRef }];
  return value === undefined ? [] : [{ name, value }];
}

function scopeOf(scope: WebhookSubscription['spec']['scope']): SubscriptionScope | undefined {
  if (scope?.agentRefs !== undefined) return { agents: scope.agentRefs.map(({ name }) => name) };
  return scope?.workspaces === undefined ? undefined : { workspaces: scope.workspaces };
}
