import { expect, it } from 'vitest';

import type { Collection } from '../../store/index.ts';
import { REFERENCE_LENGTH } from '../lexical/vectors.ts';
import { needsReweighting } from './reweighting.ts';

const collection = (more: Partial<Collection>): Collection =>
  ({ dimension: 0, averageLength: 100, chunkCount: 10, termTotal: 1_000, deleted: false, ...more }) as Collection;

it.each<readonly [Partial<Collection>, boolean]>([
  [{}, true],
  [{ averageLength: REFERENCE_LENGTH }, false],
  [{ dimension: 384 }, false],
  [{ chunkCount: 0 }, false],
  [{ deleted: true }, false],
])('reweighs what an older release has weighed, where words alone rank: %j', (more, due) => {
  expect(needsReweighting(collection(more))).toBe(due);
});
