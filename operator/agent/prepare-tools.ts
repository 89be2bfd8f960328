import type { Tool } from '../../crds/index.ts';
import { dataNamesOf } from '../../crds/tool-consistency.ts';
import { Pacer } from '../../platform/pacer.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { checkToolSpec } from '../tool/plan.ts';
import { TOOLS_SIZE_LIMIT } from './plan.ts';
import { sizeInRevision } from './revision.ts';

/** Checking and serialising large tools takes milliseconds each. Done here in slices, it doesn't slow the plan, which runs without a pause. */
export async function prepareTools(tools: readonly Tool[], snapshot: ClusterSnapshot): Promise<void> {
  const pacer = new Pacer();
  let size = 0;
  for (const tool of tools) {
    if (pacer.due) await pacer.pause();
    checkToolSpec(tool.spec);
    dataNamesOf(tool.spec);
    size += sizeInRevision(tool, snapshot);
    if (size > TOOLS_SIZE_LIMIT) return;
  }
}
