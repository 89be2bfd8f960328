/** Opens what the worker needs to run tests of agents. */
import type { Registry } from 'prom-client';

import { openTestRunner, type OpenTestRunnerOptions } from '../../agent-tests/cluster/open-test-runner.ts';
import type { WorkflowStarter } from '../../platform/temporal/workflow-starter.ts';
import type { Store } from '../../store/index.ts';
import { keepStarting } from '../keep-starting.ts';
import { createAgentTestActivities } from './activities.ts';
import { agentTestQueues, testRunWorkflowId, type AgentTestActivities, type TestRunJob } from './types.ts';

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
  return {
    activities: createAgentTestActivities({
      store,
      evaluate: (test) => runner.evaluate(test),
      places: { text: config.PARLEY_TEST_CONCURRENCY, audio: config.PARLEY_TEST_CALLS },
      clock,
      logger,
      registry,
    }),
    run: (signal) =>
      keepStarting({
        rows: store.testRuns,
        intervalMs: 500,
        restartAfterMs: 60_000,
        failure: 'failed to start runs of agent tests; retrying',
        clock,
        logger,
        signal,
        start: ({ org, id, agentName, revision }) =>
          workflows.start('runAgentTests', {
            workflowId: testRunWorkflowId({ agentName, revision, id }),
            taskQueue: agentTestQueues(config.TEMPORAL_TASK_QUEUE).text,
            args: [{ org, runId: id } satisfies TestRunJob],
            fairnessKey: org,
          }),
      }),
    close: () => runner.close(),
  };
}
