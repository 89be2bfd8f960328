import type { AgentTest, AgentTestStatus } from '../../crds/index.ts';
import type { Stored } from '../../kube/index.ts';
import type { Store } from '../../store/index.ts';
import type { PostgresOutage } from '../runtime/postgres-outage.ts';
import { COMMON_STATUS_FIELDS, planFromReferences, type Reconciler } from '../runtime/reconciler.ts';
import { namespaceOf, type SnapshotReader } from '../runtime/snapshot-reader.ts';
import { isDeleting, isSuspended } from '../status/common.ts';
import type { KnownTests } from './known-tests.ts';
import { planAgentTest, type ResultsView } from './plan.ts';

export interface AgentTestReconcilerOptions {
  readonly snapshots: SnapshotReader;
  readonly runs: Pick<Store['testRuns'], 'resultsOf' | 'listen'>;
  readonly outage: PostgresOutage;
  readonly tests: Pick<KnownTests, 'keysOf'>;
}

export function agentTestReconciler({
  snapshots,
  runs,
  outage,
  tests,
}: AgentTestReconcilerOptions): Reconciler<AgentTest, never, AgentTestStatus> {
  const viewOf = async (test: Stored<AgentTest>): Promise<ResultsView> => {
    if (isDeleting(test) || isSuspended(test)) return { state: 'known', results: [] };
    return outage.guard<ResultsView>(async () => ({
      state: 'known',
      results: await runs.resultsOf({ org: namespaceOf(test), testUid: test.metadata.uid }),
    }));
  };
  return {
    kind: 'AgentTest',
    statusFields: [...COMMON_STATUS_FIELDS, 'testedAgents', 'lastRun', 'results'],

    async plan(test, { now, signal, retryWhenPostgresIsBack }) {
      const view = await viewOf(test);
      if (view.state === 'unavailable') retryWhenPostgresIsBack();
      return planFromReferences(snapshots, test, { plan: (snapshot) => planAgentTest(test, snapshot, view, now), signal });
    },

    apply: (action) => Promise.reject(new Error(`an AgentTest has no action ${JSON.stringify(action)}`)),

    lead(queue) {
      const listening = runs.listen({
        onChange: (agent) => {
          for (const key of tests.keysOf(agent)) queue.enqueue(key);
        },
        onListening: () => queue.enqueueAll(),
      });
      return () => listening.stop();
    },
  };
}
