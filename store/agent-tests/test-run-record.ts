/** Rows of test runs and their results, as objects. */

/** Of a test and of a run. `error`: it could not be evaluated. */
export type StoredVerdict = 'passed' | 'failed' | 'error';

/** Why a run was requested: a revision is to be served, a user asked, it was time. */
export type TestRunTrigger = 'gate' | 'request' | 'schedule';

/**
 *   queued ──start──▶ running ──finish──▶ finished
 *      └───────cancel────┴──▶ cancelled
 */
export type TestRunState = 'queued' | 'running' | 'finished' | 'cancelled';

export interface TestRunRef {
  readonly org: string;
  readonly id: string;
}

/** A run that is due to be started, or to be checked on. */
export interface DueTestRun extends TestRunRef, Pick<NewTestRun, 'agentName' | 'revision'> {}

/** A revision that is to be tested; it has been stored. */
export interface NewTestRun {
  readonly org: string;
  readonly agentName: string;
  readonly revision: string;
  /** Of the revision without the versions of Secrets: what its tests say holds for all revisions with the same one. */
  readonly configHash: string;
  readonly trigger: TestRunTrigger;
  /** Who asked for it, as in `created_by_user_id`. */
  readonly requestedBy?: string | undefined;
}

/** An AgentTest as it is now. */
export interface RequestedTest {
  readonly name: string;
  /** SHA-256 of what it says, lower-case hex. */
  readonly digest: string;
  readonly required: boolean;
  readonly mode: 'text' | 'audio';
  readonly spec: unknown;
}

export interface TestRunRecord extends Omit<NewTestRun, 'requestedBy'> {
  readonly id: string;
  readonly state: TestRunState;
  /** null until it has finished. */
  readonly verdict: StoredVerdict | null;
  readonly requestedBy: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

/** The result of a test in a run, without the transcripts. */
export interface TestResultSummary {
  readonly testName: string;
  readonly digest: string;
  readonly required: boolean;
  readonly mode: 'text' | 'audio';
  /** null while it is to be evaluated. */
  readonly verdict: StoredVerdict | null;
  /** Attempts; null while it is to be evaluated. */
  readonly passed: number | null;
  readonly failed: number | null;
  readonly flaky: boolean | null;
  readonly message: string | null;
  readonly finishedAt: Date | null;
}

export interface TestResultRecord extends TestResultSummary {
  /** As the runner made it: attempts with their transcripts and checks. null while it is to be evaluated, and where the run ended without it. */
  readonly result: unknown;
}

/** What is known of one test of one configuration of an agent. */
export interface TestEvidence {
  readonly configHash: string;
  readonly testName: string;
  readonly digest: string;
  /** Of its newest result; undefined where it was never evaluated. */
  readonly newest?: {
    readonly verdict: StoredVerdict;
    readonly message: string | null;
    readonly runId: string;
    readonly finishedAt: Date;
    /** How many of the newest results are `error`, in a row. */
    readonly errors: number;
  };
  /** Its oldest run that has yet to evaluate it. `dueAt` lies ahead as long as workers start it and renew it. */
  readonly pending?: { readonly runId: string; readonly dueAt: Date };
}

/** The newest result of an agent in a test. */
export interface AgentResult extends TestResultSummary, Pick<TestRunRecord, 'agentName' | 'revision' | 'createdAt'> {
  readonly runId: string;
  readonly runState: TestRunState;
}

export const RUN_COLUMNS = `id, org, agent_name AS "agentName", revision, config_hash AS "configHash", trigger, state, verdict,
  requested_by AS "requestedBy", created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt"`;

export const RESULT_COLUMNS = `t.test_name AS "testName", t.test_digest AS digest, t.required, t.mode, t.verdict,
  t.passed, t.failed, t.flaky, t.message, t.finished_at AS "finishedAt"`;
