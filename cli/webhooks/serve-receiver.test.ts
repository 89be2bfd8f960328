import { expect, it, vi } from 'vitest';

import type { SeenDelivery } from './receiver.ts';
import { formatDelivery, PacedLines } from './serve-receiver.ts';

const seen: SeenDelivery = {
  received_at: '2026-01-31T12:00:00.000Z',
  verdict: 'verified',
  subscription: 'call-log',
  path: '/call-log',
  webhook_id: 'evt_1',
  times: 1,
  status: 204,
  event: { eventName: 'Webhook.Test' },
};

it('says of a delivery whose it is and what became of it', () => {
  expect(formatDelivery(seen)).toBe('verified  call-log  Webhook.Test  evt_1  204');
  expect(formatDelivery({ ...seen, times: 3, status: 503 })).toMatch(/503 \(the 3\. time\)$/);
});

it('brings nothing to the terminal that could steer it', () => {
  const { subscription, ...nobodys } = seen;
  expect(subscription).toBe('call-log');
  const hostile = {
    ...nobodys,
    verdict: 'refused',
    why: 'no key fits',
    status: 401,
    path: '/\u001b[2J',
    event: { eventName: '\u001b]0;x\u0007\n' },
  } as const;
  expect(formatDelivery(hostile)).toBe('refused  /?[2J  ?]0;x??  evt_1  401: no key fits');
});

it('prints the first lines of each second and counts the others', () => {
  vi.useFakeTimers();
  try {
    const written: string[] = [];
    const lines = new PacedLines((line) => written.push(line));
    for (let n = 1; n <= 50; n += 1) lines.print(String(n));
    expect(written).toHaveLength(20);
    vi.advanceTimersByTime(1_000);
    expect(written.at(-1)).toBe('… and 30 more deliveries');
    lines.print('next');
    lines.flush();
    expect(written.slice(-1)).toEqual(['next']);
  } finally {
    vi.useRealTimers();
  }
});
