/**
 * Runs of tests, and their results. A row requests a run; a worker finds it and works on it, whichever process died in between.
 * Every change notifies the operator, which shows results and serves revisions that passed.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { uuidv7 } from '../../platform/uuid.ts';
import type { Listening } from '../channel-listener.ts';
import type { Database, Transaction } from '../database.ts';
import { StoreError } from '../error.ts';
import { listenForChanges, type ObjectChanges } from '../object-changes.ts';
import { storableJson } from '../storable-json.ts';
import { insertEvents } from '../webhooks/events.ts';
import type { NewEvent } from '../webhooks/types.ts';
import { EVIDENCE_QUERY, toEvidence, type EvidenceRow } from './evidence.ts';
import { getRun, listRuns, newestResultsOf, pruneRuns, type TestRunList, type TestRunWithResults } from './test-run-queries.ts';
import {
  RESULT_COLUMNS,
  RUN_COLUMNS,
  type AgentResult,
  type DueTestRun,
  type NewTestRun,
  type RequestedTest,
  type StoredVerdict,
  type TestEvidence,
  type TestResultSummary,
  type TestRunRecord,
  type TestRunRef,
} from './test-run-record.ts';

const CHANNEL = 'parley_test_runs';
const MESSAGE_CHARACTERS = 2000;
/** Unfinished runs of one agent beyond which users can't request more: each asks models. */
export const LIVE_RUNS_LIMIT = 20;

export interface TestRunsOptions {
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
}

export class TestRuns {
  readonly #database: Database;
  readonly #options: TestRunsOptions;

  constructor(database: Database, options: TestRunsOptions) {
    this.#database = database;
    this.#options = options;
  }

