import { expect, it } from 'vitest';

import type { SeenDelivery } from '../../cli/webhooks/receiver.ts';
import { requireVerified } from './received.ts';

const delivery = (about: Partial<SeenDelivery>): SeenDelivery => ({
  received_at: '2026-01-01T00:00:00.000Z',
  verdict: 'verified',
  path: '/call-log',
  webhook_id: 'evt_1',
  times: 1,
  status: 204,
  event: {},
  ...about,
});

it.each([
  ['where nothing has come', [], 'among 0'],
  ['for the delivery of another event', [delivery({ webhook_id: 'evt_2' })], 'among 1'],
  ['for an unsigned one', [delivery({ verdict: 'unsigned' })], 'among 1, but unsigned'],
  ['for one whose signature is wrong', [delivery({ verdict: 'refused', why: 'no key fits', status: 401 })], 'but refused: no key fits'],
])('is not content %s', (_name, data, message) => {
  expect(() => requireVerified({ data }, 'evt_1')).toThrow(message);
});

it('is content once the event has come with a signature', () => {
  expect(() => requireVerified({ data: [delivery({ verdict: 'refused', status: 401 }), delivery({ times: 2 })] }, 'evt_1')).not.toThrow();
});
