import { expect, it } from 'vitest';

import { askAll, answerSchema, type AnalysisQuestion } from '../../calls/analysis/questions.ts';
import { transcriptText } from '../../calls/analysis/transcript.ts';
import { analysed, saidIn } from './analysis.ts';

const questions: readonly AnalysisQuestion[] = [
  { name: 'reason', type: 'enum', choices: ['order status', 'appointment', 'other'] },
  { name: 'resolved', type: 'boolean' },
  { name: 'bicycles', type: 'number' },
  { name: 'summary', type: 'string' },
];

function analysisOf(...said: readonly string[]): unknown {
  const messages = [{ role: 'agent', content: 'Hello.' } as const, ...said.map((content) => ({ role: 'user', content }) as const)];
  const prompt = askAll(questions, transcriptText(messages)!).at(-1)!.content;
  return analysed(answerSchema(questions), saidIn(prompt)!);
}

it('the results are of the call, not of the question', () => {
  expect(analysisOf('Where is my order 42?', 'Thank you.')).toEqual({
    reason: 'order status',
    resolved: true,
    bicycles: 42,
    summary: 'The caller said: “Where is my order 42”, “Thank you”.',
  });
  expect(analysisOf('It is broken')).toMatchObject({ reason: 'other', resolved: false, bicycles: null });
  expect(analysisOf()).toEqual({ reason: 'other', resolved: false, bicycles: null, summary: null });
});

it('another text is no transcript', () => {
  expect(saidIn('What is two and two?\n{"a": 1}\n{broken')).toBeUndefined();
});
