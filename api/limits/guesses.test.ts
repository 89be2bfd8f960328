import { describe, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { Guesses } from './guesses.ts';

const limit = { perSecond: 1, burst: 3 };

describe('Guesses', () => {
  it('slows one address down and no other', async () => {
    const clock = new FakeClock();
    const guesses = new Guesses({ limit, clock });
    for (let n = 0; n < 3; n += 1) {
      expect(guesses.waitMs('192.0.2.1')).toBe(0);
      guesses.count('192.0.2.1');
    }
    expect(guesses.waitMs('192.0.2.1')).toBeCloseTo(1000);
    expect(guesses.waitMs('192.0.2.2')).toBe(0);
    await clock.advance(1_000);
    expect(guesses.waitMs('192.0.2.1')).toBe(0);
  });

  it('takes back what was no guess', () => {
    const guesses = new Guesses({ limit, clock: new FakeClock() });
    for (let n = 0; n < 100; n += 1) {
      guesses.count('192.0.2.1');
      guesses.takeBack('192.0.2.1');
    }
    expect(guesses.waitMs('192.0.2.1')).toBe(0);
  });

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
    ['2001:db8:1:2::1', '2001:0DB8:0001:0002::9', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['::1', '::2', true],
    ['2001:db8::', '2001:db8::5:0:0:1', true],
    ['fe80::1%eth0', 'fe80::2', true],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
  ])('counts %s and %s together: %s', (one, other, together) => {
    const guesses = new Guesses({ limit, clock: new FakeClock() });
    for (let n = 0; n < 3; n += 1) guesses.count(one);
    expect(guesses.waitMs(other) > 0).toBe(together);
  });

  it('is off at a rate of 0', () => {
    const guesses = new Guesses({ limit: { perSecond: 0, burst: 1 }, clock: new FakeClock() });
    for (let n = 0; n < 10; n += 1) guesses.count('192.0.2.1');
    expect(guesses.waitMs('192.0.2.1')).toBe(0);
  });
});
