/** Names the state of what an agent depends on and REST shows with it. */
import { createHash } from 'node:crypto';

interface Dependency {
  readonly metadata: { readonly uid?: string; readonly generation?: number };
}

/**
 * Names one state of the dependencies, so that a reader of the Agent knows whether its status describes what the reader sees.
 *
 * @param dependencies.tools - all that name the agent and are not being deleted, in any order
 * @param dependencies.knowledgeBaseUid - undefined where the agent names none, or one that is not there
 * @returns 16 hexadecimal digits
 */
export function digestOfDependencies({
  tools,
  knowledgeBaseUid,
}: {
  readonly tools: readonly Dependency[];
  readonly knowledgeBaseUid: string | undefined;
}): string {
  const parts = tools.map(({ metadata }) => `${metadata.uid ?? ''}/${metadata.generation ?? 0}`).sort();
  return createHash('sha256')
    .update(JSON.stringify([knowledgeBaseUid ?? null, ...parts]))
    .digest('hex')
    .slice(0, 16);
}
