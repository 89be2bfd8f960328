/** Decides when the model is asked, and with which history. */
import type { HistoryItem } from '../providers/llm/history.ts';
import type { Change } from './change.ts';
import { viewOf } from './handover.ts';
import type { ConversationState } from './state.ts';
import { takeWaiting } from './turns.ts';

/** Most answers in a row that may call tools; then the model has to do without. */
export const MAX_STEPS = 8;

/** Placeholder for a result that is still to come. */
const RUNNING = JSON.stringify({ status: 'The tool is still running: its result will follow.' });

/** Asks the model if there is something to answer, and nothing in the way. */
export function askIfDue(change: Change): void {
  const { begun, screening, muted, ending, goodbye, answer, speeches, tools, caller, unseen, unanswered, hearing, handover } = change.state;
  // Whoever speaks gets one answer, to all that they say.
  if (!begun || screening || muted || ending || goodbye.said || answer !== undefined || hearing.heeded) return;
  // The history does not have yet what was heard, or found out.
  if (speeches.some(({ interrupted }) => interrupted) || tools.some(({ stopping }) => stopping)) return;
  // What the user says meanwhile is answered by the agent that takes over.
  if (handover.callId !== undefined) return;
  if (unanswered) return ask(change);
  // The user speaks, and what they say may be known with the next word: nothing is heard of an answer until then.
  if (hearing.paused) return;
  if (caller !== undefined) {
    if (tools.some((tool) => tool.answer === caller)) return;
    change.set({ caller: undefined });
    if (unseen > 0) return ask(change);
  }
  if (speeches.length > 0) return;
  // The model is asked about results of tools that the user overtook.
  if (unseen > 0) return ask(change);
  if (tools.length === 0 && takeWaiting(change)) ask(change);
}

/** Asks about words whose turn is likely to be over, where nothing else is open. */
export function askEarly(change: Change): void {
  const { begun, screening, muted, ending, goodbye, answer, speeches, tools, unseen, unanswered, waiting, hearing } = change.state;
  const open = speeches.length + tools.length + unseen + waiting.length > 0 || unanswered;
  if (!begun || screening || muted || ending || (goodbye.said && goodbye.calledOff) || answer !== undefined || open) return;
  ask(change, hearing.text);
}

/** Asks the model. @param early words of a turn that is not over */
function ask(change: Change, early?: string): void {
  const { state } = change;
  const id = `answer-${change.number()}`;
  const answer = { id, askedAt: change.at, ttftMs: undefined, speech: undefined, extra: undefined, calls: [], held: '', complete: false };
  change.set({
    answer: { ...answer, early: early !== undefined },
    asked: change.state.next,
    caller: undefined,
    unseen: 0,
    unanswered: false,
  });
  const open: readonly HistoryItem[] = early === undefined ? [] : [{ type: 'message', id: 'open', role: 'user', text: early }];
  const history = [...(early === undefined ? requestHistory(state) : knownHistory(state)), ...open];
  // A turn of the user starts the count of answers anew.
  change.emit({ type: 'ask', answer: id, history, mayCall: early !== undefined || state.steps < MAX_STEPS });
}

/** A note to the model where the last message is its own, which not every provider answers. */
const RESULT_CAME =
  '(A tool that was still running is done; its result stands above. Say what it means for me, and nothing that you have said already.)';

/** Returns the history for the model: with the speeches that are being said, and with a note where its last message is the model's own. */
export function requestHistory(state: ConversationState): readonly HistoryItem[] {
  const items = knownHistory(state);
  const last = items.at(-1);
  return last?.type !== 'message' || last.role === 'user'
    ? items
    : [...items, { type: 'message', id: 'note', role: 'user', text: RESULT_CAME, isNote: true }];
}

const pendingResult = ({ id, callId, name }: Extract<HistoryItem, { readonly type: 'call' }>): HistoryItem => ({
  type: 'result',
  id: `${id}/running`,
  callId,
  name,
  output: RUNNING,
  isError: false,
  isPending: true,
});

/** Returns what the agent knows that talks. */
export function knownHistory(state: ConversationState): readonly HistoryItem[] {
  return viewOf(state.settings.agent, wholeHistory(state));
}

/** Returns what all agents together know. */
export function wholeHistory({ history, speeches, tools }: ConversationState): readonly HistoryItem[] {
  // The user will hear all of a speech unless it is interrupted.
  const openTexts = new Map(speeches.map(({ number, text }) => [String(number), text.trim()]));
  const running = new Set(tools.map(({ callId }) => callId));
  const done = new Set(history.flatMap((item) => (item.type === 'result' ? [item.callId] : [])));
  return history.flatMap((item, index): HistoryItem | readonly HistoryItem[] => {
    if (item.type === 'call' && running.has(item.callId)) return [item, pendingResult(item)];
    // The model isn't asked to go on after this call: the call has no result, which providers want to see.
    if (item.type === 'call' && !done.has(item.callId)) return [];
    if (item.type !== 'message' || item.role === 'user') return item;
    const text = openTexts.get(item.id) ?? item.text;
    const next = history[index + 1];
    // Something else was said between the words of an answer and its calls.
    const { answer, ...alone } = item;
    return text === '' ? [] : next?.type === 'call' && next.answer === answer ? { ...item, text } : { ...alone, text };
  });
}
