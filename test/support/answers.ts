/** Makes questions for a language model, and collects its answers. */
import { randomUUID } from 'node:crypto';

import type { AnswerEvent, AnswerRequest, HistoryItem } from '../../voice/providers/index.ts';

export const aMessage = (role: 'user' | 'agent', text: string, id: string = randomUUID()): HistoryItem => ({
  type: 'message',
  id,
  role,
  text,
});

/** @param asked the user's last words */
export function aQuestion(asked: string, change: Partial<AnswerRequest> = {}): AnswerRequest {
  return { instructions: '', history: [aMessage('user', asked)], tools: [], mayCall: true, mayBeEmpty: () => false, ...change };
}

/** @param properties JSON Schemas of the tool's arguments */
export const aTool = (name: string, properties: object = {}) => ({
  name,
  description: `A tool that is called ${name}.`,
  parameters: { type: 'object', properties },
});

/** @throws the error that the answer fails with */
export async function heardOf(answer: AsyncIterable<AnswerEvent>) {
  let text = '';
  const calls: Extract<AnswerEvent, { readonly type: 'call' }>[] = [];
  for await (const event of answer) {
    if (event.type === 'text') text += event.text;
    else if (event.type === 'call') calls.push(event);
  }
  return { text, calls };
}
