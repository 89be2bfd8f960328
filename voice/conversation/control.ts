/** Carries out what people ask of a conversation from outside while it goes on. */
import { cancelAnswer } from './answers.ts';
import type { Change } from './change.ts';
import { recordAgent } from './records.ts';
import { announce, interruptSpeech } from './speech.ts';

/** Most characters of all instructions that are added in a call: each request has them. */
export const MAX_ADDED_LENGTH = 16_000;

/** Says a sentence that the model didn't write. @param interrupt true silences the agent first, and gives up the answer that it is giving */
export function told(change: Change, text: string, interrupt: boolean): void {
  if (interrupt) {
    cancelAnswer(change);
    interruptSpeech(change);
  }
  announce(change, text, { by: 'tool' });
}

/**
 * Mutes the agent, at once, or lets it speak again. What the user says meanwhile is in the transcript and in the history, and is not answered
 * afterwards: somebody else may have answered it.
 */
export function muted(change: Change, on: boolean): void {
  const { muted: before, goodbye, ending } = change.state;
  if (before === on) return;
  change.set({ muted: on });
  if (!on) return change.set({ unanswered: false, caller: undefined, unseen: 0 });
  cancelAnswer(change);
  interruptSpeech(change, true);
  // A goodbye that is not heard ends nothing.
  if (!goodbye.said || ending) return;
  change.set({ goodbye: { ...goodbye, said: false } });
  change.emit({ type: 'stopWaiting', timer: 'goodbye' });
}

/** Takes what a person has said in place of the agent: for the user, and so for the model, it is the agent's side that has spoken. */
export function colleague(change: Change, text: string, since: number): void {
  const content = text.trim();
  if (content === '') return;
  const seq = change.number();
  const spokenAt = Math.max(since, change.state.lastAt);
  recordAgent(change, content, { seq, spokenAt });
  const { history } = change.state;
  change.set({ lastAt: spokenAt, history: [...history, { type: 'message', id: String(seq), role: 'agent', text: content }] });
}
