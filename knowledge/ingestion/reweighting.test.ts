import { expect, it } from 'vitest';

import type { Collection } from '../../store/index.ts';
import { needsReweighting } from './reweighting.ts';

const collection = (more: Partial<Collection>) =>
  ({ dimension: 0, averageLength: 100, chunkCount: 10, termTotal: 1_000, ...more }) as Collection;

it.each([
  [{}, false],
  [{ termTotal: 1_190 }, false],
  [{ termTotal: 1_210 }, true],
  [{ termTotal: 790 }, true],
  [{ termTotal: 1_210, dimension: 384 }, false],
  [{ chunkCount: 0, termTotal: 0 }, false],
  [{ averageLength: 0 }, false],
])('%o: %s', (more, due) => {
  expect(needsReweighting(collection(more))).toBe(due);
});
