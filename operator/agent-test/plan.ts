import { agentTestProblems } from '../../crds/agent-test-problems.ts';
import type { AgentTest, AgentTestStatus } from '../../crds/index.ts';
import type { AgentResult } from '../../store/index.ts';
import { agentTestAddressProblems } from '../../calls/address-problems.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { agentTestReferences } from '../references/references-of.ts';
import { notAnOrganization, unresolved } from '../references/unresolved.ts';
import type { Plan } from '../runtime/reconciler.ts';
import { commonFields, isDeleting, isSuspended, suspendedStatus } from '../status/common.ts';
import { timestamp } from '../../kube/timestamps.ts';
import { checkedOnce, forbiddenAddresses } from '../status/spec-problems.ts';
import { accepted, resolvedRefs } from '../status/stages.ts';
import { scheduleOf, type RequestRun } from './schedule.ts';

/** The results of the test; unknown while Postgres doesn't answer: the status is believed until then. */
export type ResultsView =
  | { readonly state: 'known'; readonly results: readonly AgentResult[] }
  | { readonly state: 'unavailable'; readonly why: string };

/**
 * `Ready` says that the test can run, not that it passed: what it found is in `results`. Agents check the test themselves and read its
 * results in Postgres, never its status: what they serve does not depend on the order of reconciles.
 *
 * @param now - milliseconds since the epoch
 */
export function planAgentTest(
  test: AgentTest,
  snapshot: ClusterSnapshot,
  view: ResultsView,
  now: number,
): Plan<RequestRun, AgentTestStatus> {
  if (isDeleting(test)) return { actions: [] };
  if (isSuspended(test)) return { actions: [], status: suspendedStatus(test, now) };
  const namespace = test.metadata.namespace ?? '';
  const foreign = notAnOrganization(namespace, snapshot);
  if (foreign.length > 0) return { actions: [], status: commonFields(test, now, [accepted(foreign)]) };

  const agents = test.spec.agentRefs.flatMap(({ name }) => {
    const agent = snapshot.agent(namespace, name);
    return agent === undefined || isDeleting(agent) ? [] : [agent];
  });
  const problems = checkAgentTestSpec(test.spec);
  const unreachable = forbiddenAddresses(agentTestAddressProblems(test.spec, snapshot.addresses));
  const stages = [accepted([...problems, ...unreachable]), resolvedRefs(unresolved(namespace, agentTestReferences(test), snapshot))];
  const message = `tests ${agents.length === 1 ? '1 agent' : `${agents.length} agents`}`;
  // What is due depends on the former results.
  const schedule = view.state === 'known' && problems.length === 0 ? scheduleOf(test, agents, view.results, now) : undefined;
  return {
    actions: schedule?.due ?? [],
    status: {
      ...commonFields(test, now, stages, { message }),
      testedAgents: agents.map(({ metadata }) => metadata.name).sort(),
      ...resultFields(test, view),
    },
    ...(schedule?.nextInMs !== undefined && { requeueAfterMs: schedule.nextInMs }),
  };
}

/** Checks each spec once, because each agent checks all of its tests. */
export const checkAgentTestSpec = checkedOnce(agentTestProblems);

/** Shows the results of the agents that the test names now. */
function resultFields({ spec, status }: AgentTest, view: ResultsView): Pick<AgentTestStatus, 'lastRun' | 'results'> {
  if (view.state === 'unavailable') {
    const { lastRun, results } = status ?? {};
    return { ...(lastRun && { lastRun }), ...(results && { results }) };
  }
  const named = new Set(spec.agentRefs.map(({ name }) => name));
  const results = view.results.filter(({ agentName }) => named.has(agentName));
  const newest = results.toSorted((a, b) => (a.runId < b.runId ? 1 : -1))[0];
  if (newest === undefined) return {};
  return {
    lastRun: { runID: newest.runId, revision: newest.revision, agent: newest.agentName, ...resultOutcome(newest) },
    results: results.map(toStatus),
  };
}

function toStatus(result: AgentResult): NonNullable<AgentTestStatus['results']>[number] {
  const { agentName, revision, runId, passed, failed, flaky, message } = result;
  return {
    agent: agentName,
    revision,
    ...resultOutcome(result),
    runID: runId,
    ...(passed !== null && { passed }),
    ...(failed !== null && { failed }),
    ...(flaky !== null && { flaky }),
    ...(message !== null && { message }),
  };
}

const VERDICTS = { passed: 'Passed', failed: 'Failed', error: 'Error' } as const;

function resultOutcome({ verdict, finishedAt }: AgentResult) {
  return {
    verdict: verdict === null ? ('Running' as const) : VERDICTS[verdict],
    ...(finishedAt !== null && { finishedAt: timestamp(finishedAt) }),
  };
}
