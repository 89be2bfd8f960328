/** Writes and reads page tokens: where the next page begins, in a form that only we can write. */
import { createHmac, timingSafeEqual } from 'node:crypto';

import { ValidationError } from '../http/api-error.ts';
import type { Keys, SigningKeys } from '../signing/signing-keys.ts';
import { issues } from '../validation/issue.ts';

/** Longest token that is checked, in characters. */
const MAX_LENGTH = 4096;
const MAC_BYTES = 16;

export class PageTokens {
  readonly #keys: () => Keys;

  constructor(signing: Pick<SigningKeys, 'of'>) {
    this.#keys = () => signing.of('page tokens');
  }

  /** @param list names the list and its organisation: a token is valid for no other */
  write(list: string, position: readonly string[]): string {
    const payload = Buffer.from(JSON.stringify(position));
    return Buffer.concat([macOf(this.#keys()[0], list, payload), payload]).toString('base64url');
  }

  /**
   * @returns the position; for an empty token an empty one, which is before every object
   * @throws ValidationError when the list didn't give out this token
   */
  read(list: string, token: string): readonly string[] {
    if (token === '') return [];
    const bytes = Buffer.from(token.slice(0, MAX_LENGTH), 'base64url');
    const payload = bytes.subarray(MAC_BYTES);
    const genuine =
      token.length <= MAX_LENGTH &&
      bytes.length > MAC_BYTES &&
      this.#keys().some((key) => timingSafeEqual(bytes.subarray(0, MAC_BYTES), macOf(key, list, payload))) &&
      bytes.toString('base64url') === token;
    if (!genuine)
      throw new ValidationError([
        issues.value(['query', 'page_token'], 'use the next_page_token of an earlier page of this list, as it was'),
      ]);
    return JSON.parse(payload.toString()) as readonly string[];
  }
}

function macOf(key: Uint8Array, list: string, payload: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(list).update('\0').update(payload).digest().subarray(0, MAC_BYTES);
}
