import { expect, it } from 'vitest';

import { Ending } from './ending.ts';

it('keeps the first reason, whoever gives another', async () => {
  const ending = new Ending();
  expect([ending.reason, ending.signal.aborted]).toEqual([undefined, false]);
  const farewell = async (): Promise<void> => undefined;
  expect(ending.decide('agent_ended_call', farewell)).toBe(true);
  expect(ending.decide('user_ended_call')).toBe(false);
  expect(await ending.decided()).toEqual({ reason: 'agent_ended_call', farewell });
  expect(ending.signal.aborted).toBe(true);
});
