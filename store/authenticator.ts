/** Authenticates a presented API key: fast for a key seen a moment ago, strict about a revoked one. */
import { timingSafeEqual } from 'node:crypto';

import type { Clock } from '../platform/clock.ts';
import { LruMap } from '../platform/lru.ts';
import { parseApiKey, type ParsedApiKey } from './api-key-format.ts';
import type { ApiKeyRecord } from './api-keys.ts';
import type { Database } from './database.ts';
import { createKeyLookup } from './key-lookup.ts';

export type Authentication =
  | { readonly outcome: 'ok'; readonly record: ApiKeyRecord }
  /** `malformed`: no key of Parley looks like that. */
  | { readonly outcome: 'malformed' | 'unknown' | 'expired' | 'revoked' };

export interface AuthenticatorOptions {
  readonly database: Database;
  readonly clock: Clock;
  /** How long an answer of the database is used, in milliseconds. Bounds the effect of a lost notification. */
  readonly ttlMs: number;
  /** Called before the first lookup, to begin listening for revocations. */
  readonly onFirstUse?: (() => void) | undefined;
}

interface Entry {
  /** The key's record; null if the database has no such key. */
  readonly record: ApiKeyRecord | null;
  /** Time at which the query was sent, on the monotonic clock: the answer is at least as young as that. */
  readonly askedAt: number;
}

interface Flight {
  readonly startedAt: number;
  readonly answer: Promise<Entry>;
}

/** Callers share a query that is under way only while it is younger than this, in milliseconds. */
const SHARE_MS = 500;
const KNOWN_KEYS = 10_000;
/** Unknown keys that are cached, apart from the others, so that a flood of invented keys can't push the real ones out. */
const UNKNOWN_KEYS = 1_000;

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #known = new LruMap<string, Entry>(KNOWN_KEYS);
  readonly #unknown = new LruMap<string, Entry>(UNKNOWN_KEYS);
  readonly #flights = new Map<string, Flight>();
  readonly #lookup: ReturnType<typeof createKeyLookup>;
  /** Counts revocations: an answer whose query was sent before one may be older than it, and isn't kept. */
  #epoch = 0;
  #used = false;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#lookup = createKeyLookup(options.database);
  }

  /**
   * @param apiKey the text that the client sent
   * @throws StoreError when the key is not cached and the database doesn't answer: the caller is neither known nor unknown then
   */
  async authenticate(apiKey: string): Promise<Authentication> {
    const parsed = parseApiKey(apiKey);
    if (parsed === undefined) return { outcome: 'malformed' };
    if (!this.#used) {
      this.#used = true;
      this.#options.onFirstUse?.();
    }
    // The clear key is not kept; only its hash, as in the database.
    const digest = parsed.hash.toString('base64');
    const entry = this.#cached(digest) ?? (await this.#ask(digest, parsed));
    return this.#judge(entry);
  }

  /** Forgets all cached answers, because a key was revoked, or notifications may have been missed. */
  forget(): void {
    this.#epoch += 1;
    this.#known.clear();
    this.#unknown.clear();
    this.#flights.clear();
  }

  #judge({ record }: Entry): Authentication {
    if (record === null) return { outcome: 'unknown' };
    if (record.revoked) return { outcome: 'revoked' };
    if (record.expirationDate.getTime() <= this.#options.clock.now()) return { outcome: 'expired' };
    return { outcome: 'ok', record };
  }

  #cached(digest: string): Entry | undefined {
    const entry = this.#known.get(digest) ?? this.#unknown.get(digest);
    return entry !== undefined && this.#options.clock.monotonic() - entry.askedAt < this.#options.ttlMs ? entry : undefined;
  }

  async #ask(digest: string, parsed: ParsedApiKey): Promise<Entry> {
    const now = this.#options.clock.monotonic();
    const flying = this.#flights.get(digest);
    if (flying !== undefined && now - flying.startedAt < SHARE_MS) return flying.answer;
    const flight: Flight = { startedAt: now, answer: this.#lookUp(digest, parsed, now) };
    this.#flights.set(digest, flight);
    try {
      return await flight.answer;
    } finally {
      if (this.#flights.get(digest) === flight) this.#flights.delete(digest);
    }
  }

  async #lookUp(digest: string, { publicId, hash }: ParsedApiKey, askedAt: number): Promise<Entry> {
    const epoch = this.#epoch;
    const found = await this.#lookup(publicId);
    const same = found !== undefined && found.secretHash.length === hash.length && timingSafeEqual(found.secretHash, hash);
    const entry: Entry = { record: same ? found.record : null, askedAt };
    if (epoch === this.#epoch) (same ? this.#known : this.#unknown).set(digest, entry);
    return entry;
  }
}
