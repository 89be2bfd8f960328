/** Finds calls that no job ends across organisations, by their times alone. */
import type { Database } from '../database.ts';
import type { CallRef } from './call-record.ts';
import type { CallStatus } from './call-state.ts';

/** Time limits in milliseconds. */
export interface OverdueLimits {
  /** Limit from the registration to a job, which then waits for the user, or dials. */
  readonly joinMs: number;
  /** Limit since the last heartbeat of a call's job, whether the call has started or the callee's phone still rings. */
  readonly silenceMs: number;
  /** Extra time beyond the longest duration, which the job itself enforces. */
  readonly graceMs: number;
}

/** Limit from the registration to the first media where there is a job, in milliseconds: longer than it waits, or a phone rings. */
const WITH_JOB_MS = 660_000;

export interface OverdueCall extends CallRef {
  readonly room: string;
  readonly cause: 'not_joined' | 'job_silent' | 'too_long';
  readonly status: CallStatus;
  readonly jobSeenAt: Date | null;
  /** Milliseconds since the registration. */
  readonly ageMs: number;
}

/** Returns the oldest first, `limit` (200) at most. The caller ends each of them only in the state that it was seen in. */
export async function overdueCalls(
  database: Database,
  { joinMs, silenceMs, graceMs, limit = 200 }: OverdueLimits & { readonly limit?: number },
): Promise<readonly OverdueCall[]> {
  return database.asDirectory(async (transaction) => {
    const { rows } = await transaction.query<OverdueCall & Record<string, unknown>>(
      `SELECT org, id, room, cause, status, job_seen_at AS "jobSeenAt",
         (extract(epoch FROM now() - created_at) * 1000)::float8 AS "ageMs" FROM (
         SELECT org, id, room, status, created_at, job_seen_at, CASE
           WHEN status = 'registered'
             AND created_at < now() - (CASE WHEN job_seen_at IS NULL THEN $1 ELSE $5 END)::float8 * interval '1 millisecond' THEN 'not_joined'
           WHEN status = 'ongoing' AND started_at < now() - (max_duration_ms + $3) * interval '1 millisecond' THEN 'too_long'
           WHEN coalesce(job_seen_at, started_at) < now() - $2 * interval '1 millisecond' THEN 'job_silent'
         END AS cause
         FROM parley.calls WHERE status IN ('registered', 'ongoing')
       ) AS live WHERE cause IS NOT NULL ORDER BY created_at LIMIT $4`,
      [joinMs, silenceMs, graceMs, limit, WITH_JOB_MS],
    );
    return rows;
  });
}
