/** Moves deliveries in bulk, and finds retries that need workflows. */
import { spanOf, stateList, withoutNulls, type Statements } from './statements.ts';
import type { DeliveryTransition, DispatchStore } from './dispatch.ts';
import { liveStates, type DeliveryState, type RetryToStart } from './types.ts';

const DEFAULT_LIMIT = 1_000;

/** Moves deliveries. Locked rows are left for the next call. */
export async function transition(statements: Statements, change: DeliveryTransition, org?: string): Promise<number> {
  const { subscriptionUid, from, to, reason, due = 'keep', onlyDue = false, limit = DEFAULT_LIMIT } = change;
  const ends = to === 'failed' || to === 'skipped';
  let moved = 0;
  // Each group goes through the index that has its states.
  for (const group of [from.filter((state) => state === 'pending'), from.filter((state) => state !== 'pending')]) {
    if (group.length === 0 || moved >= limit) continue;
    const { rowCount } = await statements.query(
      `UPDATE parley.deliveries SET state = $2, reason = $3, due_at = CASE WHEN $4 THEN statement_timestamp() ELSE due_at END,
         ended_at = CASE WHEN $5 THEN statement_timestamp() END
       WHERE id = ANY (ARRAY(
         SELECT d.id FROM parley.deliveries d
         WHERE d.subscription_uid = $1 AND d.state IN (${stateList(group)}) AND ($7::text IS NULL OR d.org = $7)
           AND (NOT $8 OR d.due_at <= statement_timestamp()) LIMIT $6 FOR UPDATE SKIP LOCKED))`,
      [subscriptionUid, to, reason ?? null, due === 'now', ends, limit - moved, org ?? null, onlyDue],
    );
    moved += rowCount;
  }
  return moved;
}

export async function removeSubscription(statements: Statements, subscriptionUid: string, limit = 5_000, org?: string): Promise<boolean> {
  const change = { subscriptionUid, from: liveStates, to: 'skipped', reason: 'subscription_deleted', limit } as const;
  const moved = await transition(statements, change, org);
  if (moved >= limit) return true;
  const { rows } = await statements.query<{ left: boolean }>(
    `SELECT EXISTS (SELECT FROM parley.deliveries WHERE subscription_uid = $1 AND state = 'pending')
         OR EXISTS (SELECT FROM parley.deliveries WHERE subscription_uid = $1 AND state IN ('retry_pending', 'retrying', 'paused')) AS left`,
    [subscriptionUid],
  );
  if (rows[0]?.left === true) return true;
  await statements.query('DELETE FROM parley.webhook_endpoints WHERE subscription_uid = $1', [subscriptionUid]);
  return false;
}

/** Selects each state by itself, so that the index on `due_at` ends the scan after a batch; it passes over due rows of the other state. */
const oldestRetries = (state: RetryToStart['state'], dueFrom: string): string => `(
  SELECT id, org, event_id, subscription_uid, state, due_at, series_start FROM parley.deliveries
  WHERE state = '${state}' AND due_at <= statement_timestamp() ${dueFrom} * interval '1 millisecond' AND subscription_uid <> ALL ($4::text[])
  ORDER BY due_at LIMIT $3)`;

export async function retriesToStart(
  statements: Statements,
  options: Parameters<DispatchStore['retriesToStart']>[0],
): Promise<readonly RetryToStart[]> {
  const { rows } = await statements.query<RetryToStart>(
    `SELECT id, org, event_id AS "eventId", subscription_uid AS "subscriptionUid", state, due_at AS "dueAt", series_start AS "seriesStart",
       greatest(0, extract(epoch FROM due_at - statement_timestamp()) * 1000)::float8 AS "dueInMs",
       (SELECT b.traceparent FROM parley.event_bodies b WHERE b.id = due.event_id LIMIT 1) AS traceparent
     FROM (${oldestRetries('retry_pending', '+ $1')} UNION ALL ${oldestRetries('retrying', '- $2')}) AS due
     ORDER BY state = 'retrying', due_at LIMIT $3`,
    [options.aheadMs, options.lostMs, options.limit, options.except ?? []],
    { prepared: true },
  );
  return rows.map(withoutNulls);
}

export async function markRetrying(statements: Statements, deliveryIds: readonly string[]): Promise<void> {
  if (deliveryIds.length === 0) return;
  await statements.query(
    `UPDATE parley.deliveries SET state = 'retrying' WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND state = 'retry_pending'`,
    [deliveryIds, ...spanOf(deliveryIds)],
    { prepared: true },
  );
}

/** States from which a delivery can be replayed. */
export function endedAmong(states: readonly DeliveryState[]): readonly DeliveryState[] {
  return states.filter((state) => state === 'succeeded' || state === 'failed' || state === 'skipped');
}
