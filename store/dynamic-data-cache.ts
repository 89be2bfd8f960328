import { Repository } from './repository.ts';
/** Caches the answers to agents' lookups, which calls of the same organisation share for a while. */

/** Expired rows that each write deletes: more than are written, so that the table shrinks. */
const SWEPT = 20;

export class DynamicDataCacheRows extends Repository {
  /** @param key SHA-256, lower-case hex. @returns JSON; undefined where no answer is fresh */
  async get(org: string, key: string): Promise<string | undefined> {
    const { rows } = await this.database.queryAs<{ answer: string }>(
      org,
      'SELECT answer FROM parley.dynamic_data_cache WHERE org = $1 AND key = $2 AND expires_at > now()',
      [org, Buffer.from(key, 'hex')],
    );
    return rows[0]?.answer;
  }

  /** @param forMs how long the answer is fresh, in milliseconds */
  async put(org: string, key: string, answer: string, { forMs }: { readonly forMs: number }): Promise<void> {
    await this.database.asOrganization(org, async (transaction) => {
      await transaction.query(
        `INSERT INTO parley.dynamic_data_cache (org, key, answer, expires_at) VALUES ($1, $2, $3, now() + $4 * interval '1 millisecond')
         ON CONFLICT (org, key) DO UPDATE SET answer = excluded.answer, expires_at = excluded.expires_at`,
        [org, Buffer.from(key, 'hex'), answer, forMs],
      );
      await transaction.query(DELETION, [org, SWEPT]);
    });
  }

  /** Deletes expired rows, `limit` (500) at most. @returns how many were deleted */
  async prune({ org, limit = 500 }: { readonly org: string; readonly limit?: number }): Promise<number> {
    return this.database.asOrganization(org, async (transaction) => (await transaction.query(DELETION, [org, limit])).rowCount);
  }
}

/** Skips rows that another write is deleting at the same moment. */
const DELETION = `DELETE FROM parley.dynamic_data_cache WHERE org = $1 AND key IN (
  SELECT key FROM parley.dynamic_data_cache WHERE org = $1 AND expires_at <= now() LIMIT $2 FOR UPDATE SKIP LOCKED)`;
