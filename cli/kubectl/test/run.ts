/** Runs AgentTests in the cluster: it requests a run over REST and follows it until it is over. */
import type { ReportedResult } from '../../../agent-tests/reports/report.ts';
import type { TestResult } from '../../../agent-tests/result.ts';
import { patiently } from '../../../api/client/patiently.ts';
import { RestError } from '../../../api/client/rest-client.ts';
import type { AttemptAnswer, TestRunAnswer } from '../../../api/test-runs/answers.ts';
import { awakeClock, sleep, type Clock } from '../../../platform/clock.ts';
import { UserError } from '../../../platform/user-error.ts';
import type { Api } from '../calls/api.ts';
import { writeAs, type Format } from '../../output.ts';
import type { Io } from '../io.ts';
import { ConsoleReporter } from './console-reporter.ts';
import { writeJunit } from './junit-file.ts';

export interface ClusterTest {
  readonly agent: string;
  /** Names of AgentTests; empty for all that select the agent. */
  readonly tests: readonly string[];
  readonly revision: string;
  readonly junit: string | undefined;
  /** Json and yaml print the run as REST has it, in place of lines for people. */
  readonly format: Format;
}

/** Time between two looks at a run, in milliseconds. */
const POLL_MS = 1_000;

/** @returns whether every test passed. @throws UserError for a request that can't be carried out, or a run that was cancelled */
export async function testInCluster(
  api: Api,
  { agent, tests, revision, junit, format }: ClusterTest,
  io: Io,
  clock: Clock = awakeClock,
): Promise<boolean> {
  const path = `/v2/ai-agents/${encodeURIComponent(agent)}/test-runs`;
  const began = io.now();
  const body = { ...(tests.length > 0 && { tests }), revision };
  let run = (await ofAgent(agent, () => api.request('POST', path, body))) as TestRunAnswer;
  const read = patiently(clock);
  const forScripts = format === 'json' || format === 'yaml';
  const reporter = forScripts ? undefined : new ConsoleReporter(io, run.results.length);
  const reported = new Map<string, ReportedResult>();
  for (;;) {
    for (const result of run.results) {
      if (result.verdict === undefined || reported.has(result.test)) continue;
      const known = reportedOf(run, result);
      reported.set(result.test, known);
      reporter?.finished(known);
    }
    if (run.state === 'finished' || run.state === 'cancelled') break;
    await sleep(clock, POLL_MS, io.signal);
    const runPath = `/v1/test-runs/${run._id}`;
    run = ((await ofAgent(agent, () => read(() => api.request('GET', runPath)))) as TestRunAnswer | undefined) ?? run;
  }
  if (run.state === 'cancelled')
    throw new UserError(`run ${run._id} of agent ${agent} was cancelled`, {
      cure: 'the agent was deleted, or another revision is to be served',
    });
  const results = [...reported.values()];
  reporter?.summary(results, io.now() - began);
  if (forScripts) await writeAs(io, format, run, () => '');
  if (junit !== undefined) await writeJunit(junit, results, io.now() - began);
  return run.verdict === 'passed';
}

async function ofAgent<T>(agent: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof RestError && [404, 409, 422].includes(error.status))
      throw new UserError(`agent ${agent} can't be tested: ${error.said}`, { cure: CURE, cause: error });
    throw error;
  }
}

const CURE = '`kubectl get agenttests` lists the tests, `kubectl parley explain agent/<name>` says what is wrong with an agent';

function reportedOf(
  run: TestRunAnswer,
  { test, mode, verdict = 'error', passed = 0, failed = 0, flaky = false, attempts }: TestRunAnswer['results'][number],
) {
  const result: TestResult = {
    test,
    agent: run.ai_agent_id,
    revision: run.revision,
    mode,
    verdict,
    passed,
    failed,
    flaky,
    attempts: attempts.map(toAttempt),
    durationMs: attempts.reduce((sum, { duration_ms: ms }) => sum + ms, 0),
  };
  return { result, file: `agenttest/${test}`, lineOf: () => 0 };
}

function toAttempt({
  finish_reason: finishReason,
  duration_ms: durationMs,
  call_id: callId,
  error,
  ...attempt
}: AttemptAnswer): TestResult['attempts'][number] {
  return {
    ...withoutUndefined({ finishReason, callId }),
    verdict: attempt.verdict,
    checks: attempt.checks.map(({ reason, ...check }) => ({ ...check, ...withoutUndefined({ reason }) })),
    transcript: attempt.transcript.map(({ at_ms: atMs, tool, ...line }) => ({
      ...line,
      atMs,
      ...(tool && {
        tool: { name: tool.name, arguments: tool.arguments, result: tool.result, ...withoutUndefined({ error: tool.error }) },
      }),
    })),
    durationMs,
    ...(error && { error: { message: error.message, ...withoutUndefined({ path: error.path }) } }),
  };
}

const withoutUndefined = <T extends object>(fields: T): { readonly [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
