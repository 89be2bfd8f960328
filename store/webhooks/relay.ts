/** Relays events from the outbox to deliveries. */
import type { Transaction } from '../database.ts';
import { deliveryIdOf } from './delivery-id.ts';
import type { DecideAboutEvents } from './dispatch.ts';
import { readEndpoints } from './endpoints.ts';
import { LANES } from './events.ts';
import { UNFLUSHED_COMMIT } from './statements.ts';
import type { NewDelivery, OutboxOrder, OutboxEvent, PlannedDelivery, RelayResult } from './types.ts';

interface Row {
  readonly event_id: string;
  readonly org: string;
  readonly lane: number;
  readonly name: string | null;
  readonly agent: string | null;
  readonly workspace: string | null;
  readonly only_subscription: string | null;
  readonly except_subscription: string | null;
  readonly created_at: Date | null;
  readonly body: Buffer | null;
  readonly traceparent: string | null;
  readonly subscriptions_version: string | null;
  readonly secrets_version: string | null;
  readonly at: Date | null;
}

/**
 * Deletes and thereby locks the picked events: another relay skips them, and a rollback brings them back. The same statement reads the
 * watermark, so that an event that was committed after a watermark is never seen without it.
 */
const take = (picked: string): string => `
  WITH ${UNFLUSHED_COMMIT}, taken AS (
    DELETE FROM parley.outbox WHERE event_id = ANY (ARRAY(${picked}))
    RETURNING event_id, org, lane
  )
  SELECT t.event_id, t.org, t.lane, e.name, e.agent, e.workspace, e.only_subscription, e.except_subscription, e.created_at, b.body, b.traceparent,
    w.subscriptions_version, w.secrets_version, w.at
  FROM taken t CROSS JOIN unflushed_commit
  LEFT JOIN LATERAL (SELECT * FROM parley.events e WHERE e.id = t.event_id LIMIT 1) e ON true
  LEFT JOIN LATERAL (SELECT b.body, b.traceparent FROM parley.event_bodies b WHERE b.id = t.event_id LIMIT 1) b ON true
  LEFT JOIN LATERAL (
    SELECT * FROM parley.webhook_watermarks w WHERE w.org = t.org AND w.at > statement_timestamp() - interval '10 minutes' LIMIT 1) w ON true
  ORDER BY t.event_id`;

/** Events of one lane that go together when the lanes take turns. */
const OF_A_LANE = 4;

const takeBy: Readonly<Record<OutboxOrder, string>> = {
  age: take('SELECT event_id FROM parley.outbox WHERE due_at <= statement_timestamp() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED'),
  // This starts from a random lane, so that it isn't always the same ones that go first where more than $1 wait.
  turns: take(`
      SELECT o.event_id FROM (
        SELECT ((SELECT floor(random() * ${LANES})::int) + n) % ${LANES} AS lane FROM generate_series(1, ${LANES}) AS n) AS l
      CROSS JOIN LATERAL (
        SELECT o.event_id FROM parley.outbox o WHERE o.lane = l.lane AND o.due_at <= statement_timestamp()
        ORDER BY o.due_at LIMIT ${OF_A_LANE} FOR UPDATE SKIP LOCKED) AS o
      LIMIT $1`),
};

const INSERT = `
  INSERT INTO parley.deliveries (id, org, event_id, event_name, subscription_uid, state, reason, due_at, dispatcher, ended_at)
  SELECT g.id, g.org, g.event_id, g.event_name, g.subscription_uid, g.state, g.reason,
    CASE WHEN g.state = 'pending' THEN statement_timestamp() + g.lease_ms * interval '1 millisecond' END,
    CASE WHEN g.lease_ms > 0 THEN $9::int END, CASE WHEN g.state = 'skipped' THEN statement_timestamp() END
  FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[])
    AS g (id, org, event_id, event_name, subscription_uid, state, reason, lease_ms)
  ON CONFLICT (id) DO NOTHING RETURNING id`;

