import { wellKnown, type WebhookSubscription } from '../../crds/index.ts';
import { KubeError, ResourceClient, type KubeObject, type Stored, type Transport } from '../../kube/index.ts';
import { generateSigningKey } from '../../webhooks/signing/signing-keys.ts';
import { SIGNING_KEY } from '../references/references-of.ts';
import { namespaceOf } from '../runtime/snapshot-reader.ts';
import { DATA_DESCRIPTORS, FIELD_MANAGER } from '../runtime/namespace-informers.ts';
import type { SigningSecretAction } from './plan.ts';
import { expiryWithout } from './signing-keys.ts';

type ActionOf<T extends SigningSecretAction['type']> = Extract<SigningSecretAction, { readonly type: T }>;

interface Secret extends KubeObject {
  readonly type?: string;
  readonly data: Readonly<Record<string, string>>;
}

/** Writes generated signing keys; together with trunk passwords the only place where the operator handles values of Secrets. */
export class SigningSecrets {
  readonly #client: ResourceClient<Secret>;

  constructor(options: { readonly transport: Transport }) {
    this.#client = new ResourceClient<Secret>({
      transport: options.transport,
      descriptor: DATA_DESCRIPTORS.Secret,
      fieldManager: FIELD_MANAGER,
    });
  }

  /**
   * Creates the Secret with a new key, or adds the key to one that belongs to the subscription. Never replaces a key:
   * a Secret that has appeared in the meantime is left as it is.
   *
   * @returns the resourceVersion from which on the key is there
   */
  async generate(
    action: ActionOf<'generateSigningSecret'>,
    subscription: Stored<WebhookSubscription>,
    signal: AbortSignal,
  ): Promise<string> {
    const data = { [SIGNING_KEY]: Buffer.from(generateSigningKey()).toString('base64') };
    const metadata = { namespace: namespaceOf(subscription), name: action.name };
    if (action.extend !== undefined) {
      const extended = await this.#client.apply(
        { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, ...action.extend }, data },
        { signal },
      );
      return extended.metadata.resourceVersion;
    }
    const { apiVersion, kind } = subscription;
    const labels = { [wellKnown.companionOf]: kind.toLowerCase() };
    const owner = { apiVersion, kind, name: subscription.metadata.name, uid: subscription.metadata.uid, controller: true };
    try {
      const created = await this.#client.create(
        { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: { ...metadata, labels, ownerReferences: [owner] }, data },
        { signal },
      );
      return created.metadata.resourceVersion;
    } catch (error) {
      if (!(error instanceof KubeError) || error.reason !== 'AlreadyExists') throw error;
      return (await this.#client.get(metadata, { signal })).metadata.resourceVersion;
    }
  }

  /**
   * Removes keys of any field manager, at exactly the version that was planned for: by a merge patch, because an apply doesn't remove
   * what another manager owns, and the operator has no permission to update Secrets.
   *
   * @returns the resourceVersion from which on they are gone
   */
  async removeKeys(action: ActionOf<'removeSigningKeys'>, subscription: Stored<WebhookSubscription>, signal: AbortSignal): Promise<string> {
    const { name, keys, from } = action;
    const found = await this.#client.get({ namespace: namespaceOf(subscription), name }, { signal });
    // Changed meanwhile, perhaps by a rotation: the next reconcile plans again.
    if (found.metadata.uid !== from.uid || found.metadata.resourceVersion !== from.resourceVersion) return found.metadata.resourceVersion;
    const left = expiryWithout(found.metadata.annotations?.[wellKnown.signingExpiry], keys);
    const updated = await this.#client.mergePatch(
      found,
      {
        metadata: { annotations: { [wellKnown.signingExpiry]: left ?? null } },
        data: Object.fromEntries(keys.map((key) => [key, null])),
      },
      { signal },
    );
    return updated.metadata.resourceVersion;
  }
}
