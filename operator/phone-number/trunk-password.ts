/** Reads the password of a trunk whenever it is needed, and never stores it. */
import type { PhoneNumber } from '../../crds/index.ts';
import { KubeError, ResourceClient, secretText, type KubeObject, type ObjectRef, type Stored, type Transport } from '../../kube/index.ts';
import { namespaceOf } from '../runtime/snapshot-reader.ts';
import type { KeyReader } from '../runtime/key-reader.ts';
import { DATA_DESCRIPTORS, FIELD_MANAGER } from '../runtime/namespace-informers.ts';

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const REQUEST_TIMEOUT_MS = 5_000;

export class TrunkPasswords {
  readonly #client: ResourceClient<Secret>;
  readonly #reader: Pick<KeyReader, 'forget'>;

  constructor({ transport, reader }: { readonly transport: Transport; readonly reader: Pick<KeyReader, 'forget'> }) {
    this.#reader = reader;
    this.#client = new ResourceClient<Secret>({ transport, descriptor: DATA_DESCRIPTORS.Secret, fieldManager: FIELD_MANAGER });
  }

  /**
   * Where it can't be read, the plan's snapshot finds out why: what is remembered of the Secret is forgotten.
   *
   * @returns undefined where the spec names none, or what it names isn't there or may not be read
   * @throws KubeError when the API server doesn't answer
   */
  async read(phoneNumber: Stored<PhoneNumber>, signal: AbortSignal): Promise<string | undefined> {
    const { sip, carrier } = phoneNumber.spec;
    const ref = sip?.passwordSecretRef ?? carrier?.authTokenSecretRef;
    if (ref === undefined) return undefined;
    const secret = { namespace: namespaceOf(phoneNumber), name: ref.name };
    const value = await this.#valueOf(secret, ref.key, signal);
    if (value === undefined) this.#reader.forget('Secret', secret);
    return value === undefined ? undefined : secretText(value);
  }

  async #valueOf(secret: ObjectRef, key: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const { data } = await this.#client.get(secret, { signal, timeoutMs: REQUEST_TIMEOUT_MS });
      return data?.[key];
    } catch (error) {
      if (error instanceof KubeError && (error.notFound || error.code === 403)) return undefined;
      throw error;
    }
  }
}