  /**
   * Requests a run. Unless a user asks for it, it covers only tests that no other run has yet to evaluate for the same configuration. With
   * trigger `gate`, queued runs of the agent's former configurations, which will not be served any more, are cancelled.
   *
   * @returns undefined where there is nothing to be requested
   * @throws StoreError `not_found` when the revision was never stored; `conflict` for a user's request while 20 runs of the agent are not
   * over
   */
  async request(run: NewTestRun, tests: readonly RequestedTest[]): Promise<TestRunRecord | undefined> {
    const { org, agentName, revision, configHash, trigger, requestedBy } = run;
    return this.#database.asOrganization(org, async (transaction) => {
      await transaction.query("SELECT pg_advisory_xact_lock(hashtextextended('tests/' || $1 || '/' || $2, 0))", [org, agentName]);
      if (trigger === 'gate') await cancelFormer(transaction, run);
      if (trigger === 'request') await requireRoom(transaction, run);
      const wanted = trigger === 'request' ? tests : await withoutPending(transaction, run, tests);
      if (wanted.length === 0) return undefined;
      const stored = await transaction.query('SELECT FROM parley.agent_revisions WHERE org = $1 AND agent_name = $2 AND revision = $3', [
        org,
        agentName,
        revision,
      ]);
      if (stored.rowCount === 0)
        throw new StoreError('not_found', `agent ${agentName}: revision ${revision} was never stored, so that it can't be tested`);
      const { rows } = await transaction.query<TestRunRecord & Record<string, unknown>>(
        `INSERT INTO parley.test_runs (org, id, agent_name, revision, config_hash, trigger, requested_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${RUN_COLUMNS}`,
        [org, `run_${uuidv7()}`, agentName, revision, configHash, trigger, requestedBy ?? null],
      );
      const made = rows[0]!;
      await transaction.query(
        `INSERT INTO parley.test_results (org, run_id, test_name, test_digest, required, mode, spec)
         SELECT $1, $2, name, digest, required, mode, spec
         FROM jsonb_to_recordset($3) AS t (name text, digest text, required boolean, mode text, spec jsonb)`,
        [org, made.id, JSON.stringify(wanted)],
      );
      await notify(transaction, made);
      return made;
    });
  }

  /** Returns runs of all organisations that are due to be started, or to be checked on; the longest due first. */
  async due({ limit }: { readonly limit: number }): Promise<readonly DueTestRun[]> {
    const { rows } = await this.#database.asDirectory((transaction) =>
      transaction.query<DueTestRun & Record<string, unknown>>(
        `SELECT org, id, agent_name AS "agentName", revision FROM parley.test_runs WHERE state IN ('queued', 'running') AND due_at <= now() ORDER BY due_at, id LIMIT $1`,
        [limit],
      ),
    );
    return rows;
  }

  /** Records that a worker got the run: it is due again after `lookAgainInMs`, unless it is over by then. */
  async begun({ org, id, lookAgainInMs }: TestRunRef & { readonly lookAgainInMs: number }): Promise<void> {
    await this.#database.queryAs(
      org,
      `UPDATE parley.test_runs SET due_at = now() + $3 * interval '1 millisecond' WHERE org = $1 AND id = $2 AND state IN ('queued', 'running')`,
      [org, id, lookAgainInMs],
    );
  }

  /** Marks the run as running. Idempotent. @returns undefined for a run that is over, or does not exist */
  async start({ org, id }: TestRunRef): Promise<TestRunRecord | undefined> {
    return this.#database.asOrganization(org, async (transaction) => {
      const { rows } = await transaction.query<TestRunRecord & Record<string, unknown>>(
        `UPDATE parley.test_runs SET state = 'running', started_at = coalesce(started_at, now())
         WHERE org = $1 AND id = $2 AND state IN ('queued', 'running') RETURNING ${RUN_COLUMNS}`,
        [org, id],
      );
      if (rows[0] !== undefined) await notify(transaction, rows[0]);
      return rows[0];
    });
  }

  /** @returns false once the run is over, or deleted */
  async isLive({ org, id }: TestRunRef): Promise<boolean> {
    const { rowCount } = await this.#database.queryAs(
      org,
      `SELECT FROM parley.test_runs WHERE org = $1 AND id = $2 AND state IN ('queued', 'running')`,
      [org, id],
    );
    return rowCount > 0;
  }

  /** Returns the tests of a run that are yet to be evaluated, sorted by name, as they were when it was requested. */
  async pending({ org, id }: TestRunRef): Promise<readonly RequestedTest[]> {
    const { rows } = await this.#database.queryAs<RequestedTest & Record<string, unknown>>(
      org,
      `SELECT test_name AS name, test_digest AS digest, required, mode, spec FROM parley.test_results
       WHERE org = $1 AND run_id = $2 AND verdict IS NULL ORDER BY test_name`,
      [org, id],
    );
    return rows;
  }

  /**
   * @param outcome.message the first failure, for people
   * @param outcome.result the runner's result
   * @returns false for a test that has a result already, that isn't of the run, or whose run is over
   */
  async recordResult(
    { org, id, testName }: TestRunRef & { readonly testName: string },
    outcome: {
      readonly verdict: StoredVerdict;
      readonly passed: number;
      readonly failed: number;
      readonly flaky: boolean;
      readonly message?: string | undefined;
      readonly result: unknown;
    },
  ): Promise<boolean> {
    return this.#database.asOrganization(org, async (transaction) => {
      const run = await lockLive(transaction, { org, id });
      if (run === undefined) return false;
      const { verdict, passed, failed, flaky, message, result } = outcome;
      const { rowCount } = await transaction.query(
        `UPDATE parley.test_results SET verdict = $4, passed = $5, failed = $6, flaky = $7, message = $8, result = $9, finished_at = now()
         WHERE org = $1 AND run_id = $2 AND test_name = $3 AND verdict IS NULL`,
        [org, id, testName, verdict, passed, failed, flaky, shortened(message), storableJson(result)],
      );
      if (rowCount > 0) await notify(transaction, run);
      return rowCount > 0;
    });
  }

  /**
   * Ends a run; the first end counts. Tests without a result become an `error`. The run failed if a test did, else its verdict is `error`
   * if one was.
   *
   * @param unevaluated why tests have no result, for people
   * @param events events of the end, written with it
   * @returns undefined where it was over before, or does not exist
   */
  async finish({
    org,
    id,
    unevaluated = 'the run ended before this test was evaluated',
    events = () => [],
  }: TestRunRef & {
    readonly unevaluated?: string | undefined;
    readonly events?: ((run: TestRunRecord, results: readonly TestResultSummary[]) => readonly NewEvent[]) | undefined;
  }): Promise<TestRunRecord | undefined> {
    return this.#database.asOrganization(org, async (transaction) => {
      if ((await lockLive(transaction, { org, id })) === undefined) return undefined;
      await transaction.query(
        `UPDATE parley.test_results SET verdict = 'error', passed = 0, failed = 0, flaky = false, message = $3, finished_at = now()
         WHERE org = $1 AND run_id = $2 AND verdict IS NULL`,
        [org, id, shortened(unevaluated)],
      );
      const { rows } = await transaction.query<TestRunRecord & Record<string, unknown>>(
        `UPDATE parley.test_runs SET state = 'finished', finished_at = now(), started_at = coalesce(started_at, now()), verdict = (
           SELECT CASE WHEN bool_or(verdict = 'failed') THEN 'failed' WHEN bool_and(verdict = 'passed') THEN 'passed' ELSE 'error' END
           FROM parley.test_results WHERE org = $1 AND run_id = $2)
         WHERE org = $1 AND id = $2 RETURNING ${RUN_COLUMNS}`,
        [org, id],
      );
      const results = await transaction.query<TestResultSummary & Record<string, unknown>>(
        `SELECT ${RESULT_COLUMNS} FROM parley.test_results t WHERE t.org = $1 AND t.run_id = $2 ORDER BY t.test_name`,
        [org, id],
      );
      await insertEvents(transaction, events(rows[0]!, results.rows));
      await notify(transaction, rows[0]!);
      return rows[0];
    });
  }

  async evidenceOf({ org, agentName }: Pick<NewTestRun, 'org' | 'agentName'>): Promise<readonly TestEvidence[]> {
    const { rows } = await this.#database.queryAs<EvidenceRow>(org, EVIDENCE_QUERY, [org, agentName]);
    return rows.map(toEvidence);
  }

  /** Returns a run with all of its results, sorted by name of the test. */
  get(run: TestRunRef): Promise<TestRunWithResults | undefined> {
    return getRun(this.#database, run);
  }

  /** Lists runs, the newest first. @returns `next` for `after`; undefined on the last page */
  list(options: TestRunList): Promise<{ readonly items: readonly TestRunRecord[]; readonly next: string | undefined }> {
    return listRuns(this.#database, options);
  }

  /** Returns the newest result of each agent in a test, sorted by name of the agent; `verdict` is null while it is to be evaluated. */
  resultsOf(test: { readonly org: string; readonly testName: string }): Promise<readonly AgentResult[]> {
    return newestResultsOf(this.#database, test);
  }

  /** Deletes runs that ended long ago and that nothing depends on. @returns how many were deleted */
  prune(options: { readonly org: string; readonly keepForMs?: number | undefined; readonly limit?: number | undefined }): Promise<number> {
    return pruneRuns(this.#database, options);
  }

  /** Reports the agents of which a run was requested, began, got a result or ended, until it is stopped. Uses a connection of its own. */
  listen(changes: ObjectChanges): Listening {
    return listenForChanges({ database: this.#database, channel: CHANNEL, what: 'test runs', ...this.#options, ...changes });
  }
}

async function cancelFormer(transaction: Transaction, { org, agentName, configHash }: NewTestRun): Promise<void> {
  await transaction.query(
    `UPDATE parley.test_runs SET state = 'cancelled', finished_at = now()
     WHERE org = $1 AND agent_name = $2 AND config_hash <> $3 AND trigger = 'gate' AND state = 'queued'`,
    [org, agentName, configHash],
  );
}

async function requireRoom(transaction: Transaction, { org, agentName }: NewTestRun): Promise<void> {
  const { rows } = await transaction.query<{ id: string }>(
    `SELECT id FROM parley.test_runs WHERE org = $1 AND agent_name = $2 AND state IN ('queued', 'running') ORDER BY id LIMIT $3`,
    [org, agentName, LIVE_RUNS_LIMIT],
  );
  if (rows.length < LIVE_RUNS_LIMIT) return;
  const runs = rows.map(({ id }) => id).join(', ');
  throw new StoreError(
    'conflict',
    `agent ${agentName} has ${LIVE_RUNS_LIMIT} test runs that are not over: wait for one, or see whether worker and Temporal are running (${runs})`,
  );
}

async function withoutPending(
  transaction: Transaction,
  { org, agentName, configHash }: NewTestRun,
  tests: readonly RequestedTest[],
): Promise<readonly RequestedTest[]> {
  const { rows } = await transaction.query<{ name: string; digest: string }>(
    `SELECT t.test_name AS name, t.test_digest AS digest FROM parley.test_results t JOIN parley.test_runs r ON r.org = t.org AND r.id = t.run_id
     WHERE r.org = $1 AND r.agent_name = $2 AND r.config_hash = $3 AND r.state IN ('queued', 'running') AND t.verdict IS NULL`,
    [org, agentName, configHash],
  );
  const pending = new Set(rows.map(({ name, digest }) => `${name}/${digest}`));
  return tests.filter(({ name, digest }) => !pending.has(`${name}/${digest}`));
}

/** Holds off other ends and results of the run until the transaction is over. */
async function lockLive(transaction: Transaction, { org, id }: TestRunRef) {
  const { rows } = await transaction.query<{ org: string; agentName: string }>(
    `SELECT org, agent_name AS "agentName" FROM parley.test_runs WHERE org = $1 AND id = $2 AND state IN ('queued', 'running') FOR UPDATE`,
    [org, id],
  );
  return rows[0];
}

async function notify(transaction: Transaction, { org, agentName }: Pick<TestRunRecord, 'org' | 'agentName'>): Promise<void> {
  await transaction.query('SELECT pg_notify($1, $2)', [CHANNEL, `${org}/${agentName}`]);
}

function shortened(message: string | undefined): string | null {
  if (message === undefined) return null;
  const characters = Array.from(message.replaceAll('\0', '').toWellFormed());
  return characters.length <= MESSAGE_CHARACTERS ? characters.join('') : `${characters.slice(0, MESSAGE_CHARACTERS - 1).join('')}…`;
}
