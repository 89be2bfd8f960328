import { DAY_MS } from '../../platform/time.ts';
import type { Database } from '../database.ts';
import {
  RESULT_COLUMNS,
  RUN_COLUMNS,
  type AgentResult,
  type TestResultRecord,
  type TestRunRecord,
  type TestRunRef,
  type TestRunState,
} from './test-run-record.ts';

export interface TestRunList {
  readonly org: string;
  readonly agentName?: string | undefined;
  readonly testName?: string | undefined;
  readonly state?: TestRunState | undefined;
  readonly pageSize: number;
  /** Id of the last run of the page before. */
  readonly after?: string | undefined;
}

/** A run with all of its results, sorted by name of the test. */
export interface TestRunWithResults extends TestRunRecord {
  readonly results: readonly TestResultRecord[];
}

export async function getRun(database: Database, { org, id }: TestRunRef): Promise<TestRunWithResults | undefined> {
  return database.asOrganization(
    org,
    async (transaction) => {
      const runs = await transaction.query<TestRunRecord & Record<string, unknown>>(
        `SELECT ${RUN_COLUMNS} FROM parley.test_runs WHERE org = $1 AND id = $2`,
        [org, id],
      );
      if (runs.rows[0] === undefined) return undefined;
      const { rows } = await transaction.query<TestResultRecord & Record<string, unknown>>(
        `SELECT ${RESULT_COLUMNS}, t.result FROM parley.test_results t WHERE t.org = $1 AND t.run_id = $2 ORDER BY t.test_name`,
        [org, id],
      );
      return { ...runs.rows[0], results: rows };
    },
    { snapshot: true },
  );
}

/** Lists runs, the newest first. @returns `next` for `after`; undefined on the last page */
export async function listRuns(
  database: Database,
  { org, agentName, testName, state, pageSize, after }: TestRunList,
): Promise<{
  readonly items: readonly TestRunRecord[];
  readonly next: string | undefined;
}> {
  const { rows } = await database.queryAs<TestRunRecord & Record<string, unknown>>(
    org,
    `SELECT ${RUN_COLUMNS} FROM parley.test_runs r
     WHERE org = $1 AND ($2::text IS NULL OR agent_name = $2) AND ($3::text IS NULL OR state = $3) AND ($4::text IS NULL OR id < $4)
       AND ($5::text IS NULL OR EXISTS (SELECT FROM parley.test_results t WHERE t.org = r.org AND t.run_id = r.id AND t.test_name = $5))
     ORDER BY id DESC LIMIT $6`,
    [org, agentName ?? null, state ?? null, after ?? null, testName ?? null, pageSize + 1],
  );
  const items = rows.slice(0, pageSize);
  return { items, next: rows.length > pageSize ? items.at(-1)?.id : undefined };
}

/** Returns the newest result of each agent in a test, sorted by name of the agent; `verdict` is null while it is to be evaluated. */
export async function newestResultsOf(
  database: Database,
  { org, testName }: { readonly org: string; readonly testName: string },
): Promise<readonly AgentResult[]> {
  const { rows } = await database.queryAs<AgentResult & Record<string, unknown>>(
    org,
    `SELECT DISTINCT ON (r.agent_name) r.agent_name AS "agentName", r.revision, r.id AS "runId", r.state AS "runState", r.created_at AS "createdAt",
       ${RESULT_COLUMNS}
     FROM parley.test_results t JOIN parley.test_runs r ON r.org = t.org AND r.id = t.run_id
     WHERE t.org = $1 AND t.test_name = $2 AND (t.verdict IS NOT NULL OR r.state IN ('queued', 'running'))
     ORDER BY r.agent_name, r.id DESC`,
    [org, testName],
  );
  return rows;
}

/**
 * Deletes runs that ended more than `keepForMs` (30 days) ago, about `limit` (500) at most. It keeps the newest result of each test of a
 * configuration, because serving may depend on it. Runs of deleted revisions go with them.
 */
export async function pruneRuns(
  database: Database,
  {
    org,
    keepForMs = 30 * DAY_MS,
    limit = 500,
  }: {
    readonly org: string;
    readonly keepForMs?: number | undefined;
    readonly limit?: number | undefined;
  },
): Promise<number> {
  const { rowCount } = await database.queryAs(
    org,
    `DELETE FROM parley.test_runs WHERE org = $1 AND id IN (
         SELECT r.id FROM parley.test_runs r
         WHERE r.org = $1 AND r.finished_at < now() - $2 * interval '1 millisecond' AND (r.state = 'cancelled' OR NOT EXISTS (
           SELECT FROM parley.test_results t WHERE t.org = $1 AND t.run_id = r.id AND NOT EXISTS (
             SELECT FROM parley.test_results newer JOIN parley.test_runs n ON n.org = newer.org AND n.id = newer.run_id
             WHERE newer.org = $1 AND newer.test_name = t.test_name AND newer.test_digest = t.test_digest AND n.agent_name = r.agent_name
               AND n.config_hash = r.config_hash AND (newer.finished_at, newer.run_id) > (t.finished_at, t.run_id))))
         ORDER BY r.finished_at LIMIT $3)`,
    [org, keepForMs, limit],
  );
  return rowCount;
}
