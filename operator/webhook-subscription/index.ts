import type { WebhookSubscription, WebhookSubscriptionStatus } from '../../crds/index.ts';
import type { WorldReader } from '../runtime/cluster-world.ts';
import type { KindLogic } from '../runtime/controller.ts';
import { namespaceOf } from '../runtime/cluster-world.ts';
import { observing } from '../runtime/simple-logic.ts';
import { planWebhookSubscription, type SigningSecretAction, type SubscriptionPlanOptions } from './plan.ts';
import type { SigningSecrets } from './signing-secret.ts';

/** Longest wait for the informer to bring a Secret back that was just written, in milliseconds. */
const READ_BACK_MS = 10_000;

export function webhookSubscriptionLogic(options: {
  readonly worlds: WorldReader;
  readonly secrets: SigningSecrets;
  readonly addressProblem: SubscriptionPlanOptions['addressProblem'];
}): KindLogic<WebhookSubscription, SigningSecretAction, WebhookSubscriptionStatus> {
  const { worlds, secrets, addressProblem } = options;
  return {
    kind: 'WebhookSubscription',
    statusFields: ['observedGeneration', 'conditions', 'lastHandledReconcileAt', 'signingSecretRef'],
    decide: observing<WebhookSubscription, SigningSecretAction, WebhookSubscriptionStatus>(worlds, (subscription, world, now) =>
      planWebhookSubscription(subscription, world, { now, addressProblem }),
    ),
    async carryOut(action, subscription, { signal }) {
      const written =
        action.type === 'generateSigningSecret'
          ? await secrets.generate(action, subscription, signal)
          : await secrets.removeKeys(action, subscription, signal);
      await worlds.sawSecret(namespaceOf(subscription), written, AbortSignal.any([signal, AbortSignal.timeout(READ_BACK_MS)]));
      return {};
    },
  };
}
