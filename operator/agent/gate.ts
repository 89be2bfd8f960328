/**
 * Decides by its required AgentTests whether a revision of an agent may be put into service. Pure.
 *
 * A revision is held back until every required test that names the agent has `passed` as its newest result, for this configuration and for
 * what the test says now. A result holds for all revisions of one configuration (`configHash`): a rotated Secret needs no new run.
 * What serves is never taken out of service, and neither is its configuration: a rotated Secret comes into service whatever tests say by now.
 */
import { requestedTest, testDigest } from '../../crds/requested-test.ts';
import { shortRevision } from '../../crds/agent-revision.ts';
import type { Agent, AgentTest } from '../../crds/index.ts';
import { backoffDelay } from '../../platform/backoff.ts';
import type { ReleaseState, RequestedTest, TestEvidence } from '../../store/index.ts';
import { checkAgentTestSpec } from '../agent-test/plan.ts';
import { compare } from '../references/cluster-snapshot.ts';
import type { Notice } from '../runtime/reconciler.ts';
import { isDeleting, isSuspended } from '../status/common.ts';
import { findCondition } from '../../crds/kind.ts';
import { timestamp } from '../../kube/timestamps.ts';
import type { ConditionStage } from '../status/conditions.ts';
import type { Problem, Reason } from '../status/reasons.ts';

/** The newest results; `unread` where the snapshot showed tests only after Postgres was read. */
export type EvidenceView =
  | { readonly state: 'known'; readonly evidence: readonly TestEvidence[] }
  | { readonly state: 'unread' }
  | { readonly state: 'unavailable'; readonly why: string };

