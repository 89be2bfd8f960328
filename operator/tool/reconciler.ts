import type { Tool, ToolStatus } from '../../crds/index.ts';
import type { SnapshotReader } from '../runtime/snapshot-reader.ts';
import type { Reconciler } from '../runtime/controller.ts';
import { nothingToDo, observing } from '../runtime/simple-logic.ts';
import { planTool } from './plan.ts';

export function toolReconciler(snapshots: SnapshotReader): Reconciler<Tool, never, ToolStatus> {
  return {
    kind: 'Tool',
    statusFields: ['observedGeneration', 'conditions', 'lastHandledReconcileAt', 'type', 'functionName', 'attachedTo'],
    decide: observing<Tool, never, ToolStatus>(snapshots, planTool),
    apply: nothingToDo,
  };
}
