import type { ReasonDefinition } from './reasons.ts';

/** The reason of a stage that fails until a person changes something. */
export function stalled(
  condition: ReasonDefinition['condition'],
  { meaning, cure }: Required<Pick<ReasonDefinition, 'meaning' | 'cure'>>,
): ReasonDefinition {
  return { condition, status: 'False', meaning, cure, blocks: 'person' };
}
