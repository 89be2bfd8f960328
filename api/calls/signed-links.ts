/** Signs addresses that open a recording without a key for a limited time. */
import { createHmac, timingSafeEqual } from 'node:crypto';

import type { Keys, SigningKeys } from '../signing/signing-keys.ts';

/** Longest token that is checked, in characters. */
const MAX_LENGTH = 1024;

export interface RecordingLink {
  readonly org: string;
  readonly callId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export const LONGEST_LINK_MINUTES = 1_440;
/** Largest difference between the clocks of replicas, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;

export class SignedLinks {
  readonly #signing: Pick<SigningKeys, 'load' | 'of'>;

  constructor(signing: Pick<SigningKeys, 'load' | 'of'>) {
    this.#signing = signing;
  }

  write({ org, callId, expiresAt }: RecordingLink): string {
    const payload = Buffer.from(JSON.stringify([org, callId, expiresAt]));
    return Buffer.concat([macOf(this.#keys[0], payload), payload]).toString('base64url');
  }

  /**
   * Reads a token. No API key has been checked before, so this loads the signing key itself.
   * @returns undefined for a token that this key didn't sign, that has expired, or that claims more time than a link can have
   * @throws StoreError when the database doesn't answer
   */
  async read(token: string, now: number): Promise<RecordingLink | undefined> {
    if (token.length > MAX_LENGTH) return undefined;
    await this.#signing.load();
    const bytes = Buffer.from(token, 'base64url');
    const payload = bytes.subarray(32);
    if (payload.length === 0 || bytes.toString('base64url') !== token) return undefined;
    if (!this.#keys.some((key) => timingSafeEqual(bytes.subarray(0, 32), macOf(key, payload)))) return undefined;
    const [org, callId, expiresAt] = JSON.parse(payload.toString()) as readonly [string, string, number];
    const latest = now + LONGEST_LINK_MINUTES * 60_000 + CLOCK_SKEW_MS;
    return expiresAt > now && expiresAt <= latest ? { org, callId, expiresAt } : undefined;
  }

  get #keys(): Keys {
    return this.#signing.of('recording links');
  }
}

function macOf(key: Uint8Array, payload: Uint8Array): Buffer {
  return createHmac('sha256', key).update(payload).digest();
}
