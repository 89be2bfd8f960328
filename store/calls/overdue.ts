/** Calls that no job ends: found across organisations, by their times alone. */
import type { Database } from '../database.ts';
import type { CallRef } from './call-record.ts';
import type { CallStatus } from './call-state.ts';

/** How long things may take, in milliseconds. */
export interface OverdueLimits {
  /** From the registration to the first media. */
  readonly joinMs: number;
  /** Since the last heartbeat of a call's job, whether the call has started or the callee's phone still rings. */
  readonly silenceMs: number;
  /** Beyond the longest duration, which the job itself keeps. */
  readonly graceMs: number;
}

export interface OverdueCall extends CallRef {
  readonly room: string;
  readonly cause: 'not_joined' | 'job_silent' | 'too_long';
  readonly status: CallStatus;
  readonly jobSeenAt: Date | null;
}

/** The oldest first, `limit` (200) at most. Ending them is the caller's: each as it was seen, or not at all. */
export async function overdueCalls(
  database: Database,
  { joinMs, silenceMs, graceMs, limit = 200 }: OverdueLimits & { readonly limit?: number },
): Promise<readonly OverdueCall[]> {
  return database.asDirectory(async (transaction) => {
    const { rows } = await transaction.query<OverdueCall & Record<string, unknown>>(
      `SELECT org, id, room, cause, status, job_seen_at AS "jobSeenAt" FROM (
         SELECT org, id, room, status, created_at, job_seen_at, CASE
           WHEN status = 'registered' AND created_at < now() - $1 * interval '1 millisecond' THEN 'not_joined'
           WHEN status = 'ongoing' AND started_at < now() - (max_duration_ms + $3) * interval '1 millisecond' THEN 'too_long'
           WHEN coalesce(job_seen_at, started_at) < now() - $2 * interval '1 millisecond' THEN 'job_silent'
         END AS cause
         FROM parley.calls WHERE status IN ('registered', 'ongoing')
       ) AS live WHERE cause IS NOT NULL ORDER BY created_at LIMIT $4`,
      [joinMs, silenceMs, graceMs, limit],
    );
    return rows;
  });
}
