import { systemClock, type Clock, type Timer } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { StoreError, type Store } from '../../store/index.ts';

/** What a call led to that Postgres could not be asked for. */
export interface Unavailable {
  readonly state: 'unavailable';
  /** What is wrong and what to do, in words that don't change from try to try. */
  readonly why: string;
}

export interface PostgresOutageOptions {
  readonly store: Pick<Store, 'health'>;
  readonly clock?: Clock;
  readonly logger: Logger;
  /** Postgres is back: look again at what waited. */
  readonly onRecovered: () => void;
}

/** Between two looks whether Postgres is back, in milliseconds. */
const PROBE_MS = 1_000;

/**
 * Whether Postgres can be used, as everybody in this process has found out together. While it is away nobody queues up
 * before it: one probe finds out when it is back.
 */
export class PostgresOutage {
  readonly #options: PostgresOutageOptions;
  readonly #clock: Clock;
  #why: string | undefined;
  #probe: Timer | undefined;
  #closed = false;

  constructor(options: PostgresOutageOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Why it can't be used now; `undefined` while it can. */
  get why(): string | undefined {
    return this.#why;
  }

  /**
   * Makes an attempt, unless an outage is known of.
   *
   * @throws what `attempt` throws, where that is a trouble of this one call
   */
  async guard<T>(attempt: () => Promise<T>): Promise<T | Unavailable> {
    if (this.#why !== undefined) return { state: 'unavailable', why: this.#why };
    try {
      return await attempt();
    } catch (error) {
      const why = outageOf(error);
      if (why === undefined) throw error;
      this.#began(why, error);
      return { state: 'unavailable', why };
    }
  }

  close(): void {
    this.#closed = true;
    this.#probe?.cancel();
  }

  #began(why: string, error: unknown): void {
    if (this.#why === undefined)
      this.#options.logger.warn({ cause: messageOf(error) }, 'Postgres cannot be used; what is in use stays in use, changes wait');
    this.#why = why;
    if (this.#probe === undefined && !this.#closed) this.#probe = this.#clock.after(PROBE_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    try {
      await this.#options.store.health();
      this.#probe = undefined;
      this.#why = undefined;
      this.#options.logger.info('Postgres is back');
      this.#options.onRecovered();
    } catch (error) {
      this.#why = outageOf(error) ?? this.#why;
      this.#probe = this.#closed ? undefined : this.#clock.after(PROBE_MS, () => void this.#look());
    }
  }
}

/** What keeps Postgres from being used at all; `undefined` for a trouble of this one call. */
function outageOf(error: unknown): string | undefined {
  if (!(error instanceof StoreError)) return undefined;
  switch (error.kind) {
    case 'unavailable':
      return 'Postgres does not answer';
    case 'schema':
      return 'the database lacks migrations, run `parley migrate`';
    case 'refused':
      return 'Postgres refuses the user, password or database in DATABASE_URL, correct it';
    default:
      return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
