/** What is stored of a conversation: messages, tool calls, and the latencies of each answer. */
import type { CallMessage, CallToolCall, CallTurn } from '../../store/index.ts';
import type { Change } from './change.ts';
import type { Speech } from './state.ts';

export interface Entry {
  readonly message?: CallMessage;
  readonly turn?: CallTurn;
  readonly toolCall?: CallToolCall;
}

/** Latencies so far of the answer to the user's last words. */
export type OpenTurn = Omit<CallTurn, 'seq'> & {
  /** The number of the user's message. */
  readonly after: number;
  /** Of the first thing that the user hears after it; undefined until then. */
  readonly seq: number | undefined;
};

export function recordUser(change: Change, number: number, text: string): void {
  recordTurn(change);
  const message = { seq: number, role: 'user', content: text, spokenAt: new Date(change.at), interrupted: false, sources: null } as const;
  change.emit({ type: 'record', entries: [{ message }] });
  change.set({ turn: { after: number, seq: undefined, eou: null, stt: null, llmTtft: null, ttsTtfb: null, v2v: null } });
}

/** The agent begins to be heard. */
export function measure(change: Change, { number, ttftMs }: Speech, seq: number): void {
  const { turn } = change.state;
  if (turn !== undefined && number > turn.after)
    change.set({ turn: { ...turn, seq: turn.seq ?? seq, llmTtft: turn.llmTtft ?? ttftMs ?? null } });
}

/** @param text of it that was heard */
export function recordSpeech(
  change: Change,
  { number, seq, by, heardAt = change.at, sources }: Speech,
  text: string,
  interrupted: boolean,
): void {
  if (text !== '' && seq !== undefined) {
    const message = {
      seq,
      role: 'agent',
      content: text,
      spokenAt: new Date(heardAt),
      interrupted,
      sources: sources.length > 0 ? sources : null,
    } as const;
    change.emit({ type: 'record', entries: [{ message }] });
  }
  // What a tool says while it works comes before the answer of the model, and belongs to the same turn.
  if (by === 'model' && number > (change.state.turn?.after ?? number)) recordTurn(change);
}

/** The latencies of the user's last turn are known, as far as they ever will. */
export function recordTurn(change: Change): void {
  const { turn } = change.state;
  change.set({ turn: undefined });
  if (turn?.seq === undefined) return;
  const { after: _after, ...row } = turn;
  change.emit({ type: 'record', entries: [{ turn: { ...row, seq: turn.seq } }] });
}
