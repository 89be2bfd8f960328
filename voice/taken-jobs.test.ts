import { expect, it } from 'vitest';

import { FakeClock } from '../test/support/fake-clock.ts';
import { TakenJobs } from './taken-jobs.ts';

it('counts a job from when it was accepted until a process has it', () => {
  const clock = new FakeClock();
  const taken = new TakenJobs(clock);
  taken.accepted('one');
  taken.accepted('two');
  expect(taken.size).toBe(2);
  taken.assigned('one');
  clock.tick(60_000);
  expect(taken.size).toBe(1);
  taken.placed('one');
  expect(taken.size).toBe(0);
});

it('forgets one that was given to somebody else, and takes it when it comes late', () => {
  const clock = new FakeClock();
  const taken = new TakenJobs(clock);
  taken.accepted('one');
  clock.tick(7_500);
  expect(taken.size).toBe(0);
  taken.assigned('one');
  expect(taken.size).toBe(1);
});
