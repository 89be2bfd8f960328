/** References to other resources, checked when they are written. */
import type { KubeObject } from '../../kube/types.ts';
import type { View } from '../resources/view.ts';
import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';

export interface NamedReference {
  readonly loc: Loc;
  /** What the request says; nothing where it doesn't name anything. */
  readonly id: string | null | undefined;
  /** What stands there already: what was named before and is gone since is no fault of this request. */
  readonly before: readonly (string | undefined)[];
}

/**
 * Asks the server, and not what this process remembers: another replica may have made or deleted it a moment ago. What is being deleted
 * is not there any more.
 *
 * @param noun as in "there is no AI agent"
 * @throws KubeError when the API server doesn't answer
 */
export async function unknownReferences<T extends KubeObject>(
  view: Pick<View<T>, 'stored'>,
  org: string,
  noun: string,
  named: readonly NamedReference[],
): Promise<readonly ValidationIssue[]> {
  const found = await Promise.all(
    named.map(async ({ loc, id, before }) => {
      if (id === undefined || id === null || before.includes(id)) return [];
      return (await view.stored(org, id)) !== undefined ? [] : [issues.value(loc, `there is no ${noun} ${JSON.stringify(id)}`)];
    }),
  );
  return found.flat();
}
