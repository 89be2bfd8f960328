import { Repository } from './repository.ts';

/**
 * The requests that one process has let through since its last report, in milliseconds of the limit's rate (60 a second: 1,000 / 60 for
 * each).
 */
export interface Taken {
  /** The subject of the limit: at most 200 characters. */
  readonly subject: string;
  readonly ms: number;
  /** Milliseconds since the first of them was taken. */
  readonly agoMs: number;
}

/** Lets the replicas add up the requests that each of them has let through. */
export class RateLimits extends Repository {
  /**
   * Adds what this process took and returns for each subject the milliseconds until its bucket is full again, after the requests of all
   * processes (negative: since when it has been full). It is one statement, whatever the number of requests.
   * @throws StoreError
   */
  async exchange(taken: readonly Taken[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.database.query<{ readonly subject: string; readonly ahead_ms: number }>(
      'SELECT * FROM parley.exchange_rate_limits($1, $2, $3)',
      [taken.map(({ subject }) => subject), taken.map(({ ms }) => ms), taken.map(({ agoMs }) => agoMs)],
    );
    return new Map(rows.map((row) => [row.subject, row.ahead_ms]));
  }

  /** Drops buckets that have been full for a while: they carry no information. */
  async forgetFull(): Promise<void> {
    await this.database.query('SELECT parley.forget_full_rate_limits()');
  }
}
