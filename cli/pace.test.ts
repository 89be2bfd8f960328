import { expect, it } from 'vitest';

import { Pace } from './pace.ts';

it('says the rate of the last seconds and the time left', () => {
  const pace = new Pace(0);
  pace.reached(10, 500);
  expect(pace.text(100)).toBe('');
  pace.reached(40, 2_000);
  expect(pace.text(100)).toBe('20/s, 3 s left');
  pace.reached(41, 60_000);
  pace.reached(42, 70_000);
  // The pace of a minute ago no longer counts.
  expect(pace.text(1_400)).toMatch(/^0\.\d\/s, \d+ h \d+ min left$/);
});

it('says minutes and hours, and no time once all is done', () => {
  const at = (done: number, total: number): string => {
    const pace = new Pace(0);
    pace.reached(done, 10_000);
    return pace.text(total);
  };
  expect(at(100, 1_400)).toBe('10/s, 2 min 10 s left');
  expect(at(10, 10_000)).toBe('1.0/s, 2 h 46 min left');
  expect(at(100, 100)).toBe('10/s');
  expect(at(0, 100)).toBe('');
});
