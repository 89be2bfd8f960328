import type { KnowledgeBase, KnowledgeBaseStatus } from '../../crds/index.ts';
import type { WorldReader } from '../runtime/cluster-world.ts';
import type { KindLogic } from '../runtime/controller.ts';
import { nothingToDo, observing } from '../runtime/simple-logic.ts';
import { planKnowledgeBase, type EmbeddingProfile } from './plan.ts';

export function knowledgeBaseLogic(options: {
  readonly worlds: WorldReader;
  readonly profiles: readonly EmbeddingProfile[];
}): KindLogic<KnowledgeBase, never, KnowledgeBaseStatus> {
  const { profiles } = options;
  return {
    kind: 'KnowledgeBase',
    statusFields: ['observedGeneration', 'conditions', 'lastHandledReconcileAt', 'embedding'],
    decide: observing<KnowledgeBase, never, KnowledgeBaseStatus>(options.worlds, (knowledgeBase, world, now) =>
      planKnowledgeBase(knowledgeBase, world, { now, profiles }),
    ),
    carryOut: nothingToDo,
  };
}
