import { expect, it } from 'vitest';

import { modelAnswers } from '../../test/support/model-answers.ts';
import { ModelStreamReader, type ModelEvent } from '../../calls/model-stream/index.ts';
import { AnswerRecording, replayAnswer, type RecordedAnswer } from './recorded-answer.ts';

function recorded(body: string): RecordedAnswer | undefined {
  const recording = new AnswerRecording();
  for (const byte of Buffer.from(body)) recording.push(Uint8Array.of(byte));
  recording.end();
  return recording.isComplete ? recording.answer : undefined;
}

function eventsOf(body: string): readonly ModelEvent[] {
  const reader = new ModelStreamReader();
  return [...reader.push(Buffer.from(body)), ...reader.end()];
}

it.each(modelAnswers)('that is replayed is what came: $name', async ({ body }) => {
  const events = eventsOf(body);
  const answer = recorded(body);
  // An answer that could not be read is not kept.
  if (events.at(-1)?.type === 'failure') expect(answer).toBeUndefined();
  else expect(eventsOf(await replayAnswer(answer!).text())).toEqual(events);
});

it('shows people what was said and called, in a line for each event', () => {
  const choices = [{ index: 0, delta: { content: 'One moment.' }, finish_reason: null }];
  const calls = [{ index: 0, id: 't0', function: { name: 'a', arguments: '{}' } }];
  const body = [
    { id: 'c1', created: 1, choices },
    { obfuscation: 'x', choices: [{ delta: { tool_calls: calls }, finish_reason: 'tool_calls' }] },
  ];
  expect(recorded(`${body.map((one) => `data: ${JSON.stringify(one)}`).join('\n\n')}\n\ndata: [DONE]`)).toEqual({
    text: 'One moment.',
    toolCalls: [{ name: 'a', arguments: '{}' }],
    stream: [
      JSON.stringify({ id: 'c1', choices }),
      JSON.stringify({ choices: [{ delta: { tool_calls: calls }, finish_reason: 'tool_calls' }] }),
      '[DONE]',
    ],
  });
});
