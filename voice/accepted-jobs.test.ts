import { expect, it } from 'vitest';

import { FakeClock } from '../test/support/fake-clock.ts';
import { AcceptedJobs } from './accepted-jobs.ts';

it('counts a job from when it was accepted until a process runs it', () => {
  const clock = new FakeClock();
  const accepted = new AcceptedJobs(clock);
  accepted.accepted('one');
  accepted.accepted('two');
  expect(accepted.size).toBe(2);
  accepted.assigned('one');
  clock.tick(60_000);
  expect(accepted.size).toBe(1);
  accepted.launched('one');
  expect(accepted.size).toBe(0);
});

it('forgets one that another server got, and counts it again when it arrives late', () => {
  const clock = new FakeClock();
  const accepted = new AcceptedJobs(clock);
  accepted.accepted('one');
  clock.tick(7_500);
  expect(accepted.size).toBe(0);
  accepted.assigned('one');
  expect(accepted.size).toBe(1);
});
