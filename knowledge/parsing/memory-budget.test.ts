import { expect, it } from 'vitest';

import { MemoryBudget } from './memory-budget.ts';

function processes(budget: MemoryBudget, count: number) {
  return Array.from({ length: count }, (_, at) => {
    const one = { at, isBusy: true, ended: false, kill: () => void (one.ended = true) };
    budget.join(one);
    return one;
  });
}
const endedOf = (all: ReturnType<typeof processes>) => all.filter(({ ended }) => ended).map(({ at }) => at);

it('ends the last of those that take more than their share', () => {
  const budget = new MemoryBudget(2_000);
  const all = processes(budget, 4);
  const holds = (at: number, bytes: number): void => {
    const one = all[at];
    if (one !== undefined) budget.holds(one, bytes);
  };
  holds(0, 400);
  holds(1, 900);
  holds(2, 600);
  holds(3, 100);
  expect(endedOf(all)).toEqual([]);
  // The victim is neither the one whose growth is noticed nor the small one that came last.
  holds(0, 450);
  expect(endedOf(all)).toEqual([2]);
  holds(1, 1_400);
  expect(endedOf(all)).toEqual([2]);
  holds(1, 1_460);
  expect(endedOf(all)).toEqual([1, 2]);
});

it('ends idle ones first', () => {
  const budget = new MemoryBudget(1_000);
  const all = processes(budget, 3);
  const [busy, idle, other] = all;
  if (busy === undefined || idle === undefined || other === undefined) throw new Error('three were asked for');
  idle.isBusy = other.isBusy = false;
  budget.holds(idle, 300);
  budget.holds(other, 300);
  expect([budget.hasRoomFor(400), budget.hasRoomFor(401)]).toEqual([true, false]);
  budget.holds(busy, 600);
  expect(endedOf(all)).toEqual([1]);
  budget.holds(busy, 900);
  expect(endedOf(all)).toEqual([1, 2]);
});

it('leaves one that is alone to its own limit, and forgets those that left', () => {
  const budget = new MemoryBudget(1_000);
  const [one, other] = processes(budget, 2);
  if (one === undefined || other === undefined) throw new Error('two were asked for');
  budget.holds(one, 900);
  budget.leave(one);
  budget.holds(other, 1_500);
  budget.holds(one, 5_000);
  expect([one.ended, other.ended]).toEqual([false, false]);
});
