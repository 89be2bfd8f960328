import { z } from 'zod';

import type { KubeObject, Stored } from '../../kube/types.ts';

export const pageQuery = z.object({
  page_size: z.int().min(1).max(100).default(20).describe('Objects on a page.'),
  page_token: z
    .string()
    .optional()
    .describe('The `next_page_token` of the page before; empty or absent for the first page. It opens only the list that gave it out.'),
});

interface Page<T> {
  readonly items: readonly T[];
  /** Position of the next page; undefined after the last one. */
  readonly next: readonly [creationTimestamp: string, name: string] | undefined;
}

/**
 * Returns objects in the order of their creation, after `position`. Objects that exist during a whole walk are seen exactly once, whatever
 * comes and goes meanwhile: a position is a point in that order, not a count.
 */
export function pageOf<T extends Stored<KubeObject>>(
  objects: readonly T[],
  size: number,
  position: readonly string[] | undefined,
): Page<T> {
  const ordered = objects
    .filter((object) => position === undefined || compare(sortKey(object), position) > 0)
    .toSorted((a, b) => compare(sortKey(a), sortKey(b)));
  const items = ordered.slice(0, size);
  const last = items.at(-1);
  return { items, next: ordered.length > size && last !== undefined ? sortKey(last) : undefined };
}

const sortKey = ({ metadata }: Stored<KubeObject>) => [metadata.creationTimestamp, metadata.name] as const;

/** Compares by code units, which order creation times, as all are written alike. */
function compare(a: readonly string[], b: readonly string[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? '';
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
