import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { AgentTest, AgentTestStatus } from '../../crds/index.ts';
import { configHashOf, requestedTest } from '../../crds/requested-test.ts';
import type { Stored } from '../../kube/index.ts';
import type { Store } from '../../store/index.ts';
import type { PostgresOutage } from '../runtime/postgres-outage.ts';
import { COMMON_STATUS_FIELDS, planFromReferences, type Reconciler } from '../runtime/reconciler.ts';
import { UnsettledError } from '../runtime/unsettled-error.ts';
import { namespaceOf, type SnapshotReader } from '../runtime/snapshot-reader.ts';
import { isDeleting, isSuspended } from '../status/common.ts';
import type { KnownTests } from './known-tests.ts';
import { planAgentTest, type ResultsView } from './plan.ts';
import type { RequestRun } from './schedule.ts';

const RETRY_MS = 5_000;

export interface AgentTestReconcilerOptions {
  readonly snapshots: SnapshotReader;
  readonly runs: Pick<Store['testRuns'], 'resultsOf' | 'listen' | 'request'>;
  readonly revisions: Pick<Store['agentRevisions'], 'get'>;
  readonly outage: PostgresOutage;
  readonly tests: Pick<KnownTests, 'keysOf'>;
}

export function agentTestReconciler({
  snapshots,
  runs,
  revisions,
  outage,
  tests,
}: AgentTestReconcilerOptions): Reconciler<AgentTest, RequestRun, AgentTestStatus> {
  const viewOf = async (test: Stored<AgentTest>): Promise<ResultsView> => {
    if (isDeleting(test) || isSuspended(test)) return { state: 'known', results: [] };
    return outage.guard<ResultsView>(async () => ({
      state: 'known',
      results: await runs.resultsOf({ org: namespaceOf(test), testName: test.metadata.name }),
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

    async apply({ type: _type, ...of }, test) {
      const revision = { org: namespaceOf(test), ...of };
      const stored = await revisions.get(revision);
      // Its revision has just been replaced.
      if (stored === undefined) throw new UnsettledError(`revision ${of.revision} of agent ${of.agentName} is not stored`, RETRY_MS);
      const configHash = configHashOf(stored.config as AgentRevisionConfig);
      const run = await runs.request({ ...revision, configHash, trigger: 'schedule' }, [requestedTest(test)]);
      // The end of that run reconciles this test again.
      if (run === undefined) throw new UnsettledError(`another run tests agent ${of.agentName}`, RETRY_MS);
      return {};
    },

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
