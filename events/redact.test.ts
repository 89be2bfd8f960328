import { expect, it } from 'vitest';

import { buildEvent } from './emit.ts';
import { redact } from './redact.ts';

const about = { call_id: 'c', agent_id: 'a' };
const now = Date.now();

it('an event keeps all but the content of its call, and stays one of its kind', () => {
  const items = [
    { name: 'name', result: 'Ada' },
    { name: 'guests', result: 4 },
  ];
  const analysed = buildEvent({ name: 'CallAnalysis.Completed', org: 'acme', payload: { ...about, items }, now });
  const nothing = items.map(({ name }) => ({ name, result: null }));
  const empty = buildEvent({ name: 'CallAnalysis.Completed', org: 'acme', payload: { ...about, items: nothing }, now, id: analysed.id });
  expect(redact(analysed)).toEqual(empty.body);

  const payload = { ...about, status: 'ended', transfer_to: '+15550100', reason: 'call_transferred' } as const;
  const transferred = buildEvent({ name: 'CallHandler.CallTransferred', org: 'acme', payload, now });
  expect(Buffer.from(redact(transferred)!).toString()).toBe(Buffer.from(transferred.body).toString().replace('+15550100', 'deleted'));
});

it('an event without content stays as it is', () => {
  const payload = { ...about, duration_seconds: 1 };
  expect(redact(buildEvent({ name: 'CallHandler.RecordingReady', org: 'acme', payload, now }))).toBeUndefined();
  expect(redact({ name: 'Of.AnotherVersion', body: Buffer.from('{') })).toBeUndefined();
});
