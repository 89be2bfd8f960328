/** Replaces the signing secret of a subscription. The new one is answered once and can't be read again. */
import { ownerReferenceTo } from '../resources/staging.ts';
import { wellKnown, type WebhookSubscription } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import type { WebhookStore } from '../../store/index.ts';
import { generateSigningKey } from '../../webhooks/signing/signing-keys.ts';
import { ApiError, notFound } from '../http/api-error.ts';
import { orUndefined } from '../resources/companions.ts';
import type { KindContext } from '../kinds/context.ts';
import type { Secret } from '../resources/core-clients.ts';
import type { ResourceWriter } from '../resources/resource-writer.ts';
import { rotated, signingSecretName, TooManyFormerKeysError, type Rotated } from './signing-secret.ts';

export interface Rotation {
  readonly secret: string;
  readonly previousExpiresAt: string | null;
}

export class SigningService {
  readonly #context: KindContext;
  readonly #store: Pick<WebhookStore, 'raiseWatermark'>;
  readonly #writer: ResourceWriter<WebhookSubscription>;

  constructor(options: {
    readonly context: KindContext;
    readonly store: Pick<WebhookStore, 'raiseWatermark'>;
    readonly writer: ResourceWriter<WebhookSubscription>;
  }) {
    this.#context = options.context;
    this.#store = options.store;
    this.#writer = options.writer;
  }

  /** @throws ApiError `not_found`; `conflict` for a subscription that is unsigned, signed with a Secret that a person keeps, or with four former ones */
  async rotate(org: string, name: string, graceMs: number): Promise<Rotation> {
    const secret = generateSigningKey();
    // Each of several simultaneous rotations replaces the secret of the one before: the write names the state that it was read in.
    return this.#writer.exclusively(org, name, async () => {
      const subscription = await this.#writer.find(org, name);
      if (subscription === undefined) throw notFound('Webhook subscription');
      requireGenerated(subscription);
      const found = await orUndefined(this.#context.clients.secrets.get({ namespace: org, name: signingSecretName(name) }));
      if (found !== undefined) await this.#requireOwn(subscription);
      const change = rotatedIn(found, secret, { graceMs, now: this.#context.clock.now() });
      const written = await this.#write(subscription, found, change);
      await this.#store.raiseWatermark(org, { secrets: written.metadata.resourceVersion });
      return { secret, previousExpiresAt: change.previousExpiresAt };
    });
  }

  async #requireOwn(subscription: Stored<WebhookSubscription>): Promise<void> {
    const name = signingSecretName(subscription.metadata.name);
    if ((await this.#context.companions.nameFor('Secret', subscription)) === name) return;
    throw new ApiError('conflict', `the Secret ${name} belongs to something else: nothing is written to it`);
  }

  /** Writes the Secret, and creates it where the operator hasn't done so yet, or where it was deleted. */
  #write(
    subscription: Stored<WebhookSubscription>,
    found: Stored<Secret> | undefined,
    { data, annotations }: Rotated,
  ): Promise<Stored<Secret>> {
    const { namespace = '', name: id } = subscription.metadata;
    const { secrets } = this.#context.clients;
    if (found !== undefined) return secrets.mergePatch(found, { data, metadata: { annotations } });
    return secrets.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        namespace,
        name: signingSecretName(id),
        labels: { [wellKnown.companionOf]: subscription.kind.toLowerCase() },
        ownerReferences: [ownerReferenceTo(subscription)],
      },
      data: Object.fromEntries(Object.entries(data).flatMap(([key, value]) => (value === null ? [] : [[key, value]]))),
    });
  }
}

/** @throws ApiError `conflict` where a former secret would stop earlier than promised */
function rotatedIn(...args: Parameters<typeof rotated>): Rotated {
  try {
    return rotated(...args);
  } catch (error) {
    if (!(error instanceof TooManyFormerKeysError)) throw error;
    const wait = error.until === undefined ? '' : `wait until ${error.until}, when the first of them stops, or `;
    throw new ApiError('conflict', `${error.message} along, the most there can be: ${wait}end all of them with grace_period_hours 0`, {
      cause: error,
    });
  }
}

function requireGenerated({ metadata, spec }: Stored<WebhookSubscription>): void {
  if (spec.signing.mode === 'None')
    throw new ApiError('conflict', 'this subscription is unsigned: switch signing on with enable_signed_webhooks first');
  if (spec.signing.secretRef !== undefined)
    throw new ApiError(
      'conflict',
      `the subscription ${metadata.name} is signed with the Secret ${spec.signing.secretRef.name}, which is not ours to change: rotate there`,
    );
}
