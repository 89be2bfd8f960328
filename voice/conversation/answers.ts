/** Follows the model's answers: their words, their calls and their end. */
import { argumentsToPass, rawArguments, type ModelCall } from '../../calls/model-stream/index.ts';
import { isObject, type JsonObject } from '../../platform/json.ts';
import type { HistoryItem } from '../providers/llm/history.ts';
import { finishReasonOfProviderFailure } from '../finish-reason.ts';
import type { Change } from './change.ts';
import type { Failure } from './events.ts';
import { beginHandOver } from './handover.ts';
import { beginSpeech, say, sayNoMore } from './speech.ts';
import type { Answer, RunningTool } from './state.ts';

/** Returns the answer of this id; undefined for one that nobody waits for any more. */
function current(change: Change, id: string): Answer | undefined {
  const { answer } = change.state;
  if (answer?.id !== id) return undefined;
  if (answer.ttftMs !== undefined) return answer;
  const begun = { ...answer, ttftMs: Math.max(0, change.at - answer.askedAt) };
  change.set({ answer: begun, modelAnswered: true });
  return begun;
}

export function words(change: Change, id: string, text: string): void {
  const answer = current(change, id);
  if (answer === undefined) return;
  const { speech, early, held } = answer;
  if (early) return change.set({ answer: { ...answer, held: held + text } });
  if (speech !== undefined) return say(change, speech, text);
  const begins = text.trimStart();
  if (begins === '') return;
  const number = beginSpeech(change, { by: 'model', sources: change.state.sources, ttftMs: answer.ttftMs }, id);
  change.set({ answer: { ...answer, speech: number }, sources: [] });
  say(change, number, begins);
}

export function extra(change: Change, id: string, added: JsonObject): void {
  const answer = current(change, id);
  if (answer !== undefined) change.set({ answer: { ...answer, extra: { ...answer.extra, ...added } } });
}

export function called(change: Change, id: string, call: ModelCall, complete: boolean): void {
  const answer = current(change, id);
  if (answer !== undefined) change.set({ answer: { ...answer, calls: [...answer.calls, { call, complete }] } });
}

/** Ends an answer: its tools run, one beside the other. */
export function answered(change: Change, id: string): void {
  const { answer } = change.state;
  if (answer?.id !== id) return;
  if (answer.early) return change.set({ answer: { ...answer, complete: true } });
  const { speech, calls, extra: added } = answer;
  change.set({ answer: undefined });
  if (speech !== undefined) {
    sayNoMore(change, speech);
    const withExtra = (item: HistoryItem): HistoryItem =>
      item.id === String(speech) && item.type === 'message' ? { ...item, extra: added } : item;
    if (added !== undefined) change.set({ history: change.state.history.map(withExtra) });
  }
  if (calls.length === 0) return;
  const numbered = calls.map((each) => ({ ...each, number: change.number() }));
  const { state } = change;
  const runningTool = (call: ModelCall, number: number): RunningTool => ({
    callId: call.id,
    number,
    answer: id,
    agent: state.settings.agent,
    stops: state.settings.stoppedByInterruption.includes(call.name),
    stopping: false,
  });
  change.set({
    history: [...state.history, ...numbered.map(({ call, complete, number }) => callItem(call, { answer: id, complete, number }))],
    tools: [...state.tools, ...numbered.map(({ call, number }) => runningTool(call, number))],
    caller: id,
    steps: state.steps + 1,
  });
  for (const { call, complete } of calls) {
    const refused = complete ? beginHandOver(change, call) : undefined;
    change.emit({ type: 'run', call, complete, ...(refused !== undefined && { refused }) });
  }
}

interface CallPlace {
  readonly answer: string;
  readonly number: number;
  readonly complete: boolean;
}

function callItem({ id: callId, name, arguments: written, extra: added }: ModelCall, { answer, number, complete }: CallPlace): HistoryItem {
  const kept = added?.['extra_content'];
  const args = complete ? argumentsToPass(written) : rawArguments(written);
  return { type: 'call', id: String(number), answer, callId, name, args, ...(isObject(kept) && { extra: kept }) };
}

/** Ends the call after an answer that failed. */
export function failed(change: Change, id: string, failure: Failure): void {
  const { answer, modelAnswered } = change.state;
  if (answer?.id !== id) return;
  // The model is asked again when the turn is over.
  if (answer.early) return change.set({ answer: undefined });
  change.set({ answer: undefined, ending: true });
  if (answer.speech !== undefined) sayNoMore(change, answer.speech);
  change.emit({ type: 'end', reason: finishReasonOfProviderFailure(failure, { answeredBefore: modelAnswered }), failed: failure });
}

/** Gives an early answer, once the turn that it answers is over. */
export function giveEarly(change: Change): void {
  const { answer } = change.state;
  if (answer === undefined) return;
  const { id, held, complete } = answer;
  change.set({ answer: { ...answer, early: false, held: '' }, asked: change.state.next });
  if (held !== '') words(change, id, held);
  if (complete) answered(change, id);
}

export function cancelAnswer(change: Change): void {
  const { answer } = change.state;
  if (answer === undefined) return;
  change.set({ answer: undefined });
  if (!answer.complete) change.emit({ type: 'cancelAnswer', answer: answer.id });
}
