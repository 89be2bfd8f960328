import type { WebhookSubscription, WebhookSubscriptionStatus } from '../../crds/index.ts';
import type { WorldReader } from '../runtime/cluster-world.ts';
import type { KindLogic } from '../runtime/controller.ts';
import { namespaceOf } from '../runtime/cluster-world.ts';
import { observing } from '../runtime/simple-logic.ts';
import { planWebhookSubscription, type SigningSecretAction } from './plan.ts';
import type { SigningSecrets } from './signing-secret.ts';

/** Longest wait for the informer to bring a Secret back that was just written, in milliseconds. */
const READ_BACK_MS = 10_000;

export function webhookSubscriptionLogic(options: {
  readonly worlds: WorldReader;
  readonly secrets: SigningSecrets;
}): KindLogic<WebhookSubscription, SigningSecretAction, WebhookSubscriptionStatus> {
  const { worlds, secrets } = options;
  return {
    kind: 'WebhookSubscription',
    statusFields: ['observedGeneration', 'conditions', 'lastHandledReconcileAt', 'signingSecretRef'],
    decide: observing<WebhookSubscription, SigningSecretAction, WebhookSubscriptionStatus>(worlds, planWebhookSubscription),
    async carryOut(action, subscription, { signal }) {
      const written = await secrets.generate(action, subscription, signal);
      await worlds.sawSecret(namespaceOf(subscription), written, AbortSignal.any([signal, AbortSignal.timeout(READ_BACK_MS)]));
      return {};
    },
  };
}
