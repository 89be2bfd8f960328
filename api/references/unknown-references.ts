/** Checks references to other resources when they are written. */
import type { KubeObject } from '../../kube/types.ts';
import type { View } from '../resources/view.ts';
import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';

export interface NamedReference {
  readonly loc: Loc;
  /** The id in the request; none where the request names nothing. */
  readonly id: string | null | undefined;
  /** Ids that are stored already: it is no fault of this request that a resource which was named before has gone. */
  readonly before: readonly (string | undefined)[];
}

/**
 * Asks the server, and not this process's cache: another replica may have made or deleted the object a moment ago. An object that is being
 * deleted counts as gone.
 *
 * @param noun the noun in "there is no AI agent"
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
