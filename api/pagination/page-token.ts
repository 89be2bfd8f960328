/** Page tokens: where the next page begins, in a form that only we can write. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

import { ValidationFailed } from '../http/api-error.ts';
import { issues } from '../validation/issue.ts';

/** Longest token that is looked at. */
const maxLength = 4096;
const macBytes = 16;

/**
 * The key with which page tokens are signed, the same on every replica of a deployment and another one in every other:
 * derived from a secret that they all have anyway.
 */
export function pageTokenKey(deploymentSecret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', deploymentSecret, '', 'parley page tokens', 32));
}

export class PageTokens {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    if (key.length < 32) throw new RangeError('the key of page tokens needs 32 bytes');
    this.#key = key;
  }

  /** @param list names the list and whose it is: a token opens no other */
  write(list: string, position: readonly string[]): string {
    const payload = Buffer.from(JSON.stringify(position));
    return Buffer.concat([this.#mac(list, payload), payload]).toString('base64url');
  }

  /**
   * @returns the position; of an empty token an empty one, which is before every object
   * @throws ValidationFailed when the list didn't give out this token
   */
  read(list: string, token: string): readonly string[] {
    if (token === '') return [];
    const bytes = Buffer.from(token.slice(0, maxLength), 'base64url');
    const payload = bytes.subarray(macBytes);
    const genuine =
      token.length <= maxLength &&
      bytes.length > macBytes &&
      timingSafeEqual(bytes.subarray(0, macBytes), this.#mac(list, payload)) &&
      bytes.toString('base64url') === token;
    if (!genuine)
      throw new ValidationFailed([
        issues.value(['query', 'page_token'], 'use the next_page_token of an earlier page of this list, as it was'),
      ]);
    return JSON.parse(payload.toString()) as readonly string[];
  }

  #mac(list: string, payload: Uint8Array): Uint8Array {
    return createHmac('sha256', this.#key).update(list).update('\0').update(payload).digest().subarray(0, macBytes);
  }
}
