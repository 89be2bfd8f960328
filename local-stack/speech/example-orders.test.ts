import { expect, it } from 'vitest';

import { answerOfOrders } from './example-orders.ts';

const friday = Date.parse('2026-11-20T12:00:00Z');

it.each([
  ['/workshop/today', { next_free_day: 'Monday' }],
  ['/orders/HB-20415', { state: 'being repaired', ready_on: 'Monday' }],
  ['/orders/HB-20417', { state: 'ready for pick-up' }],
  ['/orders/4711', undefined],
  ['/', undefined],
])('%s', (path, answer) => {
  expect(answerOfOrders(path, friday)).toEqual(answer);
});
