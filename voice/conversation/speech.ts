/** The agent's speech: speeches are heard one after the other, in the order in which they begin. */
import type { HistoryItem } from '../providers/llm/history.ts';
import type { Change } from './change.ts';
import { answerTurn, measure, recordSpeech, recordTurn } from './records.ts';
import type { Speech } from './state.ts';

/** A speech that begins; with `first` it stands before everything in the history. */
export type NewSpeech = Pick<Speech, 'by'> &
  Partial<Pick<Speech, 'interruptible' | 'sources' | 'ttftMs'>> & {
    readonly first?: true;
    /** Id of the item that it stands before. */ readonly before?: string;
  };

/** Begins a speech. @param answer the answer of the model that it belongs to. @returns its number */
export function beginSpeech(
  change: Change,
  { by, interruptible = true, sources = [], ttftMs, first, before }: NewSpeech,
  answer?: string,
): number {
  const { agent } = change.state.settings;
  const number = change.number();
  const speech: Speech = {
    number,
    seq: undefined,
    by,
    agent,
    text: '',
    heard: 0,
    saidAt: change.at,
    heardAt: undefined,
    ttftMs,
    complete: false,
    interrupted: false,
    interruptible,
    sources,
  };
  const item: HistoryItem = { type: 'message', id: String(number), role: 'agent', text: '', answer };
  const { history, speeches } = change.state;
  const place = before === undefined ? -1 : history.findIndex(({ id }) => id === before);
  const at = first ? 0 : place >= 0 ? place : by === 'tool' ? placeOfToolMessage(change) : history.length;
  change.set({ speeches: [...speeches, speech], history: history.toSpliced(at, 0, item) });
  return number;
}

/**
 * Returns the place of a tool's message while it works. It stands before what the model has not been asked with: before its call, and
 * before the user's last words. Some providers refuse a request whose last message is the agent's (Mistral: "Expected last role User or
 * Tool").
 */
function placeOfToolMessage({ state: { history, caller, asked, unanswered } }: Change): number {
  const isOpen = (item: HistoryItem): boolean =>
    item.type === 'call'
      ? item.answer === caller
      : unanswered && item.type === 'message' && item.role === 'user' && Number(item.id) >= asked;
  const at = history.findIndex(isOpen);
  return at < 0 ? history.length : at;
}

/** Says a whole phrase, such as the welcome message or a tool's message. */
export function announce(change: Change, text: string, speech: NewSpeech): void {
  const said = text.trim();
  if (said === '') return;
  const number = beginSpeech(change, speech);
  say(change, number, said);
  sayNoMore(change, number);
}

export function say(change: Change, number: number, text: string): void {
  update(change, number, (speech) => ({ ...speech, text: speech.text + text }));
  change.emit({ type: 'say', speech: number, text });
}

export function sayNoMore(change: Change, number: number): void {
  update(change, number, (speech) => ({ ...speech, complete: true }));
  change.emit({ type: 'sayNoMore', speech: number });
}

export function heard(change: Change, number: number, characters: number): void {
  const speech = change.state.speeches.find((each) => each.number === number);
  if (speech === undefined || (speech.seq !== undefined && characters <= speech.heard)) return;
  const { seq = change.number(), heardAt = change.at } = speech;
  if (speech.seq === undefined) {
    measure(change, speech);
    change.set({ lastAt: change.at });
  }
  if (characters > 0) answerTurn(change, speech, seq);
  update(change, number, () => ({ ...speech, seq, heardAt, heard: characters }));
}

/**
 * Silences all speeches that may be interrupted; the part that was heard is known when they are silent. @param all true silences the rest,
 * too
 */
export function interruptSpeech(change: Change, all = false): void {
  const stops = (speech: Speech): boolean => (all || speech.interruptible) && !speech.interrupted;
  const { speeches } = change.state;
  change.set({ speeches: speeches.map((speech) => (stops(speech) ? { ...speech, interrupted: true } : speech)) });
  for (const speech of speeches.filter(stops)) change.emit({ type: 'cancelSpeech', speech: speech.number });
}

/** Ends a speech: the history keeps the part that was heard, and nothing else. */
export function silent(change: Change, number: number): void {
  const { speeches, history } = change.state;
  const speech = speeches.find((each) => each.number === number);
  if (speech === undefined) return;
  const text = speech.text.slice(0, speech.heard).trim();
  const known = (item: HistoryItem): readonly HistoryItem[] => {
    if (item.id !== String(number) || item.type !== 'message') return [item];
    return text === '' ? [] : [{ ...item, text }];
  };
  change.set({
    speeches: speeches.filter((each) => each !== speech),
    history: history.flatMap(known),
  });
  recordSpeech(change, speech, text, speech.interrupted && !(speech.complete && speech.heard >= speech.text.length));
  if (change.state.closed && change.state.speeches.length === 0) recordTurn(change);
}

function update(change: Change, number: number, next: (speech: Speech) => Speech): void {
  change.set({ speeches: change.state.speeches.map((speech) => (speech.number === number ? next(speech) : speech)) });
}
