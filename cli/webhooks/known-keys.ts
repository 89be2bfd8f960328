/** The signing keys of an organisation's subscriptions, from the cluster: a receiver for trying things out needs no key of its own then. */
import { webhookSubscriptionKind, wellKnown, type WebhookSubscription } from '../../crds/index.ts';
import { ResourceClient, type KubeObject, type ResourceDescriptor, type Transport } from '../../kube/index.ts';
import type { SigningKey } from '../../webhooks/signing/signing-keys.ts';
import { keysAt, readSigningSecret } from '../../webhooks/signing/signing-secret.ts';

export interface KnownKey {
  /** Name of the resource. */
  readonly subscription: string;
  readonly key: SigningKey;
}

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const secretDescriptor: ResourceDescriptor = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

/** How long keys are used before they are looked up anew for a signature that none of them made, in milliseconds. */
const LEAST_AGE_MS = 500;
/** How long they are used in any case: a key that has gone must not be good for ever. */
const LONGEST_AGE_MS = 10_000;

interface Looked {
  readonly at: number;
  readonly keys: Promise<readonly KnownKey[]>;
}

export class KnownKeys {
  readonly #subscriptions: ResourceClient<WebhookSubscription>;
  readonly #secrets: ResourceClient<Secret>;
  readonly #byOrganization = new Map<string, Looked>();

  constructor(transport: Transport) {
    const fieldManager = 'parley-cli';
    this.#subscriptions = new ResourceClient({ transport, descriptor: webhookSubscriptionKind.descriptor, fieldManager });
    this.#secrets = new ResourceClient({ transport, descriptor: secretDescriptor, fieldManager });
  }

  /**
   * @param options.anew what is known did not fit: look again, unless that was done this very moment
   * @throws KubeError
   */
  async of(organization: string, options: { readonly anew: boolean }): Promise<readonly KnownKey[]> {
    const now = performance.now();
    const known = this.#byOrganization.get(organization);
    if (known !== undefined && now - known.at < (options.anew ? LEAST_AGE_MS : LONGEST_AGE_MS)) return known.keys;
    const looked = { at: now, keys: this.#look(organization) };
    this.#byOrganization.set(organization, looked);
    looked.keys.catch(() => {
      if (this.#byOrganization.get(organization) === looked) this.#byOrganization.delete(organization);
    });
    return looked.keys;
  }

  async #look(namespace: string): Promise<readonly KnownKey[]> {
    const { items } = await this.#subscriptions.listAll({ namespace });
    const names = new Map(
      items.flatMap(({ metadata, spec, status }) => {
        const secret = spec.signing?.secretRef?.name ?? status?.signingSecretRef?.name;
        return spec.signing === undefined || secret === undefined ? [] : [[metadata.name, secret] as const];
      }),
    );
    if (names.size === 0) return [];
    const { items: secrets } = await this.#secrets.listAll({ namespace });
    const byName = new Map(secrets.map((secret) => [secret.metadata.name, secret]));
    return [...names].flatMap(([subscription, secretName]) => {
      const secret = byName.get(secretName);
      const value = (key: string): string | undefined =>
        secret?.data?.[key] === undefined ? undefined : Buffer.from(secret.data[key], 'base64').toString();
      const dated = readSigningSecret(value, secret?.metadata.annotations?.[wellKnown.signingExpiry]);
      return keysAt(dated ?? [], Date.now()).map((key) => ({ subscription, key }));
    });
  }
}
