/** The receiver's side of Standard Webhooks 1.0.0, for the receiver of the local stack. */
import { timingSafeEqual } from 'node:crypto';

import { sign } from './sign.ts';
import type { SigningKey } from './signing-keys.ts';

/** Allowed difference of the sender's and the receiver's clock, in seconds: an older request may be a replay attack. */
const TOLERANCE_SECONDS = 300;

export type Verdict =
  | { readonly verdict: 'verified'; readonly key: SigningKey }
  /** The request bears no signature at all. */
  | { readonly verdict: 'unsigned' }
  | { readonly verdict: 'refused'; readonly why: string };

export interface ReceivedDelivery {
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The bytes as they came. */
  readonly body: Uint8Array;
  /** Any of these may have signed. */
  readonly keys: readonly SigningKey[];
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export function verify({ headers, body, keys, now }: ReceivedDelivery): Verdict {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || id === '') return { verdict: 'refused', why: 'it has no header webhook-id' };
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp))
    return { verdict: 'refused', why: 'it has no header webhook-timestamp' };
  if (Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) {
    return { verdict: 'refused', why: `its webhook-timestamp is more than ${TOLERANCE_SECONDS / 60} minutes away from now` };
  }
  if (signatures === undefined) return { verdict: 'unsigned' };
  const given = String(signatures)
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => Buffer.from(each));
  for (const key of keys) {
    const expected = Buffer.from(sign([key], { id, timestamp: Number(timestamp), body }));
    if (given.some((each) => each.length === expected.length && timingSafeEqual(each, expected))) return { verdict: 'verified', key };
  }
  return { verdict: 'refused', why: 'none of its signatures is by a key of a subscription of its organisation' };
}
