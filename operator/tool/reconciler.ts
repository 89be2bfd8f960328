import type { Tool, ToolStatus } from '../../crds/index.ts';
import { COMMON_STATUS_FIELDS, planFromReferences, type Reconciler } from '../runtime/reconciler.ts';
import type { SnapshotReader } from '../runtime/snapshot-reader.ts';
import { isDeleting, isReconcileRequested, isSuspended } from '../status/common.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Stored } from '../../kube/index.ts';
import type { ToolAction } from './mcp-plan.ts';
import { planTool } from './plan.ts';
import type { ToolListCache } from './tool-list-cache.ts';

export interface ToolReconcilerOptions {
  readonly snapshots: SnapshotReader;
  readonly lists: ToolListCache;
  readonly toolNamed: (org: string, name: string) => Stored<Tool> | undefined;
  readonly tools: () => readonly Stored<Tool>[];
  readonly logger: Logger;
}

export function toolReconciler({
  snapshots,
  lists,
  toolNamed,
  tools,
  logger,
}: ToolReconcilerOptions): Reconciler<Tool, ToolAction, ToolStatus> {
  const prune = (): void => {
    lists
      .prune(() => new Set(tools().map(({ metadata }) => metadata.uid)))
      .catch((err: unknown) => logger.warn({ err }, 'failed to remove the lists of tools that are gone; retrying with the next resync'));
  };
  return {
    kind: 'Tool',
    statusFields: [...COMMON_STATUS_FIELDS, 'functionName', 'attachedAgents', 'agents', 'mcp'],

    async plan(tool, { now, signal, retryWhenPostgresIsBack }) {
      if (tool.spec.type === 'MCP' && !isSuspended(tool) && !isDeleting(tool)) {
        // A requested reconcile means that a user suspects a problem: Postgres is read, too.
        if (isReconcileRequested(tool)) lists.stale(tool);
        if ((await lists.read([tool])) !== undefined) retryWhenPostgresIsBack();
      }
      return planFromReferences(snapshots, tool, { plan: (snapshot) => planTool(tool, snapshot, now), signal });
    },

    async apply(action, tool) {
      const { state } = action.type === 'requestList' ? await lists.request(tool, action) : await lists.accept(tool, action.tools);
      return { replan: state === 'unavailable' };
    },

    lead(queue) {
      const listening = lists.listen({
        onChange: ({ org, name }) => {
          const tool = toolNamed(org, name);
          if (tool !== undefined) lists.stale(tool);
          queue.enqueue(`${org}/${name}`);
        },
        onListening: () => {
          lists.allStale();
          queue.enqueueAll();
          prune();
        },
      });
      return () => listening.stop();
    },

    refresh: () => {
      lists.allStale();
      prune();
    },
    deleted: (tool) => {
      if (tool.spec.type === 'MCP') lists.remove(tool);
    },
    catchUp: prune,
  };
}
