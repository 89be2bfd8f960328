import { expect, it } from 'vitest';

import { attemptTable, deliveryTable, subscriptionTable, type DeliveryView } from './tables.ts';

const now = Date.parse('2026-01-31T12:00:00Z');
const delivery = (changes: Partial<DeliveryView>): DeliveryView => ({
  id: 'dlv_1',
  subscription_id: 'crm',
  event_id: 'evt_1',
  event_name: 'CallHandler.CallEnded',
  status: 'succeeded',
  reason: null,
  attempts: 1,
  next_attempt_at: null,
  created_at: '2026-01-31T11:59:30Z',
  ended_at: '2026-01-31T11:59:31Z',
  ...changes,
});

it('shows state, attempts, reason and next try of deliveries', () => {
  const rows = deliveryTable(
    [
      delivery({}),
      delivery({ id: 'dlv_2', status: 'retrying', reason: 'timeout', attempts: 2, next_attempt_at: '2026-01-31T12:03:10Z' }),
      delivery({ status: 'pending', attempts: 0, next_attempt_at: '2026-01-31T11:00:00Z', created_at: '2026-01-29T12:00:00Z' }),
    ],
    now,
  )
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {3,}/));
  expect(rows).toEqual([
    ['DELIVERY', 'EVENT', 'EVENT ID', 'STATUS', 'ATTEMPTS', 'REASON', 'NEXT TRY', 'AGE'],
    ['dlv_1', 'CallHandler.CallEnded', 'evt_1', 'succeeded', '1', '-', '-', '30s'],
    ['dlv_2', 'CallHandler.CallEnded', 'evt_1', 'retrying', '2', 'timeout', 'in 3m10s', '30s'],
    ['dlv_1', 'CallHandler.CallEnded', 'evt_1', 'pending', '0', '-', 'now', '2d'],
  ]);
});

it('shows whom a subscription is for, and what became of each attempt', () => {
  const subscription = { id: 'crm', name: 'CRM', url: 'https://crm.example/in', events: [], active: false, signing_enabled: true };
  const state = { ready: false, reason: 'CircuitBreakerOpen', message: '' };
  expect(subscriptionTable([subscription, { ...subscription, events: ['a', 'b'], agent_ids: ['x', 'y'], state }])).toMatch(
    /crm +CRM +https:\/\/crm\.example\/in +\* +- +yes +no +-\n.* a,b +x,y +yes +no +CircuitBreakerOpen\n$/,
  );
  const attempt = {
    number: 1,
    started_at: '2026-01-31T12:00:00.000Z',
    duration_ms: 12,
    succeeded: true,
    reason: 'ok',
    status_code: 204,
    message: '',
  };
  expect(
    attemptTable([attempt, { ...attempt, number: 2, succeeded: false, reason: 'timeout', status_code: null, message: 'took longer' }]),
  ).toMatch(/1 +2026-01-31T12:00:00\.000Z +12 ms +204 +ok +-\n2 .* - +timeout +took longer\n$/);
});
