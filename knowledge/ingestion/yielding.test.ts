import { expect, it } from 'vitest';

import { yieldRegularly } from './yielding.ts';

it('lets a timer run in the middle of a computation', async () => {
  let ran = 0;
  const timer = setInterval(() => (ran += 1), 1);
  const turn = yieldRegularly(2);
  const end = performance.now() + 300_000;
  let rounds = 0;
  // Without turns nothing but the clock would end it.
  while (ran < 3 && performance.now() < end) {
    rounds += 1;
    await turn();
  }
  clearInterval(timer);
  expect(ran).toBe(3);
  expect(rounds).toBeGreaterThan(3);
});
