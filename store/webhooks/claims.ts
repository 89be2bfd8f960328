/** Leases deliveries to those who attempt them. */
import { liveStates, type ClaimedDelivery, type DeliveryState, type NextStep } from './types.ts';
import { spanOf, stateList, UNFLUSHED_COMMIT, type Statements } from './statements.ts';

/** Most deliveries of one claim. The number stands in the text of the statement: a plan has to know that these are few. */
const LARGEST_CLAIM = 1_000;

const dueOf = (tried: string): string => `(
        SELECT d.id FROM parley.deliveries d
        WHERE d.subscription_uid = w.uid AND d.state = 'pending' AND ${tried} AND d.due_at <= statement_timestamp()
        ORDER BY d.due_at LIMIT w.room FOR UPDATE SKIP LOCKED)`;

const CLAIMED = `d.id, d.org, d.event_id AS "eventId", d.event_name AS "eventName", d.subscription_uid AS "subscriptionUid", d.attempts,
      d.series_start AS "seriesStart", d.created_at AS "createdAt"`;

/** Retries come before first attempts: an endpoint that refuses new events still takes those that it has seen, and so it recovers. */
const claimStatement = `
  WITH ${UNFLUSHED_COMMIT}, picked AS MATERIALIZED (
    SELECT * FROM (SELECT d.id, w.lease_ms
    FROM unnest($1::text[], $2::int[], $3::int[]) AS w (uid, room, lease_ms)
    CROSS JOIN LATERAL (
      SELECT * FROM ${dueOf('d.attempts > d.series_start')} AS retried
      UNION ALL
      SELECT * FROM ${dueOf('d.attempts = d.series_start')} AS untried
      LIMIT w.room) d
    LIMIT $4) AS due
    LIMIT ${LARGEST_CLAIM}
  ), claimed AS (
    UPDATE parley.deliveries d SET due_at = statement_timestamp() + p.lease_ms * interval '1 millisecond', dispatcher = $5
    FROM picked p WHERE d.id = p.id
    RETURNING ${CLAIMED}
  )
  SELECT c.*, b.body, b.traceparent FROM claimed c CROSS JOIN unflushed_commit
  LEFT JOIN LATERAL (SELECT b.body, b.traceparent FROM parley.event_bodies b WHERE b.id = c."eventId" LIMIT 1) b ON true
  ORDER BY c.id`;

const claimOneStatement = `
  WITH claimed AS (
    UPDATE parley.deliveries d SET state = 'retrying', due_at = statement_timestamp() + $2 * interval '1 millisecond'
    WHERE d.id = $1 AND d.state IN ('retry_pending', 'retrying') AND d.due_at <= statement_timestamp()
    RETURNING ${CLAIMED}
  )
  SELECT c.*, b.body, b.traceparent FROM claimed c
  LEFT JOIN LATERAL (SELECT b.body, b.traceparent FROM parley.event_bodies b WHERE b.id = c."eventId" LIMIT 1) b ON true`;

/** Jumps from one subscription to the next through the index, however many rows each of them has. */
export const PENDING_SUBSCRIPTIONS = `
  WITH RECURSIVE subscriptions (uid) AS (
    (SELECT d.subscription_uid FROM parley.deliveries d WHERE d.state = 'pending' ORDER BY d.subscription_uid LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_uid FROM parley.deliveries d WHERE d.state = 'pending' AND d.subscription_uid > s.uid ORDER BY d.subscription_uid LIMIT 1)
    FROM subscriptions s WHERE s.uid IS NOT NULL
  )`;

const dueStatement = `${PENDING_SUBSCRIPTIONS}
  SELECT s.uid FROM subscriptions s
  WHERE s.uid IS NOT NULL
    AND (SELECT d.due_at FROM parley.deliveries d WHERE d.state = 'pending' AND d.subscription_uid = s.uid ORDER BY d.due_at LIMIT 1) <= statement_timestamp()`;

const subscriptionsInStatement = (states: string): string => `
  WITH RECURSIVE subscriptions (uid) AS (
    (SELECT d.subscription_uid FROM parley.deliveries d WHERE d.state NOT IN ('pending', 'succeeded') ORDER BY d.subscription_uid LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_uid FROM parley.deliveries d
      WHERE d.state NOT IN ('pending', 'succeeded') AND d.subscription_uid > s.uid ORDER BY d.subscription_uid LIMIT 1)
    FROM subscriptions s WHERE s.uid IS NOT NULL
  )
  SELECT s.uid FROM subscriptions s
  WHERE s.uid IS NOT NULL AND EXISTS (SELECT FROM parley.deliveries d WHERE d.subscription_uid = s.uid AND d.state IN (${states}))`;

