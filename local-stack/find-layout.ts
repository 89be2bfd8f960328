import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

import { type Layout, layoutOf } from './layout.ts';

/** The nearest `.parley` with a ready stack, from `folder` upwards, as git finds its own. */
export function findLayout(folder: string): Layout | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const layout = layoutOf(at);
    if (existsSync(layout.envFile)) return layout;
    if (dirname(at) === at) return undefined;
  }
}
