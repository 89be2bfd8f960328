import { expect, it } from 'vitest';

import { liveStateText, type LiveState } from './live-state.ts';

it('says what matters most', () => {
  const listening: LiveState = { agent: 'listening', muted: false, held: false, taken_over: false };
  expect(
    [
      undefined,
      listening,
      { ...listening, muted: true },
      { ...listening, muted: true, held: true },
      { ...listening, muted: true, taken_over: true },
    ].map(liveStateText),
  ).toEqual(['Live', 'The agent is listening', 'The agent is muted', 'The caller is on hold', 'A person speaks in place of the agent']);
});
