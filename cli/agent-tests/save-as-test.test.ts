import { expect, it } from 'vitest';

import type { ToolCallRecord } from '../../agent-tests/result.ts';
import { agentTestKind } from '../../crds/index.ts';
import { checkSpec } from '../agent-files/check-object.ts';
import { agentTestOf } from './save-as-test.ts';

const call = (name: string, args: Record<string, unknown>, answer: Partial<ToolCallRecord>): ToolCallRecord => ({
  name,
  arguments: args,
  atMs: 0,
  durationMs: 1,
  ...answer,
});
const turn = (...toolCalls: readonly ToolCallRecord[]) => ({ messages: ['x'], toolCalls });

it('mocks each function by what it answered, and expects what is likely to hold again', () => {
  const saved = agentTestOf({
    name: 'saved',
    agent: 'a',
    namespace: 'acme',
    dynamicData: {},
    turns: [
      { user: 'Hello', turn: turn() },
      {
        user: 'Orders?',
        turn: turn(call('find', { id: '42', note: 'said in words' }, { result: { a: 1 } }), call('find', { id: '43' }, { error: 'gone' })),
      },
      {
        user: 'Again?',
        turn: turn(call('find', { id: '42' }, { result: { a: 2 } }), call('search', { query: 'opening hours' }, { result: null })),
      },
      { keys: '1#', turn: turn(call('collect_digits', {}, { result: { digits: '1' } })) },
      { user: 'A person, please', turn: { ...turn(call('transfer_call', {}, { result: null })), ended: 'call_transferred' } },
    ],
  });
  expect(saved.metadata).toEqual({ name: 'saved', namespace: 'acme' });
  expect(saved['spec']).toEqual({
    agentRefs: [{ name: 'a' }],
    tools: [
      {
        name: 'find',
        type: 'Sequence',
        when: { id: '42' },
        sequence: [
          { type: 'Returns', returns: { a: 1 } },
          { type: 'Returns', returns: { a: 2 } },
        ],
      },
      { name: 'find', type: 'Error', when: { id: '43' }, error: 'gone' },
      { name: 'search', type: 'Returns', returns: null },
    ],
    type: 'Conversation',
    conversation: [
      { type: 'User', user: 'Hello' },
      {
        type: 'User',
        user: 'Orders?',
        expect: [
          { type: 'Tool', tool: { name: 'find', arguments: { id: '42' } } },
          { type: 'Tool', tool: { name: 'find', arguments: { id: '43' } } },
        ],
      },
      {
        type: 'User',
        user: 'Again?',
        expect: [
          { type: 'Tool', tool: { name: 'find', arguments: { id: '42' } } },
          { type: 'Tool', tool: { name: 'search' } },
        ],
      },
      { type: 'Keys', keys: '1#', expect: [{ type: 'Tool', tool: { name: 'collect_digits' } }] },
      {
        type: 'User',
        user: 'A person, please',
        expect: [
          { type: 'Tool', tool: { name: 'transfer_call' } },
          { type: 'Ends', ends: 'call_transferred' },
        ],
      },
    ],
  });
  expect(checkSpec(agentTestKind, saved['spec']).problems).toEqual([]);
});

it('puts a mock that fits every call last', () => {
  const calls = [call('find', { name: 'Ada Lovelace' }, { error: 'which one?' }), call('find', { id: 'c-17' }, { result: 'found' })];
  const saved = agentTestOf({
    name: 'saved',
    agent: 'a',
    namespace: 'acme',
    dynamicData: {},
    turns: [{ user: 'Ada', turn: turn(...calls) }],
  });
  expect(saved['spec']).toMatchObject({
    tools: [
      { name: 'find', type: 'Returns', when: { id: 'c-17' }, returns: 'found' },
      { name: 'find', type: 'Error', error: 'which one?' },
    ],
  });
});
