import { expect, it } from 'vitest';

import { clockText, costText, dayText, deliveryText, plainName, resultText, secondsText, sourceFiles, toolText, wayText } from './texts.ts';

it('writes times as clocks do', () => {
  expect([clockText(0), clockText(65.9), clockText(-1)]).toEqual(['0:00', '1:05', '0:00']);
});

it('writes a tool call as its function, and its result with its structure', () => {
  const call = { result: '', is_error: false, timestamp: '', duration_ms: 0 };
  expect(toolText({ ...call, name: 'find', arguments: { number: '417', exact: true } })).toBe('find(number: "417", exact: true)');
  expect(toolText({ ...call, name: 'find' })).toBe('find(…)');
  expect([resultText('{"a":1}'), resultText('No such order.')]).toEqual(['{\n  "a": 1\n}', 'No such order.']);
});

it('names each file of the knowledge base once, the best first, and none that hardly fits', () => {
  const source = (filename: string, score: number) => ({ knowledge_base: 'k', document_id: 'd', chunk_id: 'c', filename, score });
  expect(sourceFiles([source('a.md', 0.4), source('b.md', 0.5), source('a.md', 0.9), source('c.md', 0.03)])).toEqual([
    { filename: 'a.md', score: 0.9 },
    { filename: 'b.md', score: 0.5 },
  ]);
  expect(sourceFiles([])).toEqual([]);
});

it('writes latencies in seconds', () => {
  expect([secondsText(712), secondsText(1_290), secondsText(3), secondsText(0)]).toEqual(['0.71 s', '1.29 s', '< 0.01 s', '0.00 s']);
});

it('writes names of a configuration as labels', () => {
  expect([plainName('reason_for_call'), plainName('who'), plainName('orderId')]).toEqual(['Reason for call', 'Who', 'OrderId']);
});

it('writes money so that calls of less than a cent differ', () => {
  expect(costText({ amount: '0.012345', currency: 'USD' })).toMatch(/0[.,]0123/);
  expect(costText({ amount: '3.00', currency: 'USD' })).toMatch(/3[.,]00(?!0)/);
});

it('names the number that a phone call came from or went to', () => {
  const call = { _id: 'c', call_status: 'ended', ai_agent_id: 'a', ai_agent_name: 'A', created_at: '' } as const;
  const phone = { ...call, call_type: 'phone_call', from_number: '+1', to_number: '+2' } as const;
  expect([
    wayText({ ...call, call_type: 'web_call' }),
    wayText({ ...phone, direction: 'inbound' }),
    wayText({ ...phone, direction: 'outbound' }),
    wayText({ ...call, call_type: 'phone_call', direction: 'inbound' }),
  ]).toEqual(['Web call', 'From +1', 'To +2', 'From an unknown number']);
});

it('names days as seen from today', () => {
  const now = new Date(2026, 2, 1, 0, 30);
  expect([dayText(new Date(2026, 2, 1, 0, 1), now), dayText(new Date(2026, 1, 28, 23, 59), now)]).toEqual(['Today', 'Yesterday']);
  expect(dayText(new Date(2026, 1, 27, 12), now)).toMatch(/27/);
});

it('says why a webhook was not delivered', () => {
  const delivery = { id: 'd', event_name: 'e', status: 'skipped', attempts: 1, created_at: '' } as const;
  expect(['ok', null, 'subscription_deleted', 'http_status'].map((reason) => deliveryText({ ...delivery, reason }))).toEqual([
    '1 attempt',
    '1 attempt',
    '1 attempt, subscription deleted',
    '1 attempt, refused by the receiver',
  ]);
});
