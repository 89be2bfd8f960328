import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CompletionReader } from './completion-reader.ts';

const events = [
  { id: 'chatcmpl-1', model: 'gpt-4o-2024-08-06', choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
  { id: 'chatcmpl-1', choices: [{ index: 0, delta: { content: 'He said "finish_reason":"length" — ü' }, finish_reason: null }] },
  { id: 'chatcmpl-1', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null },
  {
    id: 'chatcmpl-1',
    choices: [],
    usage: {
      prompt_tokens: 120,
      completion_tokens: 30,
      prompt_tokens_details: { cached_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 12 },
    },
  },
];
const stream = [': keep-alive', ...events.map((event) => `data: ${JSON.stringify(event)}`), 'data: [DONE]'].join('\n\n');
const expected = {
  id: 'chatcmpl-1',
  model: 'gpt-4o-2024-08-06',
  finishReasons: ['stop'],
  text: stream,
  usage: { inputTokens: 120, outputTokens: 30, cachedTokens: 100, reasoningTokens: 12 },
};

describe('a reader of completions', () => {
  it('finds the same, wherever the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: stream.length }), { maxLength: 8 }), (cuts) => {
        const reader = new CompletionReader({ keepsWords: false });
        const at = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
        for (let i = 1; i < at.length; i += 1) reader.push(stream.slice(at[i - 1], at[i]));
        expect(reader.answer).toEqual(expected);
      }),
    );
  });

  it('keeps words and tool calls where they are wanted', () => {
    const reader = new CompletionReader({ keepsWords: true });
    const call = (more: object) => ({ choices: [{ delta: { tool_calls: [{ index: 0, ...more }] }, finish_reason: null }] });
    const said = [
      { id: 'c', model: 'm', choices: [{ delta: { content: 'One ' } }] },
      { choices: [{ delta: { content: 'moment.' } }] },
      call({ id: 't1', function: { name: 'look_up', arguments: '{"order' } }),
      call({ function: { arguments: '":"42"}' } }),
      { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
    ];
    for (const event of said) reader.push(`data: ${JSON.stringify(event)}\n\n`);
    const { attributes, finishReasons, usage } = reader.answer;
    expect([finishReasons, usage]).toEqual([['tool_calls'], undefined]);
    expect(JSON.parse(String(attributes?.['gen_ai.output.messages']))).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'text', content: 'One moment.' },
          { type: 'tool_call', id: 't1', name: 'look_up', arguments: { order: '42' } },
        ],
        finish_reason: 'tool_call',
      },
    ]);
  });

  it.each(['', 'null', '[]', '{"choices":null,"usage":{"prompt_tokens":"many"}}', '<html>', '{"id":5,"choices":[null]}'])(
    'makes nothing of %j',
    (text) => {
      const reader = new CompletionReader({ keepsWords: true });
      reader.read(text);
      expect(reader.answer).toMatchObject({ id: undefined, model: undefined, finishReasons: undefined, usage: undefined });
    },
  );
});
