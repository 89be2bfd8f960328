import type { Tool, ToolStatus } from '../../crds/index.ts';
import { COMMON_STATUS_FIELDS, planFromReferences, type Reconciler } from '../runtime/reconciler.ts';
import type { SnapshotReader } from '../runtime/snapshot-reader.ts';
import { planTool } from './plan.ts';

export function toolReconciler(snapshots: SnapshotReader): Reconciler<Tool, never, ToolStatus> {
  return {
    kind: 'Tool',
    statusFields: [...COMMON_STATUS_FIELDS, 'type', 'functionName', 'attachedTo'],
    plan: (tool, { now, signal }) => planFromReferences(snapshots, tool, { plan: (snapshot) => planTool(tool, snapshot, now), signal }),
    apply: (action) => Promise.reject(new Error(`a Tool has no action ${JSON.stringify(action)}`)),
  };
}
