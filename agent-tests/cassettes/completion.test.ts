import { describe, expect, it } from 'vitest';

import { readCompletion, writeCompletion, type RecordedAnswer } from './completion.ts';

const answer: RecordedAnswer = {
  text: 'One moment, "Ada".\nI look.',
  toolCalls: [
    { id: 'call_1', name: 'find', arguments: '{"id":"42"}', more: { extra_content: { signature: 's' } } },
    { id: 'call_2', name: 'book', arguments: '{}', more: undefined },
  ],
  finishReason: 'tool_calls',
  usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
};

describe('an answer', () => {
  it.each([true, false])('is the same when it is written and read again, streamed: %s', async (streamed) => {
    const written = await writeCompletion(answer, { streamed, model: 'm' }).text();
    expect(readCompletion(written, { streamed })).toEqual(answer);
  });

  it('is put together from its pieces', () => {
    const chunk = (delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ delta, finish_reason: finish }] })}\n\n`;
    const text = [
      ': keep-alive\n\n',
      chunk({ role: 'assistant', content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'find', arguments: '{"i' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: 'd":1}' } }] }),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ].join('');
    expect(readCompletion(text, { streamed: true })).toEqual({
      text: 'Hello',
      toolCalls: [{ id: 'a', name: 'find', arguments: '{"id":1}' }],
      finishReason: 'tool_calls',
    });
  });

  it.each([
    ['data: {"choices":[{"delta":{"content":"Hel"},"finish_reason":null}]}\n\n', true],
    ['<html>', true],
    ['<html>', false],
    ['{"error": {}}', false],
  ])('that is not complete is none: %j', (text, streamed) => {
    expect(readCompletion(text, { streamed })).toBeUndefined();
  });
});
