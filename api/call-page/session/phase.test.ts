import { expect, it } from 'vitest';

import { nextPhase, statusText, type PageEvent, type Phase } from './phase.ts';

const walk = (from: Phase, ...events: readonly PageEvent[]): Phase => events.reduce(nextPhase, from);

it('a call goes from a key to its summary, and to the next call', () => {
  expect(walk('no_key', 'key', 'call', 'joined', 'agent', 'left', 'settled')).toBe('over');
  expect(walk('over', 'again', 'call')).toBe('connecting');
});

it('a call that no agent takes, or that is refused, ends as well', () => {
  expect(walk('choosing', 'call', 'joined', 'left', 'settled')).toBe('over');
  expect(walk('choosing', 'call', 'failed')).toBe('choosing');
  expect(walk('choosing', 'call', 'key_refused')).toBe('no_key');
});

it('a summary stays where the key is refused after the call, and the next call begins with another key', () => {
  expect(walk('ending', 'settled', 'key_refused')).toBe('over');
  expect(walk('over', 'again', 'key_refused', 'key')).toBe('choosing');
});

it('what comes too late changes nothing', () => {
  expect(walk('ending', 'agent', 'left', 'joined')).toBe('ending');
  expect(walk('over', 'left', 'settled')).toBe('over');
});

it('says who is to speak', () => {
  const talking = (agentState: string | undefined, muted = false) => statusText('talking', { agentState, muted });
  expect([talking('speaking'), talking('thinking'), talking(undefined), talking('speaking', true)]).toEqual([
    'The agent speaks.',
    'The agent thinks.',
    'The agent listens.',
    'You are muted.',
  ]);
});
