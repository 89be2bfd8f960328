/** Coordinates which process writes the health of endpoints into the status of their resources, and when. */
import { ENDPOINT_COLUMNS } from './endpoints.ts';
import { withoutNulls, type Statements } from './statements.ts';
import type { EndpointRecord } from './types.ts';

/**
 * Returns endpoints that have changed since their status was written: of all processes the caller gets to write them. One that was parked,
 * switched off or on again is due `everyMs` after the last write; one that only has later times, `timesEveryMs` after it.
 */
export async function takeStatusWrites(
  statements: Statements,
  { everyMs, timesEveryMs, limit }: { readonly everyMs: number; readonly timesEveryMs: number; readonly limit: number },
): Promise<readonly EndpointRecord[]> {
  const { rows } = await statements.query<EndpointRecord>(
    `UPDATE parley.webhook_endpoints SET status_written_at = clock_timestamp(), status_written_version = version
     WHERE subscription_uid = ANY (ARRAY(
       SELECT subscription_uid FROM parley.webhook_endpoints
       WHERE changed_at > coalesce(status_written_at, '-infinity')
         AND (status_written_at IS NULL OR status_written_at <= statement_timestamp()
           - CASE WHEN version IS DISTINCT FROM status_written_version THEN $1::float8 ELSE $2::float8 END * interval '1 millisecond')
       ORDER BY status_written_at NULLS FIRST LIMIT $3 FOR UPDATE SKIP LOCKED))
     RETURNING ${ENDPOINT_COLUMNS}`,
    [everyMs, timesEveryMs, limit],
  );
  return rows.map(withoutNulls);
}

/** Gives back writes that failed: another process may make them at once. */
export async function giveBackStatusWrites(statements: Statements, subscriptionUids: readonly string[]): Promise<void> {
  await statements.query('UPDATE parley.webhook_endpoints SET status_written_at = NULL WHERE subscription_uid = ANY ($1::text[])', [
    subscriptionUids,
  ]);
}
