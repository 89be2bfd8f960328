import type { Transaction } from '../database.ts';
import { OUTBOX_CHANNEL } from './events.ts';
import { readDelivery } from './lists.ts';
import { stateList } from './statements.ts';
import { endedAmong } from './transitions.ts';
import type { DeliveryRecord, DeliveryState } from './types.ts';

/** Starts a new series, which has all of its retries before it. */
const RESTARTED = `state = 'pending', series_start = attempts, due_at = statement_timestamp(), reason = NULL, ended_at = NULL`;

export async function redeliver(
  transaction: Transaction,
  { org, deliveryId }: { readonly org: string; readonly deliveryId: string },
): Promise<DeliveryRecord | 'gone' | undefined> {
  const found = await readDelivery(transaction, org, deliveryId);
  if (found === undefined) return undefined;
  const { rows } = await transaction.query<{ kept: boolean }>('SELECT EXISTS (SELECT FROM parley.event_bodies WHERE id = $1) AS kept', [
    found.eventId,
  ]);
  if (rows[0]?.kept !== true) return 'gone';
  await transaction.query(
    `UPDATE parley.deliveries SET ${RESTARTED} WHERE org = $1 AND id = $2 AND state IN ('succeeded', 'failed', 'skipped')`,
    [org, deliveryId],
  );
  // A workflow that has the delivery finds the claim gone and ends.
  await transaction.query(
    `UPDATE parley.deliveries SET state = 'pending', due_at = statement_timestamp() WHERE org = $1 AND id = $2 AND state IN ('retry_pending', 'retrying', 'paused')`,
    [org, deliveryId],
  );
  transaction.notifyAfterCommit(OUTBOX_CHANNEL);
  return readDelivery(transaction, org, deliveryId);
}

export interface RecoverChunk {
  readonly org: string;
  readonly subscriptionUid: string;
  readonly since: Date;
  readonly until?: Date | undefined;
  readonly states?: readonly DeliveryState[] | undefined;
  /** Id of the last delivery that was replayed; empty at the beginning. */
  readonly after: string;
  readonly limit: number;
}

/** @returns how many were replayed, and the last of them; undefined when that was all */
export async function recoverChunk(
  transaction: Transaction,
  { org, subscriptionUid, since, until, states = ['failed', 'skipped'], after, limit }: RecoverChunk,
): Promise<{ readonly moved: number; readonly last: string | undefined }> {
  const { rows } = await transaction.query<{ id: string }>(
    `UPDATE parley.deliveries SET ${RESTARTED}
     WHERE id = ANY (ARRAY(
       SELECT d.id FROM parley.deliveries d
       WHERE d.org = $1 AND d.subscription_uid = $2 AND d.state IN (${stateList(endedAmong(states))})
         AND d.id >= parley.uuid_at($3) AND d.id < coalesce(parley.uuid_at($4), 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
         AND ($5::uuid IS NULL OR d.id > $5) AND EXISTS (SELECT FROM parley.event_bodies b WHERE b.id = d.event_id)
       ORDER BY d.id LIMIT $6 FOR UPDATE OF d))
     RETURNING id`,
    [org, subscriptionUid, since, until ?? null, after === '' ? null : after, limit],
  );
  if (rows.length > 0) transaction.notifyAfterCommit(OUTBOX_CHANNEL);
  const last = rows.length < limit ? undefined : rows.reduce((most, { id }) => (id > most ? id : most), '');
  return { moved: rows.length, last };
}
