/** Derives the keys of page tokens and signed addresses: the same on every replica, from secrets that serve nothing else. */
import { hkdfSync } from 'node:crypto';

/** Keys of which the first one signs, and any of them verifies. */
export type Keys = readonly [Uint8Array, ...Uint8Array[]];

export interface SigningKeysOptions {
  /** Secrets of the configuration, the newest first; where there are none, the database's is used. */
  readonly given: readonly string[];
  /** @throws StoreError when the database doesn't answer */
  readonly stored: () => Promise<Uint8Array>;
}

export class SigningKeys {
  readonly #stored: SigningKeysOptions['stored'];
  readonly #keys = new Map<string, Keys>();
  #secrets: readonly [string | Uint8Array, ...(string | Uint8Array)[]] | undefined;

  constructor({ given, stored }: SigningKeysOptions) {
    const [newest, ...former] = given;
    this.#stored = stored;
    this.#secrets = newest === undefined ? undefined : [newest, ...former];
  }

  /**
   * Loads the secrets, before the first call of {@link of}. Asks once, and again after a failure.
   * @throws StoreError when the database doesn't answer
   */
  async load(): Promise<void> {
    this.#secrets ??= [await this.#stored()];
  }

  /** @param purpose sets the keys apart: a signature for one purpose is valid for no other */
  of(purpose: string): Keys {
    const known = this.#keys.get(purpose);
    if (known !== undefined) return known;
    if (this.#secrets === undefined) throw new Error('signing keys are used before they are loaded');
    const [newest, ...former] = this.#secrets;
    const keyOf = (secret: string | Uint8Array): Uint8Array => new Uint8Array(hkdfSync('sha256', secret, '', `parley ${purpose}`, 32));
    const keys: Keys = [keyOf(newest), ...former.map(keyOf)];
    this.#keys.set(purpose, keys);
    return keys;
  }
}
