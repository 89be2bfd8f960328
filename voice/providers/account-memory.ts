/** Remembers for ten minutes, in this process, what was found out at a provider's address with an account's key. */
import { createHash } from 'node:crypto';

import type { Clock } from '../../platform/clock.ts';
import { LruMap } from '../../platform/lru.ts';

/** Time for which facts are kept, in milliseconds. */
const KEPT_MS = 600_000;

interface Known<T> {
  readonly value: T;
  readonly until: number;
}

interface Account {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export class AccountMemory<T> {
  readonly #known: LruMap<string, Known<T>>;

  constructor(known = new LruMap<string, Known<T>>(1_000)) {
    this.#known = known;
  }

  get(account: Account, clock: Clock): T | undefined {
    const found = this.#known.get(accountKey(account));
    return found !== undefined && found.until > clock.monotonic() ? found.value : undefined;
  }

  set(account: Account, value: T, clock: Clock): void {
    this.#known.set(accountKey(account), { value, until: clock.monotonic() + KEPT_MS });
  }
}

/** Returns the key of an account, which doesn't hold the API key itself. */
const accountKey = ({ url, headers }: Account): string => `${url} ${createHash('sha256').update(JSON.stringify(headers)).digest('base64')}`;
