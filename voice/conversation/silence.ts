/**
 * A silence in which neither side says anything, and nothing is under way, ends the call. Half of the time into it the agent asks whether the user is still
 * there; when that is said the other half begins. The user's next sound begins anew.
 */
import type { Change } from './change.ts';
import { announce } from './speech.ts';
import { isQuiet, type ConversationState } from './state.ts';

/** Runs the timer while it is silent. Called after each event. */
export function watchSilence(change: Change): void {
  const { settings, silence } = change.state;
  if (settings.silence === undefined || isSilent(change.state) === silence.waiting) return;
  const { endAfterMs, reminder } = settings.silence;
  change.set({ silence: { ...silence, waiting: !silence.waiting } });
  if (silence.waiting) change.emit({ type: 'stopWaiting', timer: 'silence' });
  else change.emit({ type: 'wait', timer: 'silence', ms: reminder === undefined ? endAfterMs : endAfterMs / 2 });
}

/** Ends the silence: the user is there. */
export function breakSilence(change: Change): void {
  if (change.state.silence.waiting) change.emit({ type: 'stopWaiting', timer: 'silence' });
  change.set({ silence: { waiting: false, reminded: false } });
}

export function silenceIsOver(change: Change): void {
  const { settings, silence } = change.state;
  change.set({ silence: { waiting: false, reminded: true } });
  if (settings.silence?.reminder !== undefined && !silence.reminded) return announce(change, settings.silence.reminder, { by: 'phrase' });
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
