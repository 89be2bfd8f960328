/** Names the state of what an agent's revision is compiled from and REST shows, in addition to the Agent itself. */
import { createHash } from 'node:crypto';

interface Input {
  readonly metadata: { readonly uid?: string; readonly generation?: number };
}

/**
 * Names one state of the inputs, so that a reader of the Agent knows whether its status describes what the reader sees.
 *
 * @param inputs.tools - all that name the agent and are not being deleted, in any order
 * @param inputs.knowledgeBaseUid - undefined where the agent names none, or one that is not there
 * @returns 16 hexadecimal digits
 */
export function inputsDigest({
  tools,
  knowledgeBaseUid,
}: {
  readonly tools: readonly Input[];
  readonly knowledgeBaseUid: string | undefined;
}): string {
  const parts = tools.map(({ metadata }) => `${metadata.uid ?? ''}/${metadata.generation ?? 0}`).sort();
  return createHash('sha256')
    .update(JSON.stringify([knowledgeBaseUid ?? null, ...parts]))
    .digest('hex')
    .slice(0, 16);
}
