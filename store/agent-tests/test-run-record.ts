/** Rows of test runs and their results, as objects. */

/** The verdict of a test or of a run. `error`: it could not be evaluated. */
export type StoredVerdict = 'passed' | 'failed' | 'error';

/** The reason for a run. `gate`: a revision is to be served. `request`: a user asked. `schedule`: its time came. */
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

export interface NewTestRun {
  readonly org: string;
  readonly agentName: string;
  readonly revision: string;
  /** Hash of the revision without the versions of Secrets: its test results hold for all revisions with the same hash. */
  readonly configHash: string;
  readonly trigger: TestRunTrigger;
  /** The user who asked for it, as in `created_by_user_id`. */
  readonly requestedBy?: string | undefined;
}

/** An AgentTest as it is when the run is requested. */
export interface RequestedTest {
  readonly name: string;
  /** SHA-256 of its content, lower-case hex. */
  readonly digest: string;
  readonly required: boolean;
  readonly mode: 'text' | 'audio';
  readonly spec: unknown;
}

export interface TestRunRecord extends Omit<NewTestRun, 'requestedBy'> {
  readonly id: string;
  readonly state: TestRunState;
  /** The run's verdict; null until it has finished. */
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
  /** The test's verdict; null while it is to be evaluated. */
  readonly verdict: StoredVerdict | null;
  /** Attempts that passed; null while it is to be evaluated. */
  readonly passed: number | null;
  readonly failed: number | null;
  readonly flaky: boolean | null;
  readonly message: string | null;
  readonly finishedAt: Date | null;
}

export interface TestResultRecord extends TestResultSummary {
  /**
   * The runner's result: attempts with their transcripts and checks. null while it is to be evaluated, and where the run ended without it.
   */
  readonly result: unknown;
}

export interface TestEvidence {
  readonly configHash: string;
  readonly testName: string;
  readonly digest: string;
  /** The newest result; undefined where the test was never evaluated. */
  readonly newest?: {
    readonly verdict: StoredVerdict;
    readonly message: string | null;
    readonly runId: string;
    readonly finishedAt: Date;
    /** The number of newest results in a row that are `error`. */
    readonly errors: number;
  };
  /** The oldest run that has yet to evaluate the test. `dueAt` lies ahead as long as workers start it and renew it. */
  readonly pending?: { readonly runId: string; readonly dueAt: Date };
}

export interface AgentResult extends TestResultSummary, Pick<TestRunRecord, 'agentName' | 'revision' | 'createdAt'> {
  readonly runId: string;
  readonly runState: TestRunState;
}

export const RUN_COLUMNS = `id, org, agent_name AS "agentName", revision, config_hash AS "configHash", trigger, state, verdict,
  requested_by AS "requestedBy", created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt"`;

export const RESULT_COLUMNS = `t.test_name AS "testName", t.test_digest AS digest, t.required, t.mode, t.verdict,
  t.passed, t.failed, t.flaky, t.message, t.finished_at AS "finishedAt"`;
