import { Repository } from './repository.ts';

/** What one process has let through since its last report, in milliseconds of the limit's rate (60 a second: 1,000 / 60 for each). */
export interface Taken {
  /** The subject of the limit: at most 200 characters. */
  readonly subject: string;
  readonly ms: number;
  /** How long ago the first of it was taken, in milliseconds. */
  readonly agoMs: number;
}

/** Where the replicas add up what each of them has let through. */
export class RateLimits extends Repository {
  /**
   * Adds what this process took and answers how much all of them together have taken and time hasn't given back yet:
   * milliseconds until the bucket is full again (negative: since when it has been), by subject. One statement, whatever the number of requests behind it.
   * @throws StoreError
   */
  async exchange(taken: readonly Taken[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.database.query<{ readonly subject: string; readonly ahead_ms: number }>(
      'SELECT * FROM parley.exchange_rate_limits($1, $2, $3)',
      [taken.map(({ subject }) => subject), taken.map(({ ms }) => ms), taken.map(({ agoMs }) => agoMs)],
    );
    return new Map(rows.map((row) => [row.subject, row.ahead_ms]));
  }

  /** Drops the buckets that have been full for a while: they say nothing. */
  async forgetFull(): Promise<void> {
    await this.database.query('SELECT parley.forget_full_rate_limits()');
  }
}
