import type { Agent, AgentStatus, Tool } from '../../crds/index.ts';
import type { Stored } from '../../kube/index.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { agentReferences, toolCredentials } from '../references/references-of.ts';
import { COMMON_STATUS_FIELDS, recheck, withAdoptions, type KeyedQueue, type Reconciler } from '../runtime/reconciler.ts';
import { UnsettledError } from '../runtime/unsettled-error.ts';
import { namespaceOf, type SnapshotReader, type Wanted } from '../runtime/snapshot-reader.ts';
import { isDeleting, isReconcileRequested, isSuspended } from '../status/common.ts';
import type { Sweep } from '../runtime/sweep.ts';
import type { KnownTests } from '../agent-test/known-tests.ts';
import { budgetOf } from '../../calls/usage/budget.ts';
import type { Store, WatchReleasesOptions } from '../../store/index.ts';
import { attachments, offeredTools } from '../tool/attachment.ts';
import type { ToolListCache } from '../tool/tool-list-cache.ts';
import type { BudgetView } from './budget.ts';
import { allPassed, requiredTests } from './gate.ts';
import { planAgent, TOOLS_LIMIT, withinLimits, type AgentAction } from './plan.ts';
import { prepareTools } from './prepare-tools.ts';
import type { ServingRevisionCache } from './serving-revision-cache.ts';

export interface AgentReconcilerOptions {
  readonly snapshots: SnapshotReader;
  readonly revisions: ServingRevisionCache;
  readonly tests: Pick<KnownTests, 'ofAgent' | 'testedAgents' | 'requireUpToDate'>;
  readonly runs: Pick<Store['testRuns'], 'listen'>;
  /** Calls back when a person changes what serves. */
  readonly watchReleases: (callbacks: Pick<WatchReleasesOptions, 'onChange' | 'onListening'>) => { stop(): Promise<void> };
  readonly spending: Pick<Store['calls']['usage'], 'spentSince'>;
  /** Currency of the prices; undefined where there are none. */
  readonly pricesIn?: string | undefined;
  readonly deletionGraceMs: number;
  readonly lists: Pick<ToolListCache, 'read' | 'listen' | 'stale' | 'allStale'>;
  readonly toolNamed: (org: string, name: string) => Stored<Tool> | undefined;
  readonly sweep: Pick<Sweep<Agent>, 'lead' | 'run'>;
}

/** Time between two attempts to read the tools of MCP servers, in milliseconds. */
const UNREAD_RETRY_MS = 5_000;

