/** Answers an agent's questions about a call that is over. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { AnalysisError, AnalysisItem, AnalysisOutcome, CallMessage } from '../../store/index.ts';
import { readAnswer, type Reading } from './answer.ts';
import type { AgentModels } from './agent-models.ts';
import { answerSchema, askAgain, askAll, toAnalysisQuestion, type AnalysisQuestion, type ChatMessage } from './questions.ts';
import { transcriptText } from './transcript.ts';

export interface AnalyseOptions {
  readonly questions: readonly AnalysisQuestion[];
  readonly messages: readonly Pick<CallMessage, 'role' | 'content'>[];
  readonly models: Pick<AgentModels, 'ask'>;
  readonly signal: AbortSignal;
}

/** Longest part of a first answer that the second request quotes, in characters. */
const MAX_REMINDER_LENGTH = 20_000;

/** Returns the questions in the order in which they are stored. */
export function questionsOf(config: unknown): readonly AnalysisQuestion[] {
  return ((config as AgentRevisionConfig | undefined)?.agent.postCallAnalysis ?? []).map(toAnalysisQuestion);
}

/**
 * Asks all questions in one request, and those without a usable answer in a second one.
 *
 * @throws ProviderError, or the signal's own reason
 */
export async function analyseCall({ questions, messages, models, signal }: AnalyseOptions): Promise<AnalysisOutcome> {
  const transcript = transcriptText(messages);
  if (transcript === undefined)
    return { items: withoutResults(questions, 'empty_transcript', 'nothing was said in the call'), error: null };
  const asked = askAll(questions, transcript);
  const first = await models.ask({ messages: asked, schema: answerSchema(questions), signal });
  const readings = new Map(readAnswer(first, questions));
  const open = questions.filter(({ name }) => 'problem' in (readings.get(name) ?? {}));
  if (open.length > 0) {
    const reminder: readonly ChatMessage[] = [
      ...asked,
      { role: 'assistant', content: first.slice(0, MAX_REMINDER_LENGTH).toWellFormed() },
      askAgain(open.map(({ name }) => ({ name, problem: readingProblem(readings.get(name)) }))),
    ];
    const second = await models.ask({ messages: reminder, schema: answerSchema(open), signal });
    for (const [name, reading] of readAnswer(second, open)) readings.set(name, reading);
  }
  return { items: questions.map((question) => itemOf(question, readings.get(question.name))), error: null };
}

function itemOf({ name, type }: AnalysisQuestion, reading: Reading | undefined): AnalysisItem {
  if (reading !== undefined && 'result' in reading) return { name, type, result: reading.result, error: null };
  return {
    name,
    type,
    result: null,
    error: { code: 'invalid_answer', message: `the model gave no usable answer: ${readingProblem(reading)}` },
  };
}

const readingProblem = (reading: Reading | undefined): string =>
  reading !== undefined && 'problem' in reading ? reading.problem.slice(0, 500) : 'there is none';

/** Returns an item without a result for each question, with the reason why. */
export function withoutResults(questions: readonly AnalysisQuestion[], code: string, message: string): readonly AnalysisItem[] {
  return questions.map(({ name, type }) => ({ name, type, result: null, error: { code, message } }));
}

export function failedOutcome(questions: readonly AnalysisQuestion[], { code, message }: AnalysisError): AnalysisOutcome {
  const error = { code, message: message.slice(0, 1000).toWellFormed() };
  return { items: withoutResults(questions, error.code, error.message), error };
}