type ClaimedRow = Omit<ClaimedDelivery, 'body'> & { readonly body: Buffer | null };

export async function claim(
  statements: Statements,
  rooms: ReadonlyMap<string, number>,
  leaseMs: (subscriptionUid: string) => number,
  limit: number,
  owner: number | null,
): Promise<readonly ClaimedDelivery[]> {
  const wanted = [...rooms].filter(([, room]) => room >= 1);
  if (wanted.length === 0 || limit < 1) return [];
  const uids = wanted.map(([uid]) => uid);
  const shares = wanted.map(([, room]) => Math.trunc(room));
  const leases = uids.map((uid) => Math.round(leaseMs(uid)));
  const { rows } = await statements.query<ClaimedRow>(claimStatement, [uids, shares, leases, Math.trunc(limit), owner], { prepared: true });
  return withBodies(statements, rows);
}

export async function claimOne(
  statements: Statements,
  deliveryId: string,
  leaseMs: number,
): Promise<ClaimedDelivery | { readonly state: DeliveryState; readonly dueInMs: number } | undefined> {
  const { rows } = await statements.query<ClaimedRow>(claimOneStatement, [deliveryId, Math.round(leaseMs)], { prepared: true });
  const [claimed] = await withBodies(statements, rows);
  if (claimed !== undefined) return claimed;
  const found = await statements.query<{ state: DeliveryState; dueInMs: number }>(
    `SELECT state, CASE WHEN ended_at IS NULL THEN greatest(0, coalesce(extract(epoch FROM due_at - statement_timestamp()), 0) * 1000) ELSE 0 END::float8 AS "dueInMs"
     FROM parley.deliveries WHERE id = $1`,
    [deliveryId],
    { prepared: true },
  );
  return found.rows[0];
}

/** Ends deliveries that can't be sent any more, because their bodies are no longer kept. */
async function withBodies(statements: Statements, rows: readonly ClaimedRow[]): Promise<readonly ClaimedDelivery[]> {
  const bare = rows.filter(({ body }) => body === null).map(({ id }) => id);
  await settle(statements, bare, { state: 'failed' }, 'body_expired');
  return rows.flatMap(({ body, traceparent, ...row }) => (body === null ? [] : [{ ...row, body, traceparent: traceparent ?? undefined }]));
}

export async function dueSubscriptions(statements: Statements): Promise<readonly string[]> {
  const { rows } = await statements.query<{ uid: string }>(dueStatement, [], { prepared: true });
  return rows.map(({ uid }) => uid);
}

export async function subscriptionsIn(statements: Statements, states: readonly DeliveryState[]): Promise<readonly string[]> {
  const found = new Set<string>();
  if (states.includes('pending')) {
    const { rows } = await statements.query<{ uid: string }>(
      `${PENDING_SUBSCRIPTIONS} SELECT uid FROM subscriptions WHERE uid IS NOT NULL`,
    );
    for (const { uid } of rows) found.add(uid);
  }
  const others = states.filter((state) => state !== 'pending' && state !== 'succeeded');
  if (others.length > 0) {
    const { rows } = await statements.query<{ uid: string }>(subscriptionsInStatement(stateList(others)));
    for (const { uid } of rows) found.add(uid);
  }
  return [...found];
}

export async function release(statements: Statements, deliveryIds: readonly string[], delayMs: number): Promise<void> {
  if (deliveryIds.length === 0) return;
  await statements.query(
    `UPDATE parley.deliveries SET due_at = statement_timestamp() + $4 * interval '1 millisecond', dispatcher = NULL
     WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND state IN ('pending', 'retrying')`,
    [deliveryIds, ...spanOf(deliveryIds), Math.round(delayMs)],
    { prepared: true },
  );
}

export async function settle(
  statements: Statements,
  deliveryIds: readonly string[],
  next: NextStep | { readonly state: 'skipped' },
  reason?: string,
): Promise<void> {
  if (deliveryIds.length === 0) return;
  const ended = next.state === 'succeeded' || next.state === 'failed' || next.state === 'skipped';
  await statements.query(
    `UPDATE parley.deliveries SET state = $4, reason = $5, ended_at = CASE WHEN $6 THEN statement_timestamp() END,
       due_at = statement_timestamp() + $7::float8 * interval '1 millisecond'
     WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND state IN (${stateList(liveStates)})`,
    [deliveryIds, ...spanOf(deliveryIds), next.state, reason ?? null, ended, 'delayMs' in next ? next.delayMs : null],
    { prepared: true },
  );
}
