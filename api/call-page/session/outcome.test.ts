import { expect, it } from 'vitest';

import { callStatuses, finishReasons } from '../../../store/index.ts';
import { endingOf, outcomeOf, REASON_TEXTS, STATUS_TEXTS } from './outcome.ts';
import type { ShownCallSummary } from './record.ts';

const call = (status: ShownCallSummary['call_status'], reason?: string): ShownCallSummary => ({
  _id: 'call_1',
  call_type: 'web_call',
  call_status: status,
  ...(reason !== undefined && { call_finish_reason: reason }),
  ai_agent_id: 'a',
  ai_agent_name: 'A',
  created_at: '2026-11-21T09:00:00Z',
});

it('has words of its own for each status and each reason', () => {
  expect(Object.keys(STATUS_TEXTS).toSorted()).toEqual([...callStatuses].toSorted());
  expect(Object.keys(REASON_TEXTS).toSorted()).toEqual([...finishReasons].toSorted());
  expect(new Set(Object.values(REASON_TEXTS)).size).toBe(finishReasons.length);
});

it('lets stand out what went wrong, and what goes on', () => {
  expect(outcomeOf(call('ended', 'agent_ended_call'))).toEqual({ text: 'Agent hung up', code: 'agent_ended_call', tone: 'usual' });
  expect(outcomeOf(call('ended', 'inactivity_timeout')).tone).toBe('unusual');
  expect(outcomeOf(call('error', 'carrier_error')).tone).toBe('failed');
  expect(outcomeOf(call('ongoing'))).toEqual({ text: 'In progress', code: 'ongoing', tone: 'live' });
  expect(outcomeOf(call('registered')).tone).toBe('usual');
});

it('shows a reason that it has no words for as it is', () => {
  expect(outcomeOf(call('error', 'meteor'))).toEqual({ text: 'meteor', code: 'meteor', tone: 'failed' });
});

it('speaks to the person who was in the call', () => {
  expect([endingOf(call('ended', 'user_ended_call')).text, endingOf(call('ended', 'agent_ended_call')).text]).toEqual([
    'You hung up',
    'Agent hung up',
  ]);
});
