import { subscriptionNameOf, type WebhookSubscription, type WebhookSubscriptionStatus } from '../../crds/index.ts';
import { generatedSigningSecret, SIGNING_KEY, webhookSubscriptionReferences } from '../references/references-of.ts';
import { displayNameTaken, notAnOrganization, unresolved } from '../references/unresolved.ts';
import type { ClusterSnapshot, DataObject } from '../references/cluster-snapshot.ts';
import type { Plan } from '../runtime/reconciler.ts';
import { commonFields, isDeleting, isSuspended, suspendedStatus } from '../status/common.ts';
import type { Problem } from '../status/reasons.ts';
import { accepted, resolvedRefs } from '../status/stages.ts';
import { addressProblems, endpointHealthy, eventProblems, headerProblems, BLOCKING_REASONS, synced } from './stages.ts';
import { cannotSign, expiryOf, signingKeyProblems } from './signing-keys.ts';

interface SecretState {
  readonly uid: string;
  readonly resourceVersion: string;
}

export type SigningSecretAction =
  | {
      readonly type: 'generateSigningSecret';
      readonly name: string;
      /** The state of the existing Secret that lacks the key. Absent: create the Secret. */
      readonly extend?: SecretState;
    }
  /** Previous keys of a generated Secret have expired. */
  | { readonly type: 'removeSigningKeys'; readonly name: string; readonly keys: readonly string[]; readonly from: SecretState };

export interface SubscriptionPlanOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Why an address may not be called, as far as known without the network; undefined where it may. */
  readonly addressProblem: (url: string) => string | undefined;
}

/** Longest wait until the next plan, in milliseconds; planning is cheap. */
const LONGEST_REQUEUE_MS = 3_600_000;

/** A subscription has no finalizer: the dispatcher and the worker see that it is gone, and end the deliveries that waited for it. */
export function planWebhookSubscription(
  subscription: WebhookSubscription,
  snapshot: ClusterSnapshot,
  { now, addressProblem }: SubscriptionPlanOptions,
): Plan<SigningSecretAction, WebhookSubscriptionStatus> {
  if (isDeleting(subscription)) return { actions: [] };
  if (isSuspended(subscription)) return { actions: [], status: suspendedStatus(subscription, now) };
  const namespace = subscription.metadata.namespace ?? '';
  const foreign = notAnOrganization(namespace, snapshot);
  if (foreign.length > 0) return { actions: [], status: commonFields(subscription, now, [accepted(foreign)]) };

  const generated = generatedSigningSecret(subscription);
  const own = subscription.spec.signing.secretRef?.name;
  const signing = generated === undefined ? NO_SIGNING_ACTIONS : planSigningSecret(subscription, generated, snapshot, now);
  const signingName = generated ?? own;
  const secret = signingName === undefined ? undefined : snapshot.secret(namespace, signingName);
  const missing = [
    ...unresolved(namespace, webhookSubscriptionReferences(subscription), snapshot),
    ...signing.problems,
    ...headerProblems(subscription, snapshot),
  ];
  const keys = secret === undefined || signingName === undefined ? [] : signingKeyProblems(namespace, signingName, secret);
  const blocked = missing.some(({ reason }) => BLOCKING_REASONS.has(reason)) || (secret !== undefined && cannotSign(secret));
  const displayName = subscriptionNameOf(subscription);
  const stages = [
    accepted([
      ...displayNameTaken(subscription, displayName, snapshot.subscriptionsNamed(namespace, displayName)),
      ...eventProblems(subscription),
      ...addressProblems(subscription, addressProblem),
    ]),
    resolvedRefs([...missing, ...keys]),
    synced(subscription, { blocked }),
    endpointHealthy(subscription),
  ];
  return {
    actions: signing.actions,
    ...(signing.nextAt !== undefined && { requeueAfterMs: Math.min(signing.nextAt - now, LONGEST_REQUEUE_MS) }),
    status: {
      ...commonFields(subscription, now, stages, { message: 'events that match are delivered' }),
      ...(signingName === undefined ? {} : { signingSecretRef: { name: signingName } }),
    },
  };
}

interface SigningPlan {
  readonly actions: readonly SigningSecretAction[];
  readonly problems: readonly Problem[];
  /** When the next previous key expires, in milliseconds since the epoch. */
  readonly nextAt?: number;
}

const NO_SIGNING_ACTIONS: SigningPlan = { actions: [], problems: [] };

/**
 * The key is generated once, and again only when the Secret was deleted. A Secret of that name with another owner is left alone; one
 * that belongs to this subscription but lacks the key (it also keeps header values set over REST) gets the key.
 */
function planSigningSecret(subscription: WebhookSubscription, name: string, snapshot: ClusterSnapshot, now: number): SigningPlan {
  const namespace = subscription.metadata.namespace ?? '';
  const found = snapshot.secret(namespace, name);
  switch (found.state) {
    case 'absent':
      return { actions: [{ type: 'generateSigningSecret', name }], problems: [] };
    case 'forbidden':
      return {
        actions: [],
        problems: [
          {
            reason: 'ReferenceForbidden',
            message: `the operator may not read Secret ${namespace}/${name}; grant its service account get on it`,
          },
        ],
      };
    default:
      if (isOfFormer(subscription, found))
        return {
          actions: [],
          problems: [
            {
              reason: 'SecretNotOwned',
              message: `Secret ${namespace}/${name} has the signing key of a former subscription of this name; Kubernetes deletes it, or delete it yourself, and a new key is generated`,
            },
          ],
        };
      if (found.keys.has(SIGNING_KEY)) return planExpiry(subscription, name, found, now);
      if (found.owners.includes(subscription.metadata.uid ?? '')) {
        return {
          actions: [{ type: 'generateSigningSecret', name, extend: { uid: found.uid, resourceVersion: found.resourceVersion } }],
          problems: [],
        };
      }
      return {
        actions: [],
        problems: [
          {
            reason: 'SecretNotOwned',
            message: `Secret ${namespace}/${name}, which would hold the generated signing key, belongs to something else; delete it, add the key "${SIGNING_KEY}", or name a Secret of yours in spec.signing with mode Secret`,
          },
        ],
      };
  }
}

/** Whether a Secret was generated for a subscription that is gone: its key must not sign for another one. */
function isOfFormer(
  { metadata }: WebhookSubscription,
  { companionOf, owners }: Extract<DataObject, { readonly state: 'present' }>,
): boolean {
  return companionOf === 'webhooksubscription' && owners.length > 0 && !owners.includes(metadata.uid ?? '');
}

/** Plans removals only in a Secret that was generated: expired keys in other Secrets are ignored, and left to their owners. */
function planExpiry(
  subscription: WebhookSubscription,
  name: string,
  found: Extract<DataObject, { readonly state: 'present' }>,
  now: number,
): SigningPlan {
  if (!found.owners.includes(subscription.metadata.uid ?? '')) return NO_SIGNING_ACTIONS;
  const { over, next } = expiryOf(found, now);
  const { uid, resourceVersion } = found;
  return {
    actions: over.length === 0 ? [] : [{ type: 'removeSigningKeys', name, keys: over, from: { uid, resourceVersion } }],
    problems: [],
    ...(next !== undefined && { nextAt: next }),
  };
}
