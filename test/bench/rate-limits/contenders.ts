/** Three ways for replicas to keep one limit: apart, by exchange (what the facade does), and by asking Postgres for every request. */
import { Pool } from 'pg';

import type { LimitClass } from '../../../api/limits/limit-class.ts';
import { RateLimiter } from '../../../api/limits/rate-limiter.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLogger } from '../../../platform/logging.ts';
import { openStore } from '../../../store/index.ts';

export const contenderNames = ['apart', 'exchange', 'statement'] as const;
export type ContenderName = (typeof contenderNames)[number];

/** One replica's view of the limit. */
export interface Replica {
  /** Whether a request with this key may go on. */
  take(keyId: string): Promise<boolean>;
  stop(): Promise<void>;
}

type Contender = (options: { readonly databaseUrl: string; readonly limit: LimitClass['limit'] }) => Promise<Replica>;

const logger = createLogger({ role: 'bench', level: 'silent' });
const route = { method: 'GET', path: '/' } as const;
const exchangeMs = 250;

const classesOf = (limit: LimitClass['limit']): readonly LimitClass[] => [{ name: 'key', of: 'key', limit }];

export const contenders: Readonly<Record<ContenderName, Contender>> = {
  apart: async ({ limit }) => {
    const limiter = new RateLimiter({ classes: classesOf(limit), exchangeMs: 0, clock: systemClock, logger });
    return { take: async (keyId) => limiter.take({ keyId, org: 'bench' }, route).allowed, stop: () => limiter.stop() };
  },

  exchange: async ({ databaseUrl, limit }) => {
    const store = openStore({ databaseUrl, applicationName: 'bench-rate-limits' });
    await store.rateLimits.exchange([]);
    const limiter = new RateLimiter({ classes: classesOf(limit), exchange: store.rateLimits, exchangeMs, clock: systemClock, logger });
    return {
      take: async (keyId) => limiter.take({ keyId, org: 'bench' }, route).allowed,
      stop: async () => {
        await limiter.stop();
        await store.close();
      },
    };
  },

  statement: async ({ databaseUrl, limit }) => {
    const pool = new Pool({ connectionString: databaseUrl, max: 10 });
    await pool.query('CREATE UNLOGGED TABLE IF NOT EXISTS bench_buckets (subject text PRIMARY KEY, full_at timestamptz NOT NULL)');
    // When the server goes before the pool has noticed that it is closed.
    pool.on('error', () => undefined);
    const costMs = 1000 / limit.perSecond;
    return {
      // Allowed requests move the time on; of the others the row, and so the answer, stays as it was.
      take: async (keyId) => {
        const { rowCount } = await pool.query({
          name: 'take',
          text: `INSERT INTO bench_buckets AS bucket VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond')
            ON CONFLICT (subject) DO UPDATE SET full_at = greatest(bucket.full_at, clock_timestamp()) + $2 * interval '1 millisecond'
            WHERE greatest(bucket.full_at, clock_timestamp()) + $2 * interval '1 millisecond' <= clock_timestamp() + $3 * interval '1 millisecond'`,
          values: [keyId, costMs, limit.burst * costMs],
        });
        return rowCount === 1;
      },
      stop: () => pool.end(),
    };
  },
};
