/** Asks a model for an object with certain fields, and asks again where it answers something else. */
import type { AgentModels } from '../../calls/analysis/agent-models.ts';
import { readAnswer, type Reading } from '../../calls/analysis/answer.ts';
import { answerSchema, askAgain, type AnalysisQuestion, type ChatMessage } from '../../calls/analysis/questions.ts';
import { ProviderError } from '../../calls/provider-access/index.ts';

export type AskedModel = Pick<AgentModels, 'ask'>;

/** Most requests for one answer. */
const MAX_REQUESTS = 3;
/** Longest part of an unusable answer that the next request, and an error, quote; in characters. */
const MAX_QUOTED = 2_000;

/** The model is away, refuses, or gives no usable answer: nothing can be said about the agent. */
export class ModelAnswerError extends Error {
  override readonly name = 'ModelAnswerError';
}

/**
 * @param who names the model in the error, e.g. `the judge`
 * @throws ModelAnswerError, or the signal's own reason
 */
export async function askFor(
  questions: readonly AnalysisQuestion[],
  {
    who,
    model,
    messages,
    signal,
  }: { readonly who: string; readonly model: AskedModel; readonly messages: readonly ChatMessage[]; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, unknown>> {
  let asked = messages;
  let problem = '';
  for (let request = 1; request <= MAX_REQUESTS; request += 1) {
    const answer = await model.ask({ messages: asked, schema: answerSchema(questions), signal }).catch((cause: unknown) => {
      signal.throwIfAborted();
      if (!(cause instanceof ProviderError)) throw cause;
      throw new ModelAnswerError(`${who} did not answer: ${cause.message}`, { cause });
    });
    const readings = [...readAnswer(answer, questions)].map(([name, reading]) => ({ name, reading: unlessEmpty(reading) }));
    const problems = readings.flatMap(({ name, reading }) => ('problem' in reading ? [{ name, problem: reading.problem }] : []));
    if (problems.length === 0)
      return new Map(readings.flatMap(({ name, reading }) => ('result' in reading ? [[name, reading.result]] : [])));
    const quoted = answer.slice(0, MAX_QUOTED).toWellFormed();
    problem = `${problems.map((one) => `${one.name}: ${one.problem}`).join('; ')}. It answered: ${quoted.trim() || '(nothing)'}`;
    asked = [...messages, { role: 'assistant', content: quoted }, askAgain(problems)];
  }
  throw new ModelAnswerError(`${who} gave no usable answer in ${MAX_REQUESTS} requests: ${problem}`);
}

/** An empty answer is unusable: unlike a question about a call, each of these has an answer. */
const unlessEmpty = (reading: Reading): Reading =>
  'result' in reading && reading.result === null ? { problem: 'it must not be null' } : reading;
