/**
 * A silence in which neither side says anything, and nothing is under way, ends the call. In it the agent asks whether the user is still there, as often as it
 * is set to; when that is said the silence goes on where it was. The user's next sound begins anew.
 */
import type { Change } from './change.ts';
import { announce } from './speech.ts';
import { isQuiet, type ConversationState } from './state.ts';

/** Runs the timer while it is silent. Called after each event. */
export function watchSilence(change: Change): void {
  const { settings, silence } = change.state;
  if (settings.silence === undefined || isSilent(change.state) === silence.waiting) return;
  const { endAfterMs, reminders } = settings.silence;
  change.set({ silence: { ...silence, waiting: !silence.waiting } });
  if (silence.waiting) return change.emit({ type: 'stopWaiting', timer: 'silence' });
  const since = reminders[silence.reminded - 1]?.afterMs ?? 0;
  change.emit({ type: 'wait', timer: 'silence', ms: (reminders[silence.reminded]?.afterMs ?? endAfterMs) - since });
}

/** Ends the silence: the user is there. */
export function breakSilence(change: Change): void {
  if (change.state.silence.waiting) change.emit({ type: 'stopWaiting', timer: 'silence' });
  change.set({ silence: { waiting: false, reminded: 0 } });
}

export function silenceIsOver(change: Change): void {
  const { settings, silence } = change.state;
  const reminder = settings.silence?.reminders[silence.reminded];
  change.set({ silence: { waiting: false, reminded: silence.reminded + 1 } });
  if (reminder !== undefined) return announce(change, reminder.text, { by: 'phrase' });
  change.set({ ending: true });
  change.emit({ type: 'end', reason: 'inactivity_timeout' });
}

function isSilent(state: ConversationState): boolean {
  return (
    state.begun &&
    !state.screening &&
    !state.muted &&
    !state.ending &&
    !state.goodbye.said &&
    isQuiet(state) &&
    state.hearing.place === undefined
  );
}
