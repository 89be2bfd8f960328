export interface BackoffOptions {
  /** Upper bound of the first delay, in milliseconds. */
  readonly baseMs: number;
  /** Upper bound of every delay, in milliseconds. */
  readonly maxMs: number;
  /** Share of a delay that chance may take away, 0 to 1. Default 0.5: a delay lies in its upper half. */
  readonly jitter?: number;
  /** A number in [0, 1). Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * Computes the delay before attempt number `failures + 1`, in milliseconds: `baseMs` doubled with each failure after the first, up to
 * `maxMs`. Chance only shortens it, so that `maxMs` stays a promise and clients that failed together don't come back together.
 */
export function backoffDelay(failures: number, options: BackoffOptions): number {
  const { baseMs, maxMs, jitter = 0.5, random = Math.random } = options;
  // 2 ** 1024 is Infinity, which min() bounds; 0 * Infinity would be NaN, hence the floor on the base.
  const full = Math.min(maxMs, Math.max(baseMs, Number.MIN_VALUE) * 2 ** Math.max(0, failures - 1));
  return full * (1 - jitter * random());
}

/** Counts failures per key and says how long each key has to wait. Holds an entry only for keys that failed since they were last forgotten. */
export class KeyedBackoff<K> {
  readonly #failures = new Map<K, number>();
  readonly #options: BackoffOptions;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Counts one more failure of `key` and returns its delay in milliseconds. */
  fail(key: K): number {
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    return backoffDelay(failures, this.#options);
  }

  failures(key: K): number {
    return this.#failures.get(key) ?? 0;
  }

  forget(key: K): void {
    this.#failures.delete(key);
  }

  get size(): number {
    return this.#failures.size;
  }
}
