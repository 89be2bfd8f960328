import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { ClaimOwner } from './claim-owner.ts';

it('puts its number to claims only while its session stands', () => {
  const owner = new ClaimOwner(new FakeClock());
  expect([owner.number, owner.judges]).toEqual([null, false]);
  owner.held();
  expect(owner.number).toBeGreaterThan(0);
  expect(owner.judges).toBe(true);
  owner.lost();
  expect([owner.number, owner.judges]).toEqual([null, false]);
});

it('judges others again once all have had the time to come back', async () => {
  const clock = new FakeClock();
  const owner = new ClaimOwner(clock);
  owner.held();
  owner.lost();
  await clock.advance(4_000);
  owner.held();
  await clock.advance(5_999);
  expect(owner.judges).toBe(false);
  await clock.advance(1);
  expect(owner.judges).toBe(true);
});
