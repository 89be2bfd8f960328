/** Checks and stages of a subscription, beyond schema and CEL. */
import { wellKnown, type WebhookSubscription } from '../../crds/index.ts';
import { eventNames } from '../../events/catalogue.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import type { ConditionStage } from '../status/conditions.ts';
import type { Problem, Reason } from '../status/reasons.ts';

/** The schema accepts any well-formed name, so that a manifest for a newer version can be applied to an older one. */
export function eventProblems({ spec }: Pick<WebhookSubscription, 'spec'>): readonly Problem[] {
  const known: ReadonlySet<string> = new Set(['*', ...eventNames]);
  const unknown = (spec.events ?? []).filter((name) => !known.has(name));
  if (unknown.length === 0) return [];
  return [
    {
      reason: 'UnknownEvents',
      message: `spec.events names ${unknown.map((name) => `"${name}"`).join(', ')}, which this version does not know; known events: ${[...eventNames].sort().join(', ')}`,
    },
  ];
}

export function addressProblems(
  { spec }: Pick<WebhookSubscription, 'spec'>,
  problemWith: (url: string) => string | undefined,
): readonly Problem[] {
  const message = problemWith(spec.url);
  return message === undefined ? [] : [{ reason: 'AddressForbidden', message: `spec.url cannot be called: ${message}` }];
}

/** Checks values from Secrets; the schema checks those in the spec. */
export function headerProblems(
  subscription: Pick<WebhookSubscription, 'spec' | 'metadata'>,
  snapshot: ClusterSnapshot,
): readonly Problem[] {
  const namespace = subscription.metadata.namespace ?? '';
  return (subscription.spec.headers ?? []).flatMap(({ name, valueFrom }): readonly Problem[] => {
    const ref = valueFrom?.secretKeyRef;
    if (ref === undefined) return [];
    const found = snapshot.secret(namespace, ref.name);
    if (found.state !== 'present' || found.unusable?.header.has(ref.key) !== true) return [];
    return [
      {
        reason: 'HeaderValueInvalid',
        message: `key "${ref.key}" of Secret ${namespace}/${ref.name} cannot be the value of the header ${name}; keep one line of text without control characters in it`,
      },
    ];
  });
}

/** Reasons of problems with references that keep a delivery from being attempted. */
export const BLOCKING_REASONS: ReadonlySet<string> = new Set<Reason>([
  'SecretNotFound',
  'SecretKeyNotFound',
  'SecretNotOwned',
  'ReferenceForbidden',
  'HeaderValueInvalid',
]);

/** @param options.blocked nothing can be sent until a Secret is corrected */
export function synced(
  { status, metadata }: Pick<WebhookSubscription, 'status' | 'metadata'>,
  { blocked }: { readonly blocked: boolean },
): ConditionStage {
  const good = { reason: 'Delivering', message: 'events that match are delivered to the address' } as const;
  const stage = (problems: readonly Problem[]): ConditionStage => ({ type: 'Synced', good, problems });
  const disabled = status?.autoDisabled;
  if (disabled !== undefined) {
    const annotate = `kubectl annotate --overwrite webhooksubscription/${metadata.name} ${wellKnown.reconcileRequestedAt}="$(date -Is)"`;
    const cure = `repair the endpoint, then run \`${annotate}\`, change the spec, or set active to true over REST`;
    return stage([{ reason: 'AutoDisabled', message: `nothing is sent since ${disabled.since}: ${disabled.reason}; ${cure}` }]);
  }
  if (!blocked) return stage([]);
  return stage([
    {
      reason: 'DeliveryHeldUp',
      message: 'deliveries wait until every Secret that they need exists and can be used; see the condition ResolvedRefs',
    },
  ]);
}

/** Half open, the endpoint has accepted a delivery and gets the next ones. */
export function endpointHealthy({ status, metadata }: WebhookSubscription): ConditionStage {
  const good = { reason: 'CircuitBreakerClosed', message: 'every delivery is sent as soon as it is due' } as const;
  const { state, failingSince } = status?.circuitBreaker ?? {};
  if (state !== 'Open') return { type: 'EndpointHealthy', good, problems: [] };
  const since = failingSince === undefined ? '' : ` since ${failingSince}`;
  const message = `nearly all attempts at the endpoint have failed${since}: deliveries wait, and one is attempted from time to time; repair the endpoint and run \`parley webhooks test ${metadata.name}\` to send to it at once`;
  return { type: 'EndpointHealthy', good, problems: [{ reason: 'CircuitBreakerOpen', message }] };
}
