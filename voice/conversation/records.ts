/** Writes the records of a conversation: messages, tool calls, and the latencies of each answer. */
import type { CallMessage, CallTurn } from '../../store/index.ts';
import type { Change } from './change.ts';
import type { Entry, SpokenTurn } from './entry.ts';
import type { Speech } from './state.ts';

export function recordUser(change: Change, content: string, { number: seq, spokenAt, stoppedAt, eou, stt }: SpokenTurn): void {
  recordTurn(change);
  const message = { seq, role: 'user', content, spokenAt: new Date(spokenAt), interrupted: false, sources: null } as const;
  record(change, { message });
  change.set({
    turn: { after: change.state.next, stoppedAt, seq: undefined, agent: undefined, eou, stt, llmTtft: null, ttsTtfb: null, v2v: null },
  });
}

/** Records words of the agent's side that a person has said in its place. */
export function recordAgent(change: Change, content: string, { seq, spokenAt }: { readonly seq: number; readonly spokenAt: number }): void {
  const { agent } = change.state.settings;
  const message = { seq, role: 'agent', agent, content, spokenAt: new Date(spokenAt), interrupted: false, sources: null } as const;
  record(change, { message });
}

/** Gives the latencies to the message of which a word was heard. */
export function answerTurn(change: Change, { number, agent }: Pick<Speech, 'number' | 'agent'>, seq: number): void {
  const { turn } = change.state;
  if (turn !== undefined && number >= turn.after) change.set({ turn: { ...turn, seq: turn.seq ?? seq, agent: turn.agent ?? agent } });
}

/** Measures when the agent begins to be heard. */
export function measure(change: Change, { number, ttftMs, saidAt }: Speech): void {
  const { turn } = change.state;
  if (turn === undefined || number < turn.after) return;
  const since = (at: number | undefined): number | null =>
    at === undefined || turn.stoppedAt === undefined ? null : Math.max(0, change.at - at);
  change.set({
    turn: {
      ...turn,
      llmTtft: turn.llmTtft ?? ttftMs ?? null,
      ttsTtfb: turn.ttsTtfb ?? since(saidAt),
      v2v: turn.v2v ?? since(turn.stoppedAt),
    },
  });
}

/** Records a speech. @param text the part of it that was heard */
export function recordSpeech(
  change: Change,
  { number, seq, by, agent, heardAt, sources }: Speech,
  text: string,
  interrupted: boolean,
): void {
  const role = 'agent';
  const message: CallMessage | undefined =
    text === '' || seq === undefined || heardAt === undefined
      ? undefined
      : { seq, role, agent, content: text, spokenAt: new Date(heardAt), interrupted, sources: sources.length > 0 ? sources : null };
  // A tool's message while it works comes before the answer of the model, and belongs to the same turn.
  const turn = by === 'model' && number >= (change.state.turn?.after ?? Infinity) ? takeTurn(change) : undefined;
  record(change, { ...(message && { message }), ...(turn && { turn }) });
}

/** Records the latencies of the user's last turn, as far as they will ever be known. */
export function recordTurn(change: Change): void {
  const { after = Infinity } = change.state.turn ?? {};
  const interrupted = change.state.speeches.some((speech) => speech.by === 'model' && speech.interrupted && speech.number >= after);
  const turn = takeTurn(change);
  if (turn !== undefined) record(change, { turn, ...(interrupted && { interrupted }) });
}

function takeTurn(change: Change): CallTurn | undefined {
  const { turn } = change.state;
  change.set({ turn: undefined });
  if (turn?.seq === undefined) return undefined;
  const { after: _after, stoppedAt: _stoppedAt, seq, agent = null, ...latencies } = turn;
  return { seq, agent, ...latencies };
}

function record(change: Change, entry: Entry): void {
  if (Object.keys(entry).length > 0) change.emit({ type: 'record', entries: [entry] });
}
