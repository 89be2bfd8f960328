/** What the worker needs to run tests of agents. */
import type { Registry } from 'prom-client';

import { openTestRunner, type OpenTestRunnerOptions } from '../../agent-tests/cluster/open-test-runner.ts';
import type { WorkflowStarter } from '../../platform/temporal/workflow-starter.ts';
import type { Store } from '../../store/index.ts';
import { createAgentTestActivities } from './activities.ts';
import { keepStartingTestRuns } from './starter.ts';
import type { AgentTestActivities } from './types.ts';

export interface AgentTests {
  readonly activities: AgentTestActivities;
  /** Starts the runs that are due, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface OpenAgentTestsOptions extends OpenTestRunnerOptions {
  readonly store: Pick<Store, 'calls' | 'testRuns' | 'agentRevisions'>;
  readonly workflows: Pick<WorkflowStarter, 'start'>;
  readonly registry: Registry;
}

/** Connects to nothing before it is used. */
export function openAgentTests({ workflows, registry, ...options }: OpenAgentTestsOptions): AgentTests {
  const { config, store, clock, logger } = options;
  const runner = openTestRunner(options);
  const starting = { testRuns: store.testRuns, workflows, taskQueue: config.TEMPORAL_TASK_QUEUE, clock, random: Math.random, logger };
  return {
    activities: createAgentTestActivities({ store, evaluate: (test) => runner.evaluate(test), clock, logger, registry }),
    run: (signal) => keepStartingTestRuns(starting, signal),
    close: () => runner.close(),
  };
}
