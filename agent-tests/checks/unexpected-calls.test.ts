import { describe, expect, it } from 'vitest';

import { NOT_MOCKED } from '../../voice/tools/tool-mocks.ts';
import { unknownCallChecks, unmockedChecks } from './unexpected-calls.ts';

const call = (name: string, args: Record<string, unknown>, error?: string) => ({
  name,
  arguments: args,
  atMs: 0,
  durationMs: 0,
  ...(error !== undefined && { error }),
});

describe('a call without a mock', () => {
  const asked = [call('find_slot', { day: 2 }, NOT_MOCKED)];

  it('shows the mocks of its function next to what was asked', () => {
    const mocks = [
      { name: 'other', type: 'Returns', returns: 1 },
      { name: 'find_slot', type: 'Returns', when: { day: '2' }, returns: 1 },
      { name: 'find_slot', type: 'Returns', when: { day: 3, shop: 'a' }, returns: 1 },
    ] as const;
    expect(unmockedChecks(asked, mocks)).toEqual([
      {
        path: 'spec.tools[1].when',
        kind: 'mock',
        verdict: 'failed',
        expected: 'a mock for find_slot({"day":2}), or no call',
        actual: 'no mock fits: spec.tools[1] answers find_slot with {"day":"2"}, spec.tools[2] answers find_slot with {"day":3,"shop":"a"}',
        reason: 'change when, or add an entry without it, which answers every call',
      },
    ]);
  });

  it('asks for a mock where its function has none', () => {
    expect(unmockedChecks(asked, [{ name: 'other', type: 'Returns', returns: 1 }])).toMatchObject([
      {
        path: 'spec.tools',
        actual: 'the call has no mock',
        reason: 'add find_slot to spec.tools, with type: Passthrough to call the tool itself',
      },
    ]);
  });
});

describe('a call of a function that the agent has not', () => {
  const path = 'spec.conversation[0]';
  const calls = [call('find_slot', {}), call('cancel_all', { now: true }, 'There is no tool cancel_all')];

  it('fails the turn', () => {
    expect(
      unknownCallChecks(calls, { agent: 'desk', functions: new Map([['desk', ['find_slot', 'end_call']]]), expect: [], path }),
    ).toEqual([
      {
        path,
        kind: 'tool',
        verdict: 'failed',
        expected: 'calls of find_slot, end_call only',
        actual: 'cancel_all({"now":true})',
        reason: expect.stringContaining('"tool: {name: cancel_all, unknown: true}"'),
      },
    ]);
  });

  it('is as expected where the test says so', () => {
    const expected = [undefined, { name: 'cancel_all', unknown: true }];
    expect(unknownCallChecks(calls, { agent: 'desk', functions: new Map([['desk', ['find_slot']]]), expect: expected, path })).toEqual([]);
  });

  it('is judged by the functions of the agent that made it', () => {
    const functions = new Map([
      ['desk', ['find_slot']],
      ['billing', ['cancel_all']],
    ]);
    const checked = (agent: string) =>
      unknownCallChecks([{ ...call('cancel_all', {}), agent }], { agent: 'desk', functions, expect: [], path });
    expect(checked('billing')).toEqual([]);
    expect(checked('desk')).toMatchObject([{ expected: 'calls of find_slot only' }]);
  });
});
