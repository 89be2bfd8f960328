/** Finds calls without a heartbeat of a job across organisations, by their times alone. */
import type { Database } from '../database.ts';
import type { CallRef } from './call-record.ts';

export interface UnservedCall extends CallRef {
  readonly room: string;
}

/** Milliseconds without a heartbeat after which a call may be picked up again. A job sends one every 8 s. */
export const HEARTBEAT_TIMEOUT_MS = 10_000;

/** Returns the newest first, `limit` (200) at most: of calls that no user has joined yet, the newest are the likeliest to be joined. */
export async function unservedCalls(database: Database, { limit = 200 } = {}): Promise<readonly UnservedCall[]> {
  return database.asDirectory(async (transaction) => {
    const { rows } = await transaction.query<UnservedCall & Record<string, unknown>>(
      `SELECT org, id, room FROM parley.calls
       WHERE status = 'registered' AND (job_seen_at IS NULL OR job_seen_at < now() - $1 * interval '1 millisecond')
       ORDER BY created_at DESC LIMIT $2`,
      [HEARTBEAT_TIMEOUT_MS, limit],
    );
    return rows;
  });
}

/** Returns those of the rooms that no call has. */
export async function roomsWithoutCall(database: Database, rooms: readonly string[]): Promise<readonly string[]> {
  if (rooms.length === 0) return [];
  return database.asDirectory(async (transaction) => {
    const { rows } = await transaction.query<{ readonly room: string }>(
      `SELECT room FROM unnest($1::text[]) AS of_gateway (room)
       WHERE NOT EXISTS (SELECT FROM parley.calls WHERE calls.room = of_gateway.room)`,
      [rooms],
    );
    return rows.map(({ room }) => room);
  });
}
