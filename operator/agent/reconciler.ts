import { wellKnown, type Agent, type AgentStatus, type Tool } from '../../crds/index.ts';
import { Pacer, type ResourceClient, type Stored } from '../../kube/index.ts';
import { agentReferences, toolCredentials } from '../references/references-of.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { namespaceOf, type Wanted, type SnapshotReader } from '../runtime/snapshot-reader.ts';
import type { Applied, Reconciler } from '../runtime/controller.ts';
import { setFinalizer } from '../runtime/finalizer.ts';
import type { Plan } from '../runtime/plan.ts';
import { recheck } from '../runtime/recheck.ts';
import { isDeleting, isSuspended } from '../status/common.ts';
import { offeredTools } from '../tool/attachment.ts';
import { checkToolSpec } from '../tool/plan.ts';
import { planAgent, TOOLS_LIMIT, TOOLS_SIZE_LIMIT, withinLimits, type AgentAction } from './plan.ts';
import { sizeInRevision } from './revision.ts';
import type { ServingRevisionCache } from './serving-revision-cache.ts';

export interface AgentReconcilerOptions {
  readonly client: ResourceClient<Agent>;
  readonly snapshots: SnapshotReader;
  readonly book: ServingRevisionCache;
  readonly deletionGraceMs: number;
  /** Told which agents wait for Postgres. */
  readonly onWaiting: (key: string) => void;
}

export function agentReconciler(options: AgentReconcilerOptions): Reconciler<Agent, AgentAction, AgentStatus> {
  const { client, snapshots, book, deletionGraceMs, onWaiting } = options;
  return {
    kind: 'Agent',
    statusFields: [
      'observedGeneration',
      'conditions',
      'lastHandledReconcileAt',
      'desiredRevision',
      'servingRevision',
      'configHash',
      'activeSince',
      'observedInputs',
      'tools',
      'toolNames',
    ],

    async decide(agent, { now, signal }): Promise<Plan<AgentAction, AgentStatus>> {
      const namespace = namespaceOf(agent);
      const requested = agent.metadata.annotations?.[wellKnown.reconcileRequestedAt];
      // Who asks for a reconcile suspects that something is not as it seems: Postgres is asked too.
      if (requested !== undefined && requested !== agent.status?.lastHandledReconcileAt) book.forget(agent.metadata.uid);
      // The store first: after the last wait nothing may change between looking at the world and planning.
      const store = isSuspended(agent) && !isDeleting(agent) ? ({ state: 'known' } as const) : await book.view(identityOf(agent));
      if (store.state === 'unavailable') onWaiting(`${namespace}/${agent.metadata.name}`);
      await judgeTools(await offeredNow(snapshots, agent, signal));
      const { snapshot, recheckAfterMs } = await snapshots.observe(namespace, (seen) => wantedBy(agent, seen), signal);
      return recheck(planAgent(agent, snapshot, store, { now, deletionGraceMs }), recheckAfterMs);
    },

    async apply(action, agent, context): Promise<Applied<Agent>> {
      switch (action.type) {
        case 'addFinalizer':
          return { object: await setFinalizer(client, agent, true, context) };
        case 'dropFinalizer': {
          const object = await setFinalizer(client, agent, false, context);
          book.forget(agent.metadata.uid);
          return { object };
        }
        case 'serve': {
          const { revision, config } = action;
          const view = await book.serve({ ...identityOf(agent), agentName: agent.metadata.name, revision, config });
          return { replan: view.state === 'unavailable' };
        }
        default: {
          const view = await book.retire({ ...identityOf(agent), agentName: agent.metadata.name });
          return { replan: view.state === 'unavailable' };
        }
      }
    },
  };
}

function identityOf(agent: Stored<Agent>): { readonly org: string; readonly agentUid: string } {
  return { org: namespaceOf(agent), agentUid: agent.metadata.uid };
}

async function offeredNow(snapshots: SnapshotReader, agent: Stored<Agent>, signal: AbortSignal): Promise<readonly Tool[]> {
  const { snapshot } = await snapshots.observe(namespaceOf(agent), () => [], signal);
  return offeredTools(namespaceOf(agent), agent.metadata.name, snapshot).slice(0, TOOLS_LIMIT);
}

/** Judging and serialising large tools takes milliseconds each. Done here, in slices, none of it is left for the plan, which is one piece. */
async function judgeTools(tools: readonly Tool[]): Promise<void> {
  const pacer = new Pacer();
  let size = 0;
  for (const tool of tools) {
    if (pacer.due) await pacer.pause();
    checkToolSpec(tool.spec);
    size += sizeInRevision(tool);
    if (size > TOOLS_SIZE_LIMIT) return;
  }
}

function wantedBy(agent: Agent, snapshot: ClusterSnapshot): readonly Wanted[] {
  if (isDeleting(agent)) return [];
  const tools = withinLimits(offeredTools(namespaceOf(agent), agent.metadata.name, snapshot));
  return [
    ...agentReferences(agent).map((reference) => ({ reference, text: reference.kind === 'ConfigMap' })),
    ...tools.flatMap(toolCredentials).map((reference) => ({ reference })),
  ];
}
