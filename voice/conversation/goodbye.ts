/**
 * The agent hangs up once its goodbye was heard. Words of the user in the middle of it are answered instead, once; after the next goodbye
 * the call is over.
 */
import { finishReasonOfProviderFailure } from '../finish-reason.ts';
import { cancelAnswer } from './answers.ts';
import type { Change } from './change.ts';
import type { ConversationEvent } from './events.ts';
import { sayNoMore } from './speech.ts';
import { isSaid } from './state.ts';
import { takeWaiting } from './turns.ts';

/** Longest time that a goodbye may take, in milliseconds. */
export const MAX_GOODBYE_MS = 20_000;

export function sayGoodbye(change: Change): void {
  const { goodbye, ending } = change.state;
  if (goodbye.said || ending) return;
  change.set({ goodbye: { ...goodbye, said: true } });
  change.emit({ type: 'wait', timer: 'goodbye', ms: MAX_GOODBYE_MS });
}

/** Hangs up once the goodbye was heard. @param late true if the rest of it is no longer waited for */
export function hangUpIfDue(change: Change, late = false): void {
  const { goodbye, ending, hearing, waiting } = change.state;
  if (!goodbye.said || ending) return;
  if (!late && !isSaid(change.state)) return;
  // Whoever speaks may have something to say.
  if (!late && !goodbye.calledOff && hearing.place !== undefined) return;
  if (!goodbye.calledOff && waiting.length > 0) return void takeWaiting(change);
  change.emit({ type: 'stopWaiting', timer: 'goodbye' });
  change.set({ ending: true });
  change.emit({ type: 'end', reason: 'agent_ended_call' });
}

/** Ends a call that has lost speech to text or its voice. The caller still hears the words of the present answer that are there. */
export function lose(change: Change, { failure }: Extract<ConversationEvent, { readonly type: 'deaf' | 'mute' }>): void {
  const { answer, ending, modelAnswered } = change.state;
  change.set({ ending: true });
  cancelAnswer(change);
  if (answer?.speech !== undefined) sayNoMore(change, answer.speech);
  if (!ending)
    change.emit({ type: 'end', reason: finishReasonOfProviderFailure(failure, { answeredBefore: modelAnswered }), failed: failure });
}
