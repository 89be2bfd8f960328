import { isIPv6 } from 'node:net';

import type { Clock } from '../../platform/clock.ts';
import { LruMap } from '../../platform/lru.ts';
import { costMs, standing, type RateLimit } from './bucket.ts';

/** Addresses at most that are counted at a time. */
const addresses = 20_000;

/**
 * Invented keys, by the address they come from. Counted are keys that look real and aren't; what can't be a key is no guess.
 * Nothing here is about a key: however much one address guesses, a key that has proved good is let in from everywhere, that address included.
 */
export class Guesses {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  /** When an address's bucket is full again, on the monotonic clock. */
  readonly #fullAt = new LruMap<string, number>(addresses);

  constructor(options: { readonly limit: RateLimit; readonly clock: Clock }) {
    this.#limit = options.limit;
    this.#clock = options.clock;
  }

  /** Milliseconds until this address may try another unknown key; 0 while it may. */
  waitMs(address: string): number {
    if (this.#limit.perSecond === 0) return 0;
    return standing(this.#limit, (this.#fullAt.get(networkOf(address)) ?? 0) - this.#clock.monotonic()).nextInMs;
  }

  /** Counts a try before its outcome is known, so that many at once can't slip through. */
  count(address: string): void {
    if (this.#limit.perSecond === 0) return;
    const network = networkOf(address);
    this.#fullAt.set(network, Math.max(this.#fullAt.get(network) ?? 0, this.#clock.monotonic()) + costMs(this.#limit));
  }

  /** It was a good key after all. */
  takeBack(address: string): void {
    if (this.#limit.perSecond === 0) return;
    const network = networkOf(address);
    const fullAt = this.#fullAt.get(network);
    if (fullAt !== undefined) this.#fullAt.set(network, fullAt - costMs(this.#limit));
  }
}

/** An IPv6 network of 64 bits is one customer: its addresses are free to have by the billion. Source: RFC 6177. */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('%')[0]?.split('::') ?? [];
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? front : [...front, ...Array.from({ length: 8 - front.length - back.length }, () => '0'), ...back];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
