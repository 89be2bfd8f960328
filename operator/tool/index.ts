import type { Tool, ToolStatus } from '../../crds/index.ts';
import type { WorldReader } from '../runtime/cluster-world.ts';
import type { KindLogic } from '../runtime/controller.ts';
import { nothingToDo, observing } from '../runtime/simple-logic.ts';
import { planTool } from './plan.ts';

export function toolLogic(worlds: WorldReader): KindLogic<Tool, never, ToolStatus> {
  return {
    kind: 'Tool',
    statusFields: ['observedGeneration', 'conditions', 'lastHandledReconcileAt', 'type', 'functionName', 'attachedTo'],
    decide: observing<Tool, never, ToolStatus>(worlds, planTool),
    carryOut: nothingToDo,
  };
}
