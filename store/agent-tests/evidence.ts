/**
 * Reads the evidence of an agent's tests: for each configuration and each test, the newest result and the run that has yet to evaluate it.
 */
import type { StoredVerdict, TestEvidence } from './test-run-record.ts';

export const EVIDENCE_QUERY = `
WITH results AS (
  SELECT r.config_hash, t.test_name, t.test_digest, t.verdict, t.message, t.finished_at, r.id, r.due_at,
    max(t.finished_at) FILTER (WHERE t.verdict IN ('passed', 'failed')) OVER (PARTITION BY r.config_hash, t.test_name, t.test_digest) AS last_sound
  FROM parley.test_runs r JOIN parley.test_results t ON t.org = r.org AND t.run_id = r.id
  WHERE r.org = $1 AND r.agent_name = $2 AND (t.verdict IS NOT NULL OR r.state IN ('queued', 'running'))
)
SELECT config_hash AS "configHash", test_name AS "testName", test_digest AS digest,
  (array_agg(verdict ORDER BY finished_at DESC, id DESC) FILTER (WHERE verdict IS NOT NULL))[1] AS verdict,
  (array_agg(message ORDER BY finished_at DESC, id DESC) FILTER (WHERE verdict IS NOT NULL))[1] AS message,
  (array_agg(id ORDER BY finished_at DESC, id DESC) FILTER (WHERE verdict IS NOT NULL))[1] AS "runId",
  max(finished_at) AS "finishedAt",
  count(*) FILTER (WHERE verdict = 'error' AND finished_at > coalesce(last_sound, '-infinity'))::int AS errors,
  (array_agg(id ORDER BY id) FILTER (WHERE verdict IS NULL))[1] AS "pendingRunId",
  (array_agg(due_at ORDER BY id) FILTER (WHERE verdict IS NULL))[1] AS "pendingDueAt"
FROM results GROUP BY config_hash, test_name, test_digest`;

export interface EvidenceRow extends Record<string, unknown> {
  readonly configHash: string;
  readonly testName: string;
  readonly digest: string;
  readonly verdict: StoredVerdict | null;
  readonly message: string | null;
  readonly runId: string | null;
  readonly finishedAt: Date | null;
  readonly errors: number;
  readonly pendingRunId: string | null;
  readonly pendingDueAt: Date | null;
}

export function toEvidence(row: EvidenceRow): TestEvidence {
  const { configHash, testName, digest, verdict, message, runId, finishedAt, errors, pendingRunId, pendingDueAt } = row;
  return {
    configHash,
    testName,
    digest,
    ...(verdict !== null && runId !== null && finishedAt !== null && { newest: { verdict, message, runId, finishedAt, errors } }),
    ...(pendingRunId !== null && pendingDueAt !== null && { pending: { runId: pendingRunId, dueAt: pendingDueAt } }),
  };
}
