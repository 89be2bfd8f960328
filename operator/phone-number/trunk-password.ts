/** Reads the password of a trunk whenever it is needed, and never stores it. */
import type { PhoneNumber } from '../../crds/index.ts';
import { KubeError, ResourceClient, secretText, type KubeObject, type Stored, type Transport } from '../../kube/index.ts';
import { namespaceOf } from '../runtime/snapshot-reader.ts';
import { DATA_DESCRIPTORS, FIELD_MANAGER } from '../runtime/namespace-informers.ts';

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const REQUEST_TIMEOUT_MS = 5_000;

export class TrunkPasswords {
  readonly #client: ResourceClient<Secret>;

  constructor({ transport }: { readonly transport: Transport }) {
    this.#client = new ResourceClient<Secret>({ transport, descriptor: DATA_DESCRIPTORS.Secret, fieldManager: FIELD_MANAGER });
  }

  /**
   * @returns undefined where the spec names none, or what it names isn't there
   * @throws KubeError when the API server doesn't answer
   */
  async read(phoneNumber: Stored<PhoneNumber>, signal: AbortSignal): Promise<string | undefined> {
    const { sip, carrier } = phoneNumber.spec;
    const ref = sip?.passwordSecretRef ?? carrier?.authTokenSecretRef;
    if (ref === undefined) return undefined;
    try {
      const { data } = await this.#client.get(
        { namespace: namespaceOf(phoneNumber), name: ref.name },
        { signal, timeoutMs: REQUEST_TIMEOUT_MS },
      );
      const value = data?.[ref.key];
      return value === undefined ? undefined : secretText(value);
    } catch (error) {
      if (error instanceof KubeError && (error.notFound || error.code === 403)) return undefined;
      throw error;
    }
  }
}
