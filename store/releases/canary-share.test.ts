import { expect, it } from 'vitest';

import { uuidv7At } from '../../platform/uuid.ts';
import { canaryShareOf } from './canary-share.ts';

it('gives a call the same share in each process and version', () => {
  const id = 'call_019aa5b2-6c00-7000-8000-000000000001';
  expect(canaryShareOf(id)).toBeCloseTo(33.639, 3);
});

it.each([1, 5, 10, 25, 50, 90, 99])('takes %d of 100 calls, within a point over 10,000', (percent) => {
  // These ids are made 10 ms apart, as calls make them; the random part comes from a generator that begins alike in each run.
  let seed = 7;
  const hex = (digits: number): string => {
    let text = '';
    while (text.length < digits) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      text += seed.toString(16).padStart(8, '0').slice(0, 4);
    }
    return text.slice(0, digits);
  };
  const ids = Array.from({ length: 10_000 }, (_, index) => {
    const time = uuidv7At(1_790_000_000_000 + index * 10).slice(0, 14);
    return `call_${time}7${hex(3)}-8${hex(3)}-${hex(12)}`;
  });
  const taken = ids.filter((id) => canaryShareOf(id) < percent).length;
  expect(Math.abs(taken / 100 - percent)).toBeLessThan(1);
});
