/**
 * Hands the conversation over to another agent.
 *
 *   begins     with the model's call of a function for it. Until the other agent is ready, or refused, no model is asked.
 *   takes over once it is ready: it answers from then on, first what the user said last. The words for the hand-over are still the former agent's.
 *   is refused while another one is under way, without words of the user since the last one, and beyond {@link MAX_HANDOVERS}.
 *
 * All agents have one history. What an agent knows of it is what happened while it talked, and of the rest what each hand-over passes on to it.
 */
import type { ModelCall } from '../../calls/model-stream/index.ts';
import type { HandOverNote, HistoryItem } from '../providers/llm/history.ts';
import type { Change } from './change.ts';
import { announce } from './speech.ts';
import type { HandOver, RunningTool } from './state.ts';

/** Most hand-overs in a conversation. */
export const MAX_HANDOVERS = 8;

const UNDER_WAY = 'Nothing was done: the call is being handed over already.';
const TOO_SOON =
  'Nothing was done: the call was handed over to you a moment ago, and the user has said nothing since. Answer their last words yourself.';
const TOO_MANY = `Nothing was done: the call was handed over ${MAX_HANDOVERS} times, and can't be any more. Help the user yourself.`;
export const NOT_HANDED_OVER = 'Nothing was done: the call is ending.';

/** Begins a hand-over, if the call is one. @returns why there is none, in words for the model */
export function beginHandOver(change: Change, { id, name }: ModelCall): string | undefined {
  const { settings, handover } = change.state;
  if (!settings.handoffs.includes(name)) return undefined;
  if (handover.callId !== undefined) return UNDER_WAY;
  if (handover.recent) return TOO_SOON;
  if (handover.count >= MAX_HANDOVERS) return TOO_MANY;
  change.set({ handover: { ...handover, callId: id } });
  return undefined;
}

/** Makes another agent the one who answers. @param tool the call that led to it */
export function takeOver(change: Change, { number, answer }: RunningTool, { id, settings, say, note, ...passed }: HandOver): void {
  announce(change, change.state.muted ? '' : say, { by: 'tool', before: String(number) });
  const { history, waiting, handover, settings: former } = change.state;
  const item: HistoryItem = {
    type: 'message',
    id: `${number}/handover`,
    role: 'user',
    text: note,
    isNote: true,
    handover: { ...passed, from: former.agent, to: settings.agent },
  };
  // What the user has said since is said to the new agent.
  const ofAnswer = new Set(history.flatMap((each) => (each.type === 'call' && each.answer === answer ? [each.callId] : [])));
  const at = history.findLastIndex((each) => each.type !== 'message' && ofAnswer.has(each.callId)) + 1;
  change.set({
    settings,
    history: history.toSpliced(at, 0, item),
    handover: { ...handover, count: handover.count + 1, recent: true },
    caller: undefined,
    unseen: 0,
    steps: 0,
    sources: [],
    answeredByTool: false,
    // Turns that wait for the end of a speech are answered with all the rest.
    unanswered: waiting.length === 0,
  });
  change.emit({ type: 'takeOver', handover: id });
}

/** Returns what an agent knows of the history. */
export function viewOf(agent: string, history: readonly HistoryItem[]): readonly HistoryItem[] {
  const first = history.find((item) => handoverOf(item) !== undefined);
  if (first === undefined) return history;
  let talking = handoverOf(first)?.from;
  const known: HistoryItem[] = [];
  let missed: HistoryItem[] = [];
  for (const item of history) {
    const handover = handoverOf(item);
    if (handover !== undefined) {
      talking = handover.to;
      if (talking !== agent) continue;
      known.push(...passedOn(missed, handover, item.id), item);
      missed = [];
    } else if (talking === agent) known.push(item);
    else missed.push(item);
  }
  return known;
}

const handoverOf = (item: HistoryItem): HandOverNote | undefined => (item.type === 'message' ? item.handover : undefined);

/** Selects of what others have heard and said what an agent learns. Their tools aren't its own: it would call them. */
function passedOn(missed: readonly HistoryItem[], { context, summary }: HandOverNote, id: string): readonly HistoryItem[] {
  const said = missed.flatMap((item): readonly HistoryItem[] => {
    if (item.type !== 'message' || item.isNote === true) return [];
    const { answer: _answer, extra: _extra, ...message } = item;
    return [message];
  });
  if (context === 'All' || (context === 'Summary' && summary === undefined)) return said;
  const lastOfUser = said.filter((item) => item.type === 'message' && item.role === 'user').slice(-1);
  if (summary === undefined) return lastOfUser;
  const text = `(A summary of what was said before: ${summary})`;
  return [{ type: 'message', id: `${id}/summary`, role: 'user', text, isNote: true }, ...lastOfUser];
}
