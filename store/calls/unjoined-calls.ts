/** Limits web calls that wait for their users: each holds a place of a voice process, and the user need not come. */
import type { Transaction } from '../database.ts';
import type { NewCall } from './call-record.ts';

export interface UnjoinedLimit {
  readonly of: 'organization' | 'key';
  readonly most: number;
}

/** Returns the limit that one more call would exceed; undefined where it wouldn't. */
export async function unjoinedLimitReached(
  transaction: Pick<Transaction, 'query'>,
  { org, createdByKey, unjoinedPercent }: Pick<NewCall, 'org' | 'createdByKey' | 'unjoinedPercent'>,
): Promise<UnjoinedLimit | undefined> {
  if (unjoinedPercent === undefined) return undefined;
  const { rows } = await transaction.query<UnjoinedLimit>(
    `WITH waiting AS (
       SELECT count(*) AS of_all, count(*) FILTER (WHERE created_by_key = $2) AS of_key FROM parley.calls
       WHERE org = $1 AND status = 'registered' AND call_type = 'web_call' AND test IS NULL
     ), most AS (
       SELECT ceil(live_call_limit * $3::int / 100.0)::int AS of_all, ceil(live_call_limit * $3::int / 200.0)::int AS of_key
       FROM parley.organizations WHERE name = $1
     )
     SELECT 'organization' AS of, most.of_all AS most FROM waiting, most WHERE waiting.of_all >= most.of_all
     UNION ALL SELECT 'key', most.of_key FROM waiting, most WHERE $2 IS NOT NULL AND waiting.of_key >= most.of_key
     LIMIT 1`,
    [org, createdByKey ?? null, unjoinedPercent],
  );
  return rows[0];
}
