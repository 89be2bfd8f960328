import type { WebhookSubscription, WebhookSubscriptionStatus } from '../../crds/index.ts';
import { COMMON_STATUS_FIELDS, planFromReferences, type Reconciler } from '../runtime/reconciler.ts';
import { namespaceOf, type SnapshotReader } from '../runtime/snapshot-reader.ts';
import { planWebhookSubscription, type SigningSecretAction, type SubscriptionPlanOptions } from './plan.ts';
import type { SigningSecrets } from './signing-secret.ts';

/** Longest wait for the informer to bring back a Secret that was just written, in milliseconds. */
const READ_BACK_MS = 10_000;

export function webhookSubscriptionReconciler(options: {
  readonly snapshots: SnapshotReader;
  readonly secrets: SigningSecrets;
  readonly addressProblem: SubscriptionPlanOptions['addressProblem'];
}): Reconciler<WebhookSubscription, SigningSecretAction, WebhookSubscriptionStatus> {
  const { snapshots, secrets, addressProblem } = options;
  return {
    kind: 'WebhookSubscription',
    statusFields: [...COMMON_STATUS_FIELDS, 'signingSecretRef'],
    plan: (subscription, { now, signal }) =>
      planFromReferences(snapshots, subscription, {
        plan: (snapshot) => planWebhookSubscription(subscription, snapshot, { now, addressProblem }),
        signal,
      }),
    async apply(action, subscription, { signal }) {
      const written =
        action.type === 'generateSigningSecret'
          ? await secrets.generate(action, subscription, signal)
          : await secrets.removeKeys(action, subscription, signal);
      await snapshots.sawSecret(namespaceOf(subscription), written, AbortSignal.any([signal, AbortSignal.timeout(READ_BACK_MS)]));
      return {};
    },
  };
}
