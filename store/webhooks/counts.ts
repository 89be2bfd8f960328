import type { Statements } from './statements.ts';
import type { DeliveryCounts } from './types.ts';

/** A backlog is counted up to this number: beyond it the exact figure isn't worth the time. */
const COUNTED = 200_000;

const statement = `
  WITH RECURSIVE subscriptions (uid) AS (
    (SELECT d.subscription_uid FROM parley.deliveries d WHERE d.state = 'pending' ORDER BY d.subscription_uid LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_uid FROM parley.deliveries d WHERE d.state = 'pending' AND d.subscription_uid > s.uid ORDER BY d.subscription_uid LIMIT 1)
    FROM subscriptions s WHERE s.uid IS NOT NULL
  )
  SELECT
    (SELECT count(*)::int FROM (SELECT FROM parley.deliveries WHERE state = 'pending' LIMIT ${COUNTED}) c) AS pending,
    (SELECT count(*)::int FROM (SELECT FROM parley.deliveries WHERE state = 'retry_pending' LIMIT ${COUNTED}) c) AS retry_pending,
    (SELECT count(*)::int FROM (SELECT FROM parley.deliveries WHERE state = 'retrying' LIMIT ${COUNTED}) c) AS retrying,
    (SELECT count(*)::int FROM (SELECT FROM parley.deliveries WHERE state = 'paused' LIMIT ${COUNTED}) c) AS paused,
    (SELECT count(*)::int FROM (SELECT FROM parley.outbox LIMIT ${COUNTED}) c) AS outbox,
    (SELECT extract(epoch FROM statement_timestamp() - min(due_at)) * 1000 FROM (SELECT due_at FROM parley.outbox ORDER BY due_at LIMIT 1) o)::float8
      AS oldest_outbox,
    (SELECT extract(epoch FROM statement_timestamp() - min(oldest.due_at)) * 1000 FROM subscriptions s CROSS JOIN LATERAL (
      SELECT d.due_at FROM parley.deliveries d WHERE d.state = 'pending' AND d.subscription_uid = s.uid ORDER BY d.due_at LIMIT 1) oldest)::float8
      AS oldest_pending`;

interface Row {
  readonly pending: number;
  readonly retry_pending: number;
  readonly retrying: number;
  readonly paused: number;
  readonly outbox: number;
  readonly oldest_outbox: number | null;
  readonly oldest_pending: number | null;
}

export async function countDeliveries(statements: Statements): Promise<DeliveryCounts> {
  const { rows } = await statements.query<Row>(statement, [], { prepared: true });
  const { pending = 0, retry_pending = 0, retrying = 0, paused = 0, outbox = 0, oldest_outbox = 0, oldest_pending = 0 } = rows[0] ?? {};
  return {
    byState: { pending, retry_pending, retrying, paused },
    outbox,
    oldestOutboxMs: Math.max(0, oldest_outbox ?? 0),
    oldestPendingMs: Math.max(0, oldest_pending ?? 0),
  };
}
