/**
 * Runs a test against a revision of an agent: as often as the test says, in text or in calls, on a developer's machine or in the cluster.
 */
import type { AgentRevisionConfig } from '../crds/agent-revision.ts';
import type { AgentTestSpec } from '../crds/agent-test.ts';
import { millisecondsOf } from '../crds/duration.ts';
import { resultMode } from '../crds/requested-test.ts';
import type { Clock } from '../platform/clock.ts';
import { Semaphore } from '../platform/semaphore.ts';
import { questionsOf } from '../calls/analysis/analyse-call.ts';
import { TestAttempt, attemptErrorOf } from './attempt.ts';
import type { AgentDriver } from './driver.ts';
import { usageShown } from '../events/call-usage.ts';
import type { ProviderUsage } from '../calls/usage/counted-requests.ts';
import { keptAttempts } from './kept-attempts.ts';
import type { TestModels } from './models/test-models.ts';
import type { TestAttemptResult, TestResult } from './result.ts';
import { functionsOf, testProblems } from './test-problems.ts';

export interface RunTestOptions {
  readonly test: { readonly name: string; readonly spec: AgentTestSpec };
  readonly agent: { readonly name: string; readonly revision: string; readonly config: AgentRevisionConfig };
  /** Other agents that may take over, by their names. */
  readonly others?: ReadonlyMap<string, AgentRevisionConfig> | undefined;
  readonly searches: boolean;
  readonly models: TestModels;
  /** Counts the usage of `models`, and of conversations in text. */
  readonly usage: ProviderUsage;
  /** Opens a conversation for each attempt. @throws DriverError where none can be held */
  readonly open: (signal: AbortSignal) => AgentDriver | Promise<AgentDriver>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Bounds the attempts under way; tests may share it. One attempt at a time by default. */
  readonly slots?: Pick<Semaphore, 'acquire'>;
}

/** Rejects only with the signal's reason. */
export async function runTest(options: RunTestOptions): Promise<TestResult> {
  const { test, agent, others, searches, usage, clock, signal, slots = new Semaphore(1) } = options;
  const { spec } = test;
  const began = clock.monotonic();
  const [problem, ...more] = await testProblems(spec, { config: agent.config, others, searches });
  let attempts: readonly TestAttemptResult[];
  if (problem === undefined) {
    attempts = await Promise.all(
      Array.from({ length: spec.repeat }, async () => {
        const release = await slots.acquire(signal);
        try {
          return await oneAttempt(options);
        } finally {
          release();
        }
      }),
    );
  } else {
    const rest = more.map(({ path, message }) => `; ${path}: ${message}`).join('');
    attempts = [failedAttempt(`${problem.message}${rest}`, problem.path)];
  }
  await usage.meter.settled();
  const used = usage.meter.takeUnstored()?.lines;
  return {
    test: test.name,
    agent: agent.name,
    revision: agent.revision,
    mode: resultMode(spec),
    ...summarizeAttempts(attempts, spec.passAtLeast ?? spec.repeat),
    ...(used !== undefined && { usage: usageShown(used) }),
    durationMs: Math.round(clock.monotonic() - began),
  };
}

/** Sums up the attempts. An error among them decides the verdict only where too few others passed. */
export function summarizeAttempts(
  attempts: readonly TestAttemptResult[],
  passAtLeast: number,
): Pick<TestResult, 'verdict' | 'flaky' | 'passed' | 'failed' | 'attempts'> {
  const passed = attempts.filter(({ verdict }) => verdict === 'passed').length;
  const failed = attempts.length - passed;
  const enough = passed >= passAtLeast;
  const broken = attempts.some(({ verdict }) => verdict === 'error');
  return {
    verdict: enough ? 'passed' : broken ? 'error' : 'failed',
    flaky: enough && failed > 0,
    passed,
    failed,
    attempts: keptAttempts(attempts),
  };
}

function failedAttempt(message: string, path?: string): TestAttemptResult {
  return { verdict: 'error', checks: [], transcript: [], durationMs: 0, error: { message, ...(path !== undefined && { path }) } };
}

/** Builds the result of a test that can't be run, for a reason outside of its attempts. */
export function testError(
  { test, agent, revision = '', mode }: Pick<TestResult, 'test' | 'agent' | 'mode'> & { readonly revision?: string },
  error: { readonly path?: string; readonly message: string },
): TestResult {
  return { test, agent, revision, mode, ...summarizeAttempts([failedAttempt(error.message, error.path)], 1), durationMs: 0 };
}

async function oneAttempt({ test, agent, others = new Map(), models, open, clock, signal }: RunTestOptions): Promise<TestAttemptResult> {
  const { spec } = test;
  const limitMs = millisecondsOf(spec.timeout);
  const late = new AbortController();
  const over = AbortSignal.any([signal, late.signal]);
  let driver: AgentDriver;
  try {
    driver = await open(over);
  } catch (error) {
    signal.throwIfAborted();
    const { message, path } = attemptErrorOf(error);
    return failedAttempt(message, path);
  }
  const { config } = agent;
  const attempt = new TestAttempt({
    spec,
    driver,
    models,
    language: config.agent.language,
    agent: config.name,
    functions: new Map([config, ...others.values()].map((each) => [each.name, functionsOf(each)])),
    questions: questionsOf(config),
    clock,
    signal: over,
  });
  const timedOut = Promise.withResolvers<TestAttemptResult>();
  const timer = clock.after(limitMs, () => {
    const message = `the attempt took longer than spec.timeout, ${spec.timeout}`;
    late.abort(new Error(message));
    timedOut.resolve(attempt.result({ path: 'spec.timeout', message }));
  });
  // An attempt that is given up must leave nothing running.
  over.addEventListener('abort', () => void driver.close(), { once: true });
  try {
    const result = await Promise.race([attempt.run(), timedOut.promise]);
    // An interruption says nothing about the agent, so there is no result.
    signal.throwIfAborted();
    return result;
  } finally {
    timer.cancel();
  }
}
