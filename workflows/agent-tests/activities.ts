/** The steps of a test run. Failures of agents and providers are results; any other failure is retried, perhaps on another worker. */
import { Context } from '@temporalio/activity';
import { Counter, Histogram, type Registry } from 'prom-client';

import type { TestToRun } from '../../agent-tests/cluster/evaluate.ts';
import { firstProblem, worstAttempt } from '../../agent-tests/reports/report.ts';
import type { TestResult } from '../../agent-tests/result.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { AgentTestSpec } from '../../crds/agent-test.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import { MOST_TESTS_NAMED } from '../../events/catalogue.ts';
import { buildEvent } from '../../events/emit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { Semaphore } from '../../platform/semaphore.ts';
import type { NewEvent, RequestedTest, Store, TestResultSummary, TestRunRecord } from '../../store/index.ts';
import { whileAlive } from '../while-alive.ts';
import { KEPT_PLACES, type AgentTestActivities, type PlannedTest, type TestPlaces, type TestRunJob } from './types.ts';

export interface AgentTestActivityDependencies {
  readonly store: Pick<Store, 'testRuns' | 'agentRevisions'>;
  readonly evaluate: (test: TestToRun) => Promise<TestResult>;
  readonly places: TestPlaces;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** Time that a test takes besides its attempts, in milliseconds: models to connect to, a judge to ask. */
const MARGIN_MS = 300_000;
const LONGEST_MS = 24 * 3_600_000;

const REVISION_GONE = 'the revision is not stored any more';

export function createAgentTestActivities(dependencies: AgentTestActivityDependencies): AgentTestActivities {
  const { store, evaluate, places, clock, logger, registry } = dependencies;
  const { testRuns } = store;
  const metrics = createMetrics(registry);
  const running = {
    text: new Semaphore(places.text, { kept: KEPT_PLACES }),
    audio: new Semaphore(places.audio, { kept: KEPT_PLACES }),
  };

  const record = async ({ org, runId, testName }: TestRunJob & Pick<PlannedTest, 'testName'>, result: TestResult): Promise<void> => {
    const { test, agent, mode, verdict, passed, failed, flaky, durationMs } = result;
    const worst = verdict === 'passed' ? undefined : worstAttempt(result);
    const message = worst && firstProblem(worst);
    const recorded = await testRuns.recordResult({ org, id: runId, testName }, { verdict, passed, failed, flaky, message, result });
    if (!recorded) return;
    metrics.tests.inc({ mode, verdict });
    logger.info({ org, runId, agent, test, mode, verdict, passed, failed, flaky, durationMs }, 'a test of an agent was run');
  };

  /** Returns the test if it is still to be evaluated. */
  const open = async ({ org, runId, testName }: TestRunJob & Pick<PlannedTest, 'testName'>) => {
    const run = await testRuns.start({ org, id: runId });
    const test = run && (await testRuns.pending({ org, id: runId })).find(({ name }) => name === testName);
    return run && test && { run, test };
  };

  return {
    async beginRun({ org, runId }) {
      const run = await testRuns.start({ org, id: runId });
      if (run === undefined) return undefined;
      const pending = await testRuns.pending({ org, id: runId });
      return pending.map(({ name, mode, spec }) => ({ testName: name, mode, longestMs: longestOf(spec as AgentTestSpec) }));
    },
    async evaluateTest(job) {
      const context = Context.current();
      const found = await open(job);
      if (found === undefined) return 'ended';
      const { run, test } = found;
      const { org, agentName, revision } = run;
      const stored = await store.agentRevisions.get({ org, agentName, revision });
      if (stored === undefined) {
        await record(job, unevaluated(found, REVISION_GONE));
        return 'ended';
      }
      const release = running[test.mode].tryAcquire(org);
      if (release === undefined) return 'busy';
      const cancelled = new AbortController();
      const signal = AbortSignal.any([context.cancellationSignal, cancelled.signal]);
      const stillWanted = async (): Promise<void> => {
        const live = await testRuns.isLive({ org, id: job.runId }).catch(() => true);
        if (!live) cancelled.abort(new Error('the run was cancelled'));
      };
      const heartbeat = (): void => {
        context.heartbeat();
        void stillWanted();
      };
      const spec = test.spec as AgentTestSpec;
      try {
        const config = stored.config as AgentRevisionConfig;
        await record(job, await whileAlive(heartbeat, () => evaluate({ run, test, spec, config, signal })));
      } catch (error) {
        if (!cancelled.signal.aborted) throw error;
      } finally {
        release();
      }
      return 'ended';
    },
    async giveUpTest(job, message) {
      const found = await open(job);
      if (found !== undefined) await record(job, unevaluated(found, message));
    },
    async finishRun({ org, runId }) {
      const finished = await testRuns.finish({ org, id: runId, events: (run, results) => [eventOf(run, results, clock.now())] });
      if (finished === undefined) return 'gone';
      const { trigger, verdict, agentName, revision, startedAt, finishedAt } = finished;
      const seconds = ((finishedAt?.getTime() ?? 0) - (startedAt?.getTime() ?? 0)) / 1_000;
      metrics.runs.inc({ trigger, verdict: verdict ?? 'error' });
      metrics.duration.observe({ trigger }, seconds);
      logger.info({ org, runId, agent: agentName, revision, trigger, verdict, seconds }, 'a run of agent tests is over');
      return 'finished';
    },
  };
}

function createMetrics(registry: Registry) {
  const registers = [registry];
  const runs = new Counter({
    name: 'parley_agent_test_runs_total',
    help: 'Runs of agent tests that are over, by what asked for them and by verdict.',
    labelNames: ['trigger', 'verdict'],
    registers,
  });
  // Prometheus sees an increase only of a series that exists: without these, the first failed run of a worker would raise no alert.
  for (const trigger of ['gate', 'request', 'schedule'] satisfies readonly TestRunRecord['trigger'][])
    for (const verdict of ['passed', 'failed', 'error'] satisfies readonly TestResult['verdict'][]) runs.inc({ trigger, verdict }, 0);
  return {
    runs,
    tests: new Counter({
      name: 'parley_agent_tests_total',
      help: 'Tests of agents that were evaluated, by mode and verdict.',
      labelNames: ['mode', 'verdict'],
      registers,
    }),
    duration: new Histogram({
      name: 'parley_agent_test_run_duration_seconds',
      help: 'How long runs of agent tests took, from the first test to the last.',
      labelNames: ['trigger'],
      buckets: [1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600],
      registers,
    }),
  };
}

function longestOf({ timeout, repeat }: AgentTestSpec): number {
  return Math.min(LONGEST_MS, millisecondsOf(timeout) * repeat + MARGIN_MS);
}

/** Builds the same result as `testError` of agent-tests/run-test.ts, which would load LiveKit's library with the worker. */
function unevaluated({ run, test }: { readonly run: TestRunRecord; readonly test: RequestedTest }, message: string): TestResult {
  const attempt = { verdict: 'error', checks: [], transcript: [], durationMs: 0, error: { message } } as const;
  const { agentName: agent, revision } = run;
  const { name, mode } = test;
  return { test: name, agent, revision, mode, verdict: 'error', flaky: false, passed: 0, failed: 1, attempts: [attempt], durationMs: 0 };
}

function eventOf(run: TestRunRecord, results: readonly TestResultSummary[], now: number): NewEvent {
  const tests = results.map(({ testName, required, verdict }) => ({ name: testName, required, verdict: verdict ?? ('error' as const) }));
  const passedLast = tests.toSorted((a, b) => Number(a.verdict === 'passed') - Number(b.verdict === 'passed'));
  return buildEvent({
    name: 'AgentTest.Completed',
    org: run.org,
    agent: run.agentName,
    payload: {
      test_run_id: run.id,
      agent_id: run.agentName,
      revision: run.revision,
      trigger: run.trigger,
      verdict: run.verdict ?? 'error',
      tests: passedLast.slice(0, MOST_TESTS_NAMED),
      tests_total: tests.length,
    },
    now,
  });
}
