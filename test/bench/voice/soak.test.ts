import { expect, it } from 'vitest';

import { slope } from './soak.ts';

it('reports what each call leaves behind', () => {
  const at = (calls: number, bytes: number) => ({ calls, bytes });
  expect(slope([at(0, 100), at(10, 100), at(20, 100)])).toBe(0);
  expect(slope([at(0, 100), at(10, 300), at(20, 500)])).toBe(20);
  expect(slope([at(0, 110), at(10, 90), at(20, 110)])).toBe(0);
});