const PUT_BACK = `
  INSERT INTO parley.outbox (event_id, org, lane, due_at)
  SELECT g.event_id, g.org, g.lane, statement_timestamp() + g.delay_ms * interval '1 millisecond'
  FROM unnest($1::uuid[], $2::text[], $3::int[], $4::int[]) AS g (event_id, org, delay_ms, lane)`;

/** Most rows in one statement: an event of an organisation with many subscriptions makes many. */
const CHUNK = 2_000;

export async function takeOutbox(
  transaction: Transaction,
  limit: number,
  decide: DecideAboutEvents,
  { order = 'age', owner }: { readonly order?: OutboxOrder | undefined; readonly owner: number | null },
): Promise<RelayResult> {
  const { rows } = await transaction.query<Row>(takeBy[order], [limit], { prepared: true });
  if (rows.length === 0) return { taken: 0, postponed: 0, deliveries: [], lost: 0 };
  const events = rows.flatMap(fromRow);
  const { deliveries: planned, postponed = [] } = await decide(events, (uids) => readEndpoints(transaction, { uids }));
  const later = new Map(postponed.map(({ eventId, delayMs }) => [eventId, delayMs]));
  const back = events.filter(({ id }) => later.has(id));
  if (back.length > 0) {
    const lanes = new Map(rows.map(({ event_id: id, lane }) => [id, lane]));
    const delays = back.map(({ id }) => Math.max(0, Math.round(later.get(id) ?? 0)));
    await transaction.query(
      PUT_BACK,
      [back.map(({ id }) => id), back.map(({ org }) => org), delays, back.map(({ id }) => lanes.get(id) ?? 0)],
      { prepared: true },
    );
  }
  const wanted = planned.filter(({ event }) => !later.has(event.id));
  const deliveries: NewDelivery[] = [];
  for (let from = 0; from < wanted.length; from += CHUNK) {
    const last = from + CHUNK >= wanted.length;
    deliveries.push(...(await insertDeliveries(transaction, wanted.slice(from, from + CHUNK), { owner, last })));
  }
  return { taken: events.length - back.length, postponed: back.length, deliveries, lost: rows.length - events.length };
}

async function insertDeliveries(
  transaction: Transaction,
  planned: readonly PlannedDelivery[],
  { owner, last }: { readonly owner: number | null; readonly last: boolean },
): Promise<readonly NewDelivery[]> {
  const ids = planned.map(({ event, subscriptionUid }) => deliveryIdOf(event.id, subscriptionUid));
  const { rows } = await transaction.query<{ id: string }>(
    INSERT,
    [
      ids,
      planned.map(({ event }) => event.org),
      planned.map(({ event }) => event.id),
      planned.map(({ event }) => event.name),
      planned.map(({ subscriptionUid }) => subscriptionUid),
      planned.map(({ state }) => state),
      planned.map(({ state, reason }) => (state === 'skipped' ? (reason ?? null) : null)),
      planned.map(({ leaseMs }) => Math.round(leaseMs ?? 0)),
      owner,
    ],
    { prepared: true, last },
  );
  const inserted = new Set(rows.map(({ id }) => id));
  return planned.flatMap((delivery, index) => {
    const id = ids[index];
    // A decision that names a subscription twice for an event makes one delivery.
    return id !== undefined && inserted.delete(id) ? [{ id, planned: delivery }] : [];
  });
}

/** Returns nothing for an event that has outlived its tables. */
function fromRow(row: Row): readonly OutboxEvent[] {
  if (row.name === null || row.created_at === null || row.body === null) return [];
  return [
    {
      id: row.event_id,
      org: row.org,
      name: row.name,
      agent: row.agent ?? undefined,
      workspace: row.workspace ?? undefined,
      onlySubscription: row.only_subscription ?? undefined,
      exceptSubscription: row.except_subscription ?? undefined,
      body: row.body,
      traceparent: row.traceparent ?? undefined,
      createdAt: row.created_at,
      watermark:
        row.at === null
          ? undefined
          : { subscriptions: row.subscriptions_version ?? undefined, secrets: row.secrets_version ?? undefined, at: row.at },
    },
  ];
}
