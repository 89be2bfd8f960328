/** Lists deliveries and their attempts. */
import type { Transaction } from '../database.ts';
import { stateList, UUID_PATTERN, withoutNulls } from './statements.ts';
import type { AttemptRecord, DeliveryRecord, DeliveryState, EventRecord } from './types.ts';

const DELIVERY_COLUMNS = `id, org, event_id AS "eventId", event_name AS "eventName", subscription_uid AS "subscriptionUid", state, reason, attempts,
  series_start AS "seriesStart", CASE WHEN ended_at IS NULL THEN due_at END AS "dueAt", created_at AS "createdAt", ended_at AS "endedAt"`;

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const ALL_IDS = ['00000000-0000-0000-0000-000000000000', LAST_ID] as const;
const CALL_ID = /^call_([0-9a-f]{8})-([0-9a-f]{4})-7/;
/** The clocks of two machines differ by less than this, in milliseconds. */
const CLOCK_DIFFERENCE_MS = 60_000;
/** Milliseconds after its registration at which a call has no more events: it lasts two hours at most, and is then analysed. */
const LAST_EVENT_AFTER_MS = 24 * 3_600_000;

/**
 * Returns the range of delivery ids for a call's events: ids of deliveries begin with the time of their events, and the id of a call has
 * the time of its registration. Empty for an impossible id.
 */
function idsOfCall(callId: string): readonly [string, string] {
  const [, high, low] = CALL_ID.exec(callId) ?? [];
  if (high === undefined || low === undefined) return [LAST_ID, LAST_ID];
  const registeredAt = Number.parseInt(high + low, 16);
  const idAt = (time: number): string => {
    const hex = Math.max(0, time).toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
  };
  return [idAt(registeredAt - CLOCK_DIFFERENCE_MS), idAt(registeredAt + LAST_EVENT_AFTER_MS)];
}

/**
 * Returns the call's field as `envelopeBytes` writes it. Inside a string of the body its quotation marks would be escaped, so that only the
 * field matches.
 */
function callInBody(callId: string): string {
  return `"call_id":${JSON.stringify(callId)}`;
}

export interface DeliveriesPage {
  readonly org: string;
  readonly subscriptionUid: string;
  readonly states?: readonly DeliveryState[] | undefined;
  readonly eventName?: string | undefined;
  /** Returns only deliveries of events of this call whose bodies are kept. */
  readonly callId?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

export async function listDeliveries(transaction: Transaction, page: DeliveriesPage): Promise<readonly DeliveryRecord[]> {
  const { org, subscriptionUid, states, eventName, callId, before, limit } = page;
  if (before !== undefined && !UUID_PATTERN.test(before)) return [];
  const [from, to] = callId === undefined ? ALL_IDS : idsOfCall(callId);
  const { rows } = await transaction.query<DeliveryRecord>(
    `SELECT ${DELIVERY_COLUMNS} FROM parley.deliveries
     WHERE org = $1 AND subscription_uid = $2 ${states === undefined ? '' : `AND state IN (${stateList(states)})`}
       AND ($3::text IS NULL OR event_name = $3) AND id >= $6 AND id < least($4::uuid, $7::uuid)
       AND ($8::text IS NULL OR EXISTS (SELECT FROM parley.event_bodies b WHERE b.id = event_id AND position(convert_to($8, 'UTF8') IN b.body) > 0))
     ORDER BY id DESC LIMIT $5`,
    [org, subscriptionUid, eventName ?? null, before ?? LAST_ID, limit, from, to, callId === undefined ? null : callInBody(callId)],
  );
  return rows.map(withoutNulls);
}

export async function readDelivery(transaction: Transaction, org: string, deliveryId: string): Promise<DeliveryRecord | undefined> {
  if (!UUID_PATTERN.test(deliveryId)) return undefined;
  const { rows } = await transaction.query<DeliveryRecord>(`SELECT ${DELIVERY_COLUMNS} FROM parley.deliveries WHERE org = $1 AND id = $2`, [
    org,
    deliveryId,
  ]);
  return rows[0] && withoutNulls(rows[0]);
}

export async function listAttempts(
  transaction: Transaction,
  { org, deliveryId, limit = 1_000 }: { readonly org: string; readonly deliveryId: string; readonly limit?: number | undefined },
): Promise<readonly AttemptRecord[]> {
  if (!UUID_PATTERN.test(deliveryId)) return [];
  const { rows } = await transaction.query<AttemptRecord>(
    `SELECT number, started_at AS "startedAt", duration_ms AS "durationMs", succeeded, reason, status_code AS "statusCode", message
     FROM parley.delivery_attempts
     WHERE org = $1 AND delivery_id = $2 ORDER BY number LIMIT $3`,
    [org, deliveryId, limit],
  );
  return rows.map(withoutNulls);
}

export async function listEvents(
  transaction: Transaction,
  { org, after, limit }: { readonly org: string; readonly after: string; readonly limit: number },
): Promise<readonly EventRecord[]> {
  const { rows } = await transaction.query<EventRecord>(
    `SELECT e.id, e.name, e.agent, e.workspace, e.created_at AS "createdAt", b.body
     FROM (SELECT * FROM parley.events WHERE org = $1 AND id > $2 ORDER BY id LIMIT $3) e
     LEFT JOIN LATERAL (SELECT b.body FROM parley.event_bodies b WHERE b.id = e.id LIMIT 1) b ON true ORDER BY e.id`,
    [org, after, limit],
  );
  return rows.map(withoutNulls);
}
