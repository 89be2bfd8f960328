import { systemClock, type Clock, type Timer } from '../../platform/clock.ts';
import { errorMessageOf } from '../../platform/caught.ts';
import type { Logger } from '../../platform/logging.ts';
import { StoreError, type Store } from '../../store/index.ts';

export interface Unavailable {
  readonly state: 'unavailable';
  /** Says what failed and what to do, in words that don't change from attempt to attempt. */
  readonly why: string;
}

export interface PostgresOutageOptions {
  readonly store: Pick<Store, 'health'>;
  readonly clock?: Clock;
  readonly logger: Logger;
}

/** Time between two probes whether Postgres is back, in milliseconds. */
const PROBE_MS = 1_000;

/**
 * Whether Postgres can be used, shared by all reconcilers of this process. While it is unavailable they don't call it: plans keep what is
 * in use and wait, and one probe finds out when it is back.
 */
export class PostgresOutage {
  readonly #options: PostgresOutageOptions;
  readonly #clock: Clock;
  #why: string | undefined;
  #probe: Timer | undefined;
  #closed = false;
  #onRecovered: () => void = () => undefined;

  constructor(options: PostgresOutageOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  onRecovered(listener: () => void): void {
    this.#onRecovered = listener;
  }

  /** Says why Postgres can't be used now; `undefined` while it can. */
  get why(): string | undefined {
    return this.#why;
  }

  /**
   * Calls Postgres, unless an outage is known.
   *
   * @throws what `attempt` throws, where only this call failed
   */
  async guard<T>(attempt: () => Promise<T>): Promise<T | Unavailable> {
    if (this.#why !== undefined) return { state: 'unavailable', why: this.#why };
    try {
      return await attempt();
    } catch (error) {
      const why = outageOf(error);
      if (why === undefined) throw error;
      this.#begin(why, error);
      return { state: 'unavailable', why };
    }
  }

  close(): void {
    this.#closed = true;
    this.#probe?.cancel();
  }

  #begin(why: string, error: unknown): void {
    if (this.#why === undefined)
      this.#options.logger.warn({ cause: errorMessageOf(error) }, 'Postgres is unavailable; keeping what is in use, changes wait');
    this.#why = why;
    if (this.#probe === undefined && !this.#closed) this.#probe = this.#clock.after(PROBE_MS, () => void this.#check());
  }

  async #check(): Promise<void> {
    try {
      await this.#options.store.health();
      this.#probe = undefined;
      this.#why = undefined;
      this.#options.logger.info('Postgres is back');
      this.#onRecovered();
    } catch (error) {
      this.#why = outageOf(error) ?? this.#why;
      this.#probe = this.#closed ? undefined : this.#clock.after(PROBE_MS, () => void this.#check());
    }
  }
}

/** Says what keeps Postgres from being used at all; `undefined` where only this call failed. */
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
