/** What workflow, activities and starter of test runs say to each other. Names no agent's words: histories are read by operators of Temporal. */

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
  /** The run is being worked on. @returns undefined for one that is over, or does not exist */
  beginRun(job: TestRunJob): Promise<readonly PlannedTest[] | undefined>;
  /**
   * Makes the attempts and stores the result. Whatever an agent or a provider does is a result; a failure is one of the platform.
   * @returns `busy` where nothing was done: the organisation has as many tests at this worker as it may have, and another one gets the place
   */
  evaluateTest(job: TestRunJob & Pick<PlannedTest, 'testName'>): Promise<'ended' | 'busy'>;
  /** Stores that the test could not be evaluated. */
  giveUpTest(job: TestRunJob & Pick<PlannedTest, 'testName'>, message: string): Promise<void>;
  /** Ends the run, with its event. */
  finishRun(job: TestRunJob): Promise<TestRunEnd>;
}

/** How many tests a worker runs at the same time. */
export type TestPlaces = Readonly<Record<PlannedTest['mode'], number>>;

/** Kept at each worker, in addition, for an organisation none of whose tests it runs. */
export const KEPT_PLACES = 1;

/** Tests in audio mode are calls, and have a queue of their own: those in text don't wait behind them. */
export interface AgentTestQueues {
  readonly text: string;
  readonly audio: string;
}

/** @param prefix the installation's task queue, `parley` by default */
export function agentTestQueues(prefix: string): AgentTestQueues {
  const text = `${prefix}-agent-tests`;
  return { text, audio: audioQueueNextTo(text) };
}

/** @param queue of tests in text, where workflows run */
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
