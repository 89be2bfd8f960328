import { expect, it } from 'vitest';

import { answerOfOrders, isForOrders } from './example-orders.ts';

const friday = Date.parse('2026-11-20T12:00:00Z');

it('is asked by any name, with credentials', () => {
  const request = { method: 'GET', url: '/orders/HB-20417', headers: { host: 'robot.demo.svc:7890', authorization: 'Bearer x' } };
  expect(isForOrders(request)).toBe(true);
  expect(isForOrders({ ...request, headers: { host: 'orders.example' } })).toBe(false);
  expect(isForOrders({ ...request, url: '/v1/models' })).toBe(false);
});

it.each([
  ['/workshop/today', { next_free_day: 'Monday' }],
  ['/orders/HB-20415', { state: 'being repaired', ready_on: 'Monday' }],
  ['/orders/HB-20417', { state: 'ready for pick-up' }],
  ['/orders/4711', undefined],
  ['/', undefined],
])('%s', (path, answer) => {
  expect(answerOfOrders(path, friday)).toEqual(answer);
});
