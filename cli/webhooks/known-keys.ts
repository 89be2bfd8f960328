/** Reads the signing keys of an organisation's subscriptions from the cluster, so that a receiver for trials needs no key of its own. */
import { webhookSubscriptionKind, wellKnown, type WebhookSubscription } from '../../crds/index.ts';
import { KubeError, ResourceClient, type KubeObject, type ObjectRef, type Transport } from '../../kube/index.ts';
import type { SigningKey } from '../../webhooks/signing/signing-keys.ts';
import { FIELD_MANAGER } from '../cluster/connect.ts';
import { builtIn } from '../cluster/descriptors.ts';
import { keysAt, readSigningSecret } from '../../webhooks/signing/signing-secret.ts';

export interface KnownKey {
  readonly subscription: string;
  readonly key: SigningKey;
}

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Minimum age of cached keys before a signature that none of them made causes a new read, in milliseconds. */
const LEAST_AGE_MS = 500;
/** Maximum age of cached keys, in milliseconds: a key that has gone must not be good for ever. */
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
    const fieldManager = FIELD_MANAGER;
    this.#subscriptions = new ResourceClient({ transport, descriptor: webhookSubscriptionKind.descriptor, fieldManager });
    this.#secrets = new ResourceClient({ transport, descriptor: builtIn.secrets, fieldManager });
  }

  /**
   * @param options.refresh true if the cached keys did not fit: it reads them again, unless they were just read
   * @throws KubeError
   */
  async of(organization: string, options: { readonly refresh: boolean }): Promise<readonly KnownKey[]> {
    const now = performance.now();
    const known = this.#byOrganization.get(organization);
    if (known !== undefined && now - known.at < (options.refresh ? LEAST_AGE_MS : LONGEST_AGE_MS)) return known.keys;
    const looked = { at: now, keys: this.#look(organization) };
    this.#byOrganization.set(organization, looked);
    looked.keys.catch(() => {
      if (this.#byOrganization.get(organization) === looked) this.#byOrganization.delete(organization);
    });
    return looked.keys;
  }

  async #secret(ref: ObjectRef): Promise<Secret | undefined> {
    try {
      return await this.#secrets.get(ref);
    } catch (error) {
      if (error instanceof KubeError && error.code === 404) return undefined;
      throw error;
    }
  }

  async #look(namespace: string): Promise<readonly KnownKey[]> {
    const { items } = await this.#subscriptions.listAll({ namespace });
    const names = new Map(
      items.flatMap(({ metadata, spec, status }) => {
        const secret = spec.signing.secretRef?.name ?? status?.signingSecretRef?.name;
        return spec.signing.mode === 'None' || secret === undefined ? [] : [[metadata.name, secret] as const];
      }),
    );
    // Reads Secrets by name, and not by a list: a receiver has no business with anything but signing keys.
    const byName = new Map<string, Secret | undefined>();
    await Promise.all([...new Set(names.values())].map(async (name) => byName.set(name, await this.#secret({ namespace, name }))));
    return [...names].flatMap(([subscription, secretName]) => {
      const secret = byName.get(secretName);
      const value = (key: string): string | undefined =>
        secret?.data?.[key] === undefined ? undefined : Buffer.from(secret.data[key], 'base64').toString();
      const dated = readSigningSecret(value, secret?.metadata.annotations?.[wellKnown.signingExpiry]);
      return keysAt(dated ?? [], Date.now()).map((key) => ({ subscription, key }));
    });
  }
}
