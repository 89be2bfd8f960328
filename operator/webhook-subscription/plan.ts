import type { WebhookSubscription, WebhookSubscriptionStatus } from '../../crds/index.ts';
import { generatedSigningSecret, SIGNING_KEY, webhookSubscriptionReferences } from '../references/references-of.ts';
import { notAnOrganization, unresolved } from '../references/resolve.ts';
import { displayNameOf, ownerAmong, type World } from '../references/world.ts';
import type { Plan } from '../runtime/plan.ts';
import { commonFields, isDeleting, isSuspended, suspendedStatus } from '../status/common.ts';
import { summarize } from '../status/conditions.ts';
import type { Problem } from '../status/reasons.ts';
import { accepted, notSynced, resolvedRefs } from '../status/stages.ts';

export interface SigningSecretAction {
  readonly type: 'generateSigningSecret';
  readonly name: string;
  /** The Secret is there and ours, only the key is missing: add it to this very state. Absent: create the Secret. */
  readonly extend?: { readonly uid: string; readonly resourceVersion: string };
}

/** @param now - milliseconds since the epoch */
export function planWebhookSubscription(
  subscription: WebhookSubscription,
  world: World,
  now: number,
): Plan<SigningSecretAction, WebhookSubscriptionStatus> {
  if (isDeleting(subscription)) return { actions: [] };
  if (isSuspended(subscription)) return { actions: [], status: suspendedStatus(subscription, now) };
  const namespace = subscription.metadata.namespace ?? '';
  const foreign = notAnOrganization(namespace, world);
  if (foreign.length > 0) return { actions: [], status: commonFields(subscription, summarize([accepted(foreign)], { message: '' }), now) };

  const generated = generatedSigningSecret(subscription);
  const signing = generated === undefined ? { actions: [], problems: [] } : planSigningSecret(subscription, generated, world);
  const signingName = generated ?? subscription.spec.signing?.secretRef?.name;
  const verdicts = summarize(
    [
      accepted(displayNameTaken(subscription, world)),
      resolvedRefs([...unresolved(namespace, webhookSubscriptionReferences(subscription), world), ...signing.problems]),
      notSynced({ reason: 'DeliveryNotConfigured', message: 'this version runs no dispatcher, so no event is delivered yet' }),
    ],
    { message: 'the spec is accepted and everything it names exists' },
  );
  return {
    actions: signing.actions,
    status: {
      ...commonFields(subscription, verdicts, now),
      ...(signingName === undefined ? {} : { signingSecretRef: { name: signingName } }),
    },
  };
}

/**
 * Generated once, and again only when somebody deleted it. A Secret of that name that belongs to something else is
 * left alone; one that belongs to this subscription but lacks the key (it also keeps header values that came over
 * REST) is given the key.
 */
function planSigningSecret(
  subscription: WebhookSubscription,
  name: string,
  world: World,
): { readonly actions: readonly SigningSecretAction[]; readonly problems: readonly Problem[] } {
  const namespace = subscription.metadata.namespace ?? '';
  const found = world.secret(namespace, name);
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
      if (found.keys.has(SIGNING_KEY)) return { actions: [], problems: [] };
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
            message: `Secret ${namespace}/${name}, which would hold the generated signing key, belongs to something else; delete it, add the key "${SIGNING_KEY}" or set spec.signing.secretRef`,
          },
        ],
      };
  }
}

function displayNameTaken(subscription: WebhookSubscription, world: World): readonly Problem[] {
  const displayName = displayNameOf(subscription);
  const namespace = subscription.metadata.namespace ?? '';
  const owner = ownerAmong(world.subscriptionsNamed(namespace, displayName));
  if (owner === undefined || owner.metadata.uid === subscription.metadata.uid) return [];
  return [
    {
      reason: 'DisplayNameTaken',
      message: `the older WebhookSubscription ${namespace}/${owner.metadata.name} is already called "${displayName}"; set another spec.displayName`,
    },
  ];
}
