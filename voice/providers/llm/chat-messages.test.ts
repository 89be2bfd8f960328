import { expect, it } from 'vitest';

import { aMessage } from '../../../test/support/answers.ts';
import { chatMessagesOf } from './chat-messages.ts';
import type { HistoryItem } from './history.ts';

const asked = aMessage('user', 'Where is it?');
const call = (callId: string): HistoryItem => ({ type: 'call', id: callId, answer: 'a', callId, name: 'find', args: '{}' });
const result = (callId: string): HistoryItem => ({
  type: 'result',
  id: `${callId} result`,
  callId,
  name: 'find',
  output: 'Here.',
  isError: false,
});
const said = (text: string): HistoryItem => ({ type: 'message', id: text, role: 'agent', answer: 'a', text });
const toolCall = (id: string) => ({ type: 'function', id, function: { name: 'find', arguments: '{}' } });

const messagesOf = (...history: readonly HistoryItem[]) => chatMessagesOf({ instructions: '', history });

it('has what the model said, with its calls, as one message, and their results behind it', () => {
  expect(messagesOf(asked, call('1'), said('One moment.'), call('2'), aMessage('user', 'Well?'), result('2'), result('1'))).toEqual([
    { role: 'user', content: 'Where is it?' },
    { role: 'assistant', content: 'One moment.', tool_calls: [toolCall('1'), toolCall('2')] },
    { role: 'tool', tool_call_id: '2', content: 'Here.' },
    { role: 'tool', tool_call_id: '1', content: 'Here.' },
    { role: 'user', content: 'Well?' },
  ]);
});

it('leaves out calls without a result, results without a call, and what is empty then', () => {
  expect(messagesOf(asked, call('1'), call('2'), result('2'), result('3'))).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [toolCall('2')] },
    { role: 'tool', tool_call_id: '2' },
  ]);
  expect(messagesOf(asked, call('1'))).toEqual([{ role: 'user', content: 'Where is it?' }]);
});

it('begins with the system prompt, and joins what was said in one answer', () => {
  const history = [asked, said('One moment.'), said('Here it is.')];
  expect(chatMessagesOf({ instructions: 'Be brief.', history })).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Where is it?' },
    { role: 'assistant', content: 'One moment.\nHere it is.' },
  ]);
});
