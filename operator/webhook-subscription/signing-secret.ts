import { randomBytes as nodeRandomBytes } from 'node:crypto';

import type { WebhookSubscription } from '../../crds/index.ts';
import { KubeError, ResourceClient, type KubeObject, type Stored, type Transport } from '../../kube/index.ts';
import { SIGNING_KEY } from '../references/references-of.ts';
import { FIELD_MANAGER } from '../runtime/caches.ts';
import { namespaceOf } from '../runtime/cluster-world.ts';
import { keyedDescriptors } from '../runtime/keyed-watch.ts';
import type { SigningSecretAction } from './plan.ts';

interface Secret extends KubeObject {
  readonly type?: string;
  readonly data: Readonly<Record<string, string>>;
}

/** Bytes of a signing key, as Standard Webhooks recommends. */
const KEY_BYTES = 32;

/** Writes generated signing keys; the one place where the operator has a value of a Secret in its hands. */
export class SigningSecrets {
  readonly #client: ResourceClient<Secret>;
  readonly #randomBytes: (size: number) => Buffer;

  constructor(options: { readonly transport: Transport; readonly randomBytes?: (size: number) => Buffer }) {
    this.#client = new ResourceClient<Secret>({
      transport: options.transport,
      descriptor: keyedDescriptors.Secret,
      fieldManager: FIELD_MANAGER,
    });
    this.#randomBytes = options.randomBytes ?? nodeRandomBytes;
  }

  /**
   * Creates the Secret with a new key, or adds the key to one that belongs to the subscription. Never replaces a key:
   * a Secret that has appeared in the meantime is left as it is.
   *
   * @returns the resourceVersion from which on the key is there
   */
  async generate(action: SigningSecretAction, subscription: Stored<WebhookSubscription>, signal: AbortSignal): Promise<string> {
    const key = `whsec_${this.#randomBytes(KEY_BYTES).toString('base64')}`;
    const data = { [SIGNING_KEY]: Buffer.from(key).toString('base64') };
    const metadata = { namespace: namespaceOf(subscription), name: action.name };
    if (action.extend !== undefined) {
      const extended = await this.#client.apply(
        { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, ...action.extend }, data },
        { signal },
      );
      return extended.metadata.resourceVersion;
    }
    const { apiVersion, kind } = subscription;
    const owner = { apiVersion, kind, name: subscription.metadata.name, uid: subscription.metadata.uid, controller: true };
    try {
      const created = await this.#client.create(
        { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: { ...metadata, ownerReferences: [owner] }, data },
        { signal },
      );
      return created.metadata.resourceVersion;
    } catch (error) {
      if (!(error instanceof KubeError) || error.reason !== 'AlreadyExists') throw error;
      return (await this.#client.get(metadata, { signal })).metadata.resourceVersion;
    }
  }
}
