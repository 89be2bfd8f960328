/**
 * Types that workflow, activities and starter of test runs exchange. They hold nothing that an agent said: operators of Temporal read
 * histories.
 */

export interface TestRunJob {
  readonly org: string;
  readonly runId: string;
}

/** A test of the run that is yet to be evaluated. */
export interface PlannedTest {
  readonly testName: string;
  readonly mode: 'text' | 'audio';
  /** Longest time for all of its attempts, in milliseconds. */
  readonly longestMs: number;
}

/** `gone`: the run is over, or does not exist any more. */
export type TestRunEnd = 'finished' | 'gone';

export interface AgentTestActivities {
  /** Marks the run as started. @returns undefined for one that is over, or does not exist */
  beginRun(job: TestRunJob): Promise<readonly PlannedTest[] | undefined>;
  /**
   * Makes the attempts and stores the result. Failures of agents and providers are results; a rejection is the platform's.
   * @returns `busy` where nothing was done: the organisation has as many tests at this worker as it may have, and another one gets the
   * place
   */
  evaluateTest(job: TestRunJob & Pick<PlannedTest, 'testName'>): Promise<'ended' | 'busy'>;
  /** Stores that the test could not be evaluated. */
  giveUpTest(job: TestRunJob & Pick<PlannedTest, 'testName'>, message: string): Promise<void>;
  /** Ends the run, with its event. */
  finishRun(job: TestRunJob): Promise<TestRunEnd>;
}

/** How many tests a worker runs at the same time. */
export type TestPlaces = Readonly<Record<PlannedTest['mode'], number>>;

/** Places that each worker keeps, in addition, for an organisation none of whose tests it runs. */
export const KEPT_PLACES = 1;

/** Tests in audio mode are calls and have a queue of their own, so that those in text don't wait behind them. */
export interface AgentTestQueues {
  readonly text: string;
  readonly audio: string;
}

/** @param prefix the installation's task queue, `parley` by default */
export function agentTestQueues(prefix: string): AgentTestQueues {
  const text = `${prefix}-agent-tests`;
  return { text, audio: audioQueueNextTo(text) };
}

/** @param queue the queue of tests in text, where workflows run */
export function audioQueueNextTo(queue: string): string {
  return `${queue}-audio`;
}

export function testRunWorkflowId({
  agentName,
  revision,
  id,
}: {
  readonly agentName: string;
  readonly revision: string;
  readonly id: string;
}) {
  return `test/${agentName}/${revision}/${id}`;
}