export function agentReconciler(options: AgentReconcilerOptions): Reconciler<Agent, AgentAction, AgentStatus> {
  const { snapshots, revisions, tests, spending, pricesIn, deletionGraceMs, lists, sweep } = options;

  /** Reads the spending whenever the agent is looked at, every half minute: calls change it all the time. */
  const budgetView = async (agent: Stored<Agent>, now: number): Promise<BudgetView | undefined> => {
    const budget = isSuspended(agent) || isDeleting(agent) ? undefined : budgetOf(agent.spec, now);
    if (budget === undefined) return undefined;
    const day = { ...identityOf(agent), currency: budget.currency, since: new Date(budget.since) };
    return { spent: await spending.spentSince(day).catch(() => undefined), pricesIn };
  };

  /** Tests and results may have changed since the plan, and the watch of the tests may be behind that of the agents. */
  const stillPassed = async (agent: Stored<Agent>, configHash: string): Promise<boolean> => {
    await tests.requireUpToDate(namespaceOf(agent));
    const required = requiredTests(tests.ofAgent(agent));
    if (required.length === 0) return true;
    const view = await revisions.view(identityOf(agent), { tested: true });
    return view.state === 'known' && allPassed(required, configHash, view.evidence ?? []);
  };

  return {
    kind: 'Agent',
    statusFields: [
      ...COMMON_STATUS_FIELDS,
      'desiredRevision',
      'servingRevision',
      'servingSince',
      'canary',
      'observedDependenciesDigest',
      'tools',
    ],

    async plan(agent, { now, signal, retryWhenPostgresIsBack }) {
      // A requested reconcile means that a user suspects a problem: Postgres is read, too.
      if (isReconcileRequested(agent)) revisions.forget(identityOf(agent));
      // Postgres is read first: after the last wait nothing may change between taking the snapshot and planning.
      const tested = requiredTests(tests.ofAgent(agent)).length > 0;
      const { release } = agent.spec;
      const serving = await revisions.view(identityOf(agent), { tested, release });
      if (serving.state === 'unavailable') retryWhenPostgresIsBack();
      const budget = await budgetView(agent, now);
      const offered = await offeredNow(snapshots, agent, signal);
      // Without the lists of MCP servers the plan would take their tools away.
      const unread = isDeleting(agent) ? undefined : await lists.read(offered.tools.filter(({ spec }) => spec.type === 'MCP'));
      if (unread !== undefined) {
        retryWhenPostgresIsBack();
        throw new UnsettledError(`the tools of MCP servers cannot be read: ${unread.why}`, UNREAD_RETRY_MS);
      }
      await prepareTools(offered.tools, offered.snapshot);
      const { snapshot, recheckAfterMs } = await snapshots.observe(namespaceOf(agent), (seen) => wantedBy(agent, seen), signal);
      const plan = planAgent(agent, snapshot, serving, { now, deletionGraceMs, budget });
      return recheck(withAdoptions(agent, plan, snapshot, agentReferences(agent)), recheckAfterMs);
    },

    async apply(action, agent) {
      const identity = identityOf(agent);
      switch (action.type) {
        case 'serve':
        case 'release': {
          if (action.testedAs !== undefined && !(await stillPassed(agent, action.testedAs))) return { replan: true };
          const { state } = await revisions.release(identity, action);
          // What was decided on has changed: plan again.
          return { replan: state !== 'known' };
        }
        case 'test': {
          const { type: _type, ...request } = action;
          const { state } = await revisions.test(identity, request);
          return { replan: state === 'unavailable' };
        }
        case 'budget': {
          const { state } = await revisions.setBudget(identity, action.budget);
          return { replan: state === 'unavailable' };
        }
        default: {
          const { state } = await revisions.retire(identity);
          return { replan: state !== 'known' };
        }
      }
    },

    lead: (queue) => followChanges(options, queue),

    refresh() {
      revisions.clear();
      sweep.run();
    },
    catchUp: sweep.run,
    deleted: (agent) => revisions.forget(identityOf(agent)),
  };
}

/** Reconciles agents when their tests, their releases or the tools of their MCP servers change in Postgres. */
function followChanges(
  { sweep, runs, tests, watchReleases, revisions, lists, toolNamed }: AgentReconcilerOptions,
  queue: KeyedQueue,
): () => Promise<void> {
  const endSweep = sweep.lead(queue);
  const listening = runs.listen({
    onChange: ({ org, name }) => queue.enqueue(`${org}/${name}`),
    onListening: () => {
      for (const key of tests.testedAgents()) queue.enqueue(key);
    },
  });
  const watch = watchReleases({
    onChange: ({ org, agentName }) => {
      revisions.forget({ org, agentName });
      queue.enqueue(`${org}/${agentName}`);
    },
    onListening: () => {
      revisions.clear();
      queue.enqueueAll();
    },
  });
  const tools = lists.listen({
    onChange: ({ org, name }) => {
      const tool = toolNamed(org, name);
      if (tool === undefined) return;
      lists.stale(tool);
      for (const agent of attachments(tool)) queue.enqueue(`${org}/${agent}`);
    },
    onListening: () => {
      lists.allStale();
      queue.enqueueAll();
    },
  });
  return async () => {
    endSweep();
    await Promise.all([listening.stop(), watch.stop(), tools.stop()]);
  };
}

function identityOf(agent: Stored<Agent>): { readonly org: string; readonly agentName: string } {
  return { org: namespaceOf(agent), agentName: agent.metadata.name };
}

async function offeredNow(snapshots: SnapshotReader, agent: Stored<Agent>, signal: AbortSignal) {
  const { snapshot } = await snapshots.observe(namespaceOf(agent), () => [], signal);
  return { tools: offeredTools(namespaceOf(agent), agent.metadata.name, snapshot).slice(0, TOOLS_LIMIT), snapshot };
}

function wantedBy(agent: Agent, snapshot: ClusterSnapshot): readonly Wanted[] {
  if (isDeleting(agent)) return [];
  const tools = withinLimits(offeredTools(namespaceOf(agent), agent.metadata.name, snapshot), snapshot);
  return [
    ...agentReferences(agent).map((reference) => ({ reference, text: reference.kind === 'ConfigMap' })),
    ...tools.flatMap(toolCredentials).map((reference) => ({ reference })),
  ];
}
