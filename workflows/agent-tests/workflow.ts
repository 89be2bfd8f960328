/** Runs the tests of a run, some at a time, each as an activity. Runs in Temporal's sandbox. */
import { ActivityFailure, proxyActivities, sleep, TimeoutFailure, workflowInfo } from '@temporalio/workflow';

import { audioQueueNextTo, type AgentTestActivities, type PlannedTest, type TestRunEnd, type TestRunJob } from './types.ts';

/** Most tests of a run that wait for a worker or run there, so that other runs get their turn. */
const AT_ONCE = 8;

/** Longest wait, in milliseconds, before asking a worker again at which the organisation has all its places. */
const LONGEST_BUSY_MS = 10_000;

const retry = { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' } as const;

const { beginRun, giveUpTest, finishRun } = proxyActivities<Pick<AgentTestActivities, 'beginRun' | 'giveUpTest' | 'finishRun'>>({
  startToCloseTimeout: '1 minute',
  retry,
});

/** Attempts at a test by workers that die, or lose Postgres. Failures of agents and providers are results, and not retried. */
const MOST_ATTEMPTS = 10;
/** Temporal's name for a `startToCloseTimeout` that ran out: another attempt would ask models for as long again. */
const TOOK_TOO_LONG = 'TemporalTimeout:StartToClose';

const evaluating = ({ mode, longestMs }: PlannedTest) =>
  proxyActivities<Pick<AgentTestActivities, 'evaluateTest'>>({
    ...(mode === 'audio' && { taskQueue: audioQueueNextTo(workflowInfo().taskQueue) }),
    startToCloseTimeout: longestMs,
    // The activity sends heartbeats, so that a worker which dies in it is noticed soon.
    heartbeatTimeout: '15 seconds',
    retry: { ...retry, maximumAttempts: MOST_ATTEMPTS, nonRetryableErrorTypes: [TOOK_TOO_LONG] },
  });

export async function runAgentTests(job: TestRunJob): Promise<TestRunEnd> {
  const tests = await beginRun(job);
  if (tests === undefined) return 'gone';
  const waiting = [...tests];
  const work = async (): Promise<void> => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) await evaluate(job, test);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, tests.length) }, work));
  return finishRun(job);
}

async function evaluate(job: TestRunJob, test: PlannedTest): Promise<void> {
  const { testName } = test;
  try {
    for (let waited = 0; (await evaluating(test).evaluateTest({ ...job, testName })) === 'busy'; waited += 1)
      await sleep(Math.min(2 ** waited * 1_000, LONGEST_BUSY_MS));
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    await giveUpTest({ ...job, testName }, whyNot(error, test));
  }
}

function whyNot({ cause }: ActivityFailure, { longestMs }: PlannedTest): string {
  if (!(cause instanceof TimeoutFailure) || cause.timeoutType !== 'START_TO_CLOSE')
    return 'the test could not be run: see the log of the worker';
  return `the test took longer than ${longestMs / 1_000} s, all that spec.timeout and spec.repeat allow: raise the timeout, or lower repeat`;
}
