/** Addresses that open a recording without a key, for a while: everything stands in the address, under a signature. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Longest token that is looked at. */
const maxLength = 1024;

export interface RecordingLink {
  readonly org: string;
  readonly callId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The same on every replica of a deployment and another one in every other: derived from a secret that they all have anyway. */
export function recordingLinkKey(deploymentSecret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', deploymentSecret, '', 'parley recording links', 32));
}

export class SignedLinks {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    if (key.length < 32) throw new RangeError('the key of signed links needs 32 bytes');
    this.#key = key;
  }

  write({ org, callId, expiresAt }: RecordingLink): string {
    const payload = Buffer.from(JSON.stringify([org, callId, expiresAt]));
    return Buffer.concat([this.#mac(payload), payload]).toString('base64url');
  }

  /** @returns undefined for what was not written with this key, or is past its time */
  read(token: string, now: number): RecordingLink | undefined {
    if (token.length > maxLength) return undefined;
    const bytes = Buffer.from(token, 'base64url');
    const payload = bytes.subarray(32);
    if (payload.length === 0 || bytes.toString('base64url') !== token) return undefined;
    if (!timingSafeEqual(bytes.subarray(0, 32), this.#mac(payload))) return undefined;
    const [org, callId, expiresAt] = JSON.parse(payload.toString()) as readonly [string, string, number];
    return expiresAt > now ? { org, callId, expiresAt } : undefined;
  }

  #mac(payload: Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(payload).digest();
  }
}