export interface GateInput {
  readonly agent: Agent;
  /** AgentTests that name the agent, whatever their state. */
  readonly tests: readonly AgentTest[];
  readonly revision: string;
  /** Its `configHash`. */
  readonly configHash: string;
  /** The revision could be put into service, but for its tests. */
  readonly sound: boolean;
  /** The revision serves already. */
  readonly current: boolean;
  /** The revision that serves has the same configuration. */
  readonly unchanged: boolean;
  /** A person had the revision serve, whatever its tests say. */
  readonly promotion?: ReleaseState['promoted'] | undefined;
  readonly view: EvidenceView;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface Gate {
  /** Whether the revision may be put into service, and why. */
  readonly open: false | 'passed' | 'skipped' | 'unchanged';
  /** Why the revision is held back, where it is. */
  readonly held?: 'awaits' | 'failed';
  /** Absent without required tests. */
  readonly tested?: ConditionStage;
  readonly request: readonly RequestedTest[];
  readonly notices: readonly Notice[];
  /** Milliseconds after which to decide again, although nothing happened. */
  readonly recheckAfterMs?: number;
}

/** Backoff of a test that could not be evaluated. */
const RETRY = { baseMs: 15_000, maxMs: 3_600_000, jitter: 0 } as const;
/** A worker finds a run that is due within this time, in milliseconds. */
const WORKER_EXPECTED_MS = 30_000;
/** The gate decides again as soon as the results are read. */
const AT_ONCE_MS = 1;

/** Returns the tests that hold revisions back, also one that is suspended or not accepted: a gate never opens in silence. */
export function requiredTests(tests: readonly AgentTest[]): readonly AgentTest[] {
  return tests.filter((test) => test.spec.required && !isDeleting(test)).toSorted((a, b) => compare(a.metadata.name, b.metadata.name));
}

export function allPassed(tests: readonly AgentTest[], configHash: string, evidence: readonly TestEvidence[]): boolean {
  return requiredTests(tests).every((test) => evidenceOf(test, configHash, evidence)?.newest?.verdict === 'passed');
}

export function gateOf(input: GateInput): Gate {
  const { agent, current, sound, view, now } = input;
  const tests = requiredTests(input.tests);
  const closed = (held: 'awaits' | 'failed', tested: ConditionStage | undefined, rest: Partial<Gate> = {}): Gate => ({
    open: false,
    held,
    ...(tested && { tested }),
    request: [],
    notices: [],
    ...rest,
  });
  if (tests.length === 0) return { open: 'passed', request: [], notices: [] };
  const skip = agent.spec.release?.skipTests;
  if (skip?.revision === input.revision) {
    const message = `the required AgentTests of revision ${shortRevision(skip.revision)} are skipped: ${skip.reason}`;
    return {
      open: 'skipped',
      ...skippedBy(message),
      request: [],
      notices: findCondition(agent, 'Tested')?.message === message ? [] : [warning(message)],
    };
  }
  if (!sound) return closed('awaits', notRun('the revision is not tested until the spec is accepted and everything that it needs exists'));
  if (view.state === 'unavailable')
    return closed(
      'awaits',
      (current ? asReported(agent) : undefined) ?? notRun(`the results cannot be read: ${view.why}; the operator retries`),
    );
  if (view.state === 'unread') return closed('awaits', notRun('the results have not been read yet'), { recheckAfterMs: AT_ONCE_MS });

  const states = tests.map((test) => testState(test, input, view.evidence));
  const of = <S extends TestState['state']>(state: S) => states.filter((one): one is TestState & { state: S } => one.state === state);
  const [failed, unsound, error, pending, unknown] = [of('failed'), of('unsound'), of('error'), of('pending'), of('unknown')];
  const due = [...unknown, ...error.filter(({ retryAt }) => retryAt <= now)];
  // No signal says that a worker carries on with an overdue run, until there is a result.
  const looks = pending.map(({ overdueAt }) => (overdueAt > now ? overdueAt : now + WORKER_EXPECTED_MS));
  const deadlines = [...error.map(({ retryAt }) => retryAt).filter((time) => time > now), ...looks];
  const rest = {
    request: due.map(({ test }) => requestedTest(test)),
    ...(deadlines.length > 0 && { recheckAfterMs: Math.min(...deadlines) - now }),
  };
  const aside = skip === undefined ? '' : ` (spec.release.skipTests is for revision ${shortRevision(skip.revision)})`;
  const problems: readonly Problem[] = [
    ...problemsOf('TestsFailed', failed, aside),
    ...problemsOf('TestsNotRun', [...unsound, ...error], aside),
    ...problemsOf(
      'TestsNotRun',
      pending.filter(({ overdueAt }) => overdueAt <= now),
      aside,
    ),
    ...running([...pending.filter(({ overdueAt }) => overdueAt > now), ...unknown], tests.length, aside),
  ];
  const tested = stage(problems, { reason: 'TestsPassed', message: passedMessage(tests) });
  if (problems.length === 0) return { open: 'passed', tested, ...rest, notices: [] };
  if (input.promotion != null) {
    const { by, at, reason } = input.promotion;
    const message = `promoted by ${by ?? 'a person'} at ${at.slice(0, 19)}Z${reason === null ? '' : `: ${reason}`}, although ${problems[0]!.message}`;
    const isNew = findCondition(agent, 'Tested')?.reason !== 'TestsSkipped';
    return { open: 'unchanged', ...skippedBy(message), ...rest, notices: isNew ? [warning(message)] : [] };
  }
  if (input.unchanged) return { open: 'unchanged', tested, ...rest, notices: [] };
  return closed(failed.length > 0 || unsound.length > 0 ? 'failed' : 'awaits', tested, rest);
}

type TestState =
  | { readonly state: 'passed' | 'unknown'; readonly test: AgentTest }
  | { readonly state: 'failed' | 'unsound'; readonly test: AgentTest; readonly message: string }
  | { readonly state: 'error'; readonly test: AgentTest; readonly message: string; readonly retryAt: number }
  | { readonly state: 'pending'; readonly test: AgentTest; readonly message: string; readonly overdueAt: number };

function testState(test: AgentTest, { configHash }: GateInput, evidence: readonly TestEvidence[]): TestState {
  const { name } = test.metadata;
  const [problem] = checkAgentTestSpec(test.spec);
  const { newest, pending } = evidenceOf(test, configHash, evidence) ?? {};
  if (newest?.verdict === 'passed') return { state: 'passed', test };
  if (problem !== undefined) return { state: 'unsound', test, message: `AgentTest ${name} is not accepted: ${problem.message}` };
  if (pending !== undefined) {
    const { runId } = pending;
    const dueAt = pending.dueAt.getTime();
    const message = `AgentTest ${name} has waited for a worker since ${timestamp(dueAt)} (run ${runId}): are worker and Temporal running?`;
    return { state: 'pending', test, message, overdueAt: dueAt + WORKER_EXPECTED_MS };
  }
  if (newest?.verdict === 'failed')
    return { state: 'failed', test, message: `AgentTest ${name} failed: ${newest.message ?? 'see its run'} (run ${newest.runId})` };
  if (isSuspended(test))
    return { state: 'unsound', test, message: `AgentTest ${name} is required and suspended: resume it, or set its spec.required to false` };
  if (newest === undefined) return { state: 'unknown', test };
  const retryAt = newest.finishedAt.getTime() + backoffDelay(newest.errors, RETRY);
  const message = `AgentTest ${name} could not be evaluated: ${newest.message ?? 'see its run'} (run ${newest.runId}); the next attempt is at ${timestamp(retryAt)}`;
  return { state: 'error', test, message, retryAt };
}

function evidenceOf({ metadata, spec }: AgentTest, configHash: string, evidence: readonly TestEvidence[]): TestEvidence | undefined {
  const digest = testDigest(spec);
  return evidence.find((one) => one.configHash === configHash && one.testName === metadata.name && one.digest === digest);
}

const stage = (problems: readonly Problem[], good: ConditionStage['good']): ConditionStage => ({ type: 'Tested', good, problems });

const skippedBy = (message: string): Pick<Gate, 'tested'> => ({ tested: stage([], { reason: 'TestsSkipped', message }) });

const warning = (message: string): Notice => ({ type: 'Warning', reason: 'TestsSkipped', message });

const notRun = (message: string): ConditionStage => stage([{ reason: 'TestsNotRun', message }], { reason: 'TestsPassed', message: '' });

function problemsOf(reason: Reason, states: readonly { readonly message: string }[], aside: string): readonly Problem[] {
  return states.map(({ message }) => ({ reason, message: `${message}${aside}` }));
}

function running(states: readonly TestState[], all: number, aside: string): readonly Problem[] {
  if (states.length === 0) return [];
  const names = states.map(({ test }) => test.metadata.name).join(', ');
  return [{ reason: 'TestsRunning', message: `${states.length} of ${all} required AgentTests have yet to be evaluated: ${names}${aside}` }];
}

function passedMessage(tests: readonly AgentTest[]): string {
  return tests.length === 1 ? 'the required AgentTest passed' : `all ${tests.length} required AgentTests passed`;
}

/** Returns what the status says of the revision that serves. */
function asReported(agent: Agent): ConditionStage | undefined {
  const reported = findCondition(agent, 'Tested');
  if (reported === undefined) return undefined;
  const outcome = { reason: reported.reason as Reason, message: reported.message };
  return stage(reported.status === 'True' ? [] : [outcome], outcome);
}
