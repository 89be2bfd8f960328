/** What page tokens and signed addresses are signed with: the same on every replica, from secrets that serve nothing else. */
import { hkdfSync } from 'node:crypto';

/** The first one signs, and what any of them has signed is accepted. */
export type Keys = readonly [Uint8Array, ...Uint8Array[]];

export interface SigningKeysOptions {
  /** From the configuration, the newest first; those of the database where there are none. */
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
   * To be awaited before {@link of}. Asks once; a question that failed is asked again.
   * @throws StoreError when the database doesn't answer
   */
  async load(): Promise<void> {
    this.#secrets ??= [await this.#stored()];
  }

  /** @param purpose sets the keys apart: what was signed for one opens no other */
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
