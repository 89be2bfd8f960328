/** Deletes calls, and finds calls and recordings whose retention is over. */
import type { Transaction } from '../database.ts';
import { Repository } from '../repository.ts';
import type { CallRef, StoredRecording } from './call-record.ts';
import { eraseCallTraces } from './erasures.ts';

/** Returns the body of an event without the call's content; undefined where it has none of it. */
export type RedactEvent = (event: { readonly name: string; readonly body: Uint8Array }) => Uint8Array | undefined;

/** Limits a query to the oldest rows of one organisation. */
export interface Batch {
  readonly org: string;
  readonly limit: number;
}

/** Days for which a deleted call stays known: longer than a spool keeps recordings of unknown calls. */
export const KNOWN_DAYS = 8;

export class CallDeletions extends Repository {
  /**
   * Deletes a call that is over, with its transcript, turns and analysis, and redacts its events. Events stay, so that due ones are
   * delivered.
   *
   * @param recordingKey key of its recording, which the caller has deleted from the storage
   * @param erasure id of the erasure of a person to which it belongs: what else names the call is erased, too, and counted
   * @returns false for a call that isn't there, that isn't over, or that has another recording by now
   */
  async delete({
    org,
    id,
    recordingKey,
    redact,
    erasure,
  }: CallRef & {
    readonly recordingKey: string | null;
    readonly redact: RedactEvent;
    readonly erasure?: string | undefined;
  }): Promise<boolean> {
    return this.database.asOrganization(org, async (transaction) => {
      if (erasure !== undefined && (await isDeletable(transaction, { org, id, recordingKey })))
        await eraseCallTraces(transaction, { org, id }, { erasure, redact });
      const { rowCount } = await transaction.query(
        `WITH deleted AS (
           DELETE FROM parley.calls
           WHERE org = $1 AND id = $2 AND status IN ('ended', 'error') AND recording_key IS NOT DISTINCT FROM $3 RETURNING org, id
         )
         INSERT INTO parley.deleted_calls (org, call_id) SELECT org, id FROM deleted`,
        [org, id, recordingKey],
      );
      if (rowCount > 0) await redactEvents(transaction, { org, id }, redact);
      return rowCount > 0;
    });
  }

  /** Tells whether the call was deleted within the last {@link KNOWN_DAYS} days. */
  async has({ org, id }: CallRef): Promise<boolean> {
    const found = await this.#ids(org, 'SELECT call_id AS id FROM parley.deleted_calls WHERE org = $1 AND call_id = $2', [org, id]);
    return found.length > 0;
  }

  /** Returns ids of calls that are older than their organisation keeps them. */
  async callsDue({ org, limit }: Batch): Promise<readonly string[]> {
    return this.#ids(
      org,
      `SELECT c.id FROM parley.calls c JOIN parley.organizations o ON o.name = c.org
       WHERE c.org = $1 AND c.ended_at < now() - make_interval(days => o.call_retention_days) ORDER BY c.ended_at LIMIT $2`,
      [org, limit],
    );
  }

  /** Returns recordings that are older than their agent, or else their organisation, keeps them. */
  async recordingsDue({ org, limit }: Batch): Promise<readonly (Pick<CallRef, 'id'> & Pick<StoredRecording, 'key'>)[]> {
    const { rows } = await this.database.queryAs<{ id: string; key: string }>(
      org,
      `SELECT c.id, c.recording_key AS key FROM parley.calls c JOIN parley.organizations o ON o.name = c.org
       WHERE c.org = $1 AND c.recording_key IS NOT NULL
         AND c.ended_at < now() - coalesce(c.recording_retention_ms * interval '1 millisecond', make_interval(days => o.recording_retention_days))
       ORDER BY c.ended_at LIMIT $2`,
      [org, limit],
    );
    return rows;
  }

  async forgetRecording({ org, id, key }: CallRef & Pick<StoredRecording, 'key'>): Promise<void> {
    await this.database.queryAs(
      org,
      `UPDATE parley.calls SET recording_key = NULL, recording_bytes = NULL, recording_duration_ms = NULL, recorded_at = NULL
       WHERE org = $1 AND id = $2 AND recording_key = $3`,
      [org, id, key],
    );
  }

  /** Returns ids of calls that were deleted so long ago that no process has anything of them. */
  async settled({ org, limit }: Batch): Promise<readonly string[]> {
    return this.#ids(
      org,
      `SELECT call_id AS id FROM parley.deleted_calls WHERE org = $1 AND deleted_at < now() - make_interval(days => $3) ORDER BY deleted_at LIMIT $2`,
      [org, limit, KNOWN_DAYS],
    );
  }

  /** Forgets that a call was deleted: from now on it is an unknown one. */
  async forget({ org, id }: CallRef): Promise<void> {
    await this.database.queryAs(org, 'DELETE FROM parley.deleted_calls WHERE org = $1 AND call_id = $2', [org, id]);
  }

  async #ids(org: string, sql: string, values: readonly unknown[]): Promise<readonly string[]> {
    const { rows } = await this.database.queryAs<{ id: string }>(org, sql, values);
    return rows.map(({ id }) => id);
  }
}

/** Tells whether the call goes, and keeps it as it is until the transaction is over. */
async function isDeletable(
  transaction: Transaction,
  { org, id, recordingKey }: CallRef & { readonly recordingKey: string | null },
): Promise<boolean> {
  const { rowCount } = await transaction.query(
    `SELECT FROM parley.calls WHERE org = $1 AND id = $2 AND status IN ('ended', 'error') AND recording_key IS NOT DISTINCT FROM $3 FOR UPDATE`,
    [org, id, recordingKey],
  );
  return rowCount > 0;
}

async function redactEvents(transaction: Transaction, { org, id }: CallRef, redact: RedactEvent): Promise<void> {
  const { rows } = await transaction.query<{ id: string; name: string; body: Buffer }>(
    'SELECT e.id, e.name, b.body FROM parley.events e JOIN parley.event_bodies b ON b.id = e.id WHERE e.org = $1 AND e.call_id = $2',
    [org, id],
  );
  for (const event of rows) {
    const body = redact(event);
    if (body !== undefined) await transaction.query('UPDATE parley.event_bodies SET body = $2 WHERE id = $1', [event.id, body]);
  }
}
