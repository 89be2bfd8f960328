import { LruMap } from '../platform/lru.ts';

export interface TokenBucketsOptions {
  /** Tokens of a full bucket: every bucket starts full. */
  readonly burst: number;
  /** One token comes back every so many milliseconds. */
  readonly refillMs: number;
  /** Buckets held at most; the one that was used longest ago makes room, and would start full again. */
  readonly maxKeys: number;
}

export class TokenBuckets<K> {
  readonly #options: TokenBucketsOptions;
  readonly #buckets: LruMap<K, { readonly tokens: number; readonly at: number }>;

  constructor(options: TokenBucketsOptions) {
    this.#options = options;
    this.#buckets = new LruMap(options.maxKeys);
  }

  /** Takes a token of `key` at `now`, monotonic milliseconds. @returns whether there was one. */
  take(key: K, now: number): boolean {
    const { burst, refillMs } = this.#options;
    const known = this.#buckets.get(key) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, known.tokens + (now - known.at) / refillMs);
    const enough = tokens >= 1;
    this.#buckets.set(key, { tokens: enough ? tokens - 1 : tokens, at: now });
    return enough;
  }
}
