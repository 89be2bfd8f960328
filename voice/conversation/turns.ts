import { cancelAnswer, giveEarly } from './answers.ts';
import type { Change } from './change.ts';
import { recordUser } from './records.ts';
import { breakSilence } from './silence.ts';
import { interruptSpeech } from './speech.ts';
import { isSaid, type Answer, type RunningTool, type UserTurn } from './state.ts';

/** Takes a whole turn of the user, which interrupts the agent's speech where that is allowed. */
export function userTurn(change: Change, turn: UserTurn): void {
  const { begun, settings, waiting, tools } = change.state;
  if (!begun || turn.text.trim() === '') return;
  change.set({ waiting: [...waiting, turn] });
  // A user who answers a tool that only waits for them cuts nobody off.
  const isFree = isSaid({ ...change.state, answer: givenAnswer(change) }) && tools.every(({ stops }) => stops);
  if (settings.interruptions.enabled || isFree) takeWaiting(change);
  else if (change.state.answer?.early === true) cancelAnswer(change);
}

/** Returns the answer that is being given. One that was asked for early is nothing to wait for. */
const givenAnswer = ({ state: { answer } }: Change): Answer | undefined => (answer?.early === true ? undefined : answer);

/** Takes the turns that wait. @returns whether there was one */
export function takeWaiting(change: Change): boolean {
  const { waiting } = change.state;
  change.set({ waiting: [] });
  for (const turn of waiting) take(change, turn);
  return waiting.length > 0;
}

/** Stops the tools that only read or wait. */
export function stopTools(change: Change): void {
  const { tools } = change.state;
  const isToStop = ({ stops, stopping }: RunningTool): boolean => stops && !stopping;
  change.set({ tools: tools.map((tool) => (isToStop(tool) ? { ...tool, stopping: true } : tool)) });
  for (const { callId } of tools.filter(isToStop)) change.emit({ type: 'stopTool', callId });
}

/** Ends the user's turn, as far as it was heard. An answer that was asked for early answers it. */
export function takeHeard(change: Change): void {
  const { text, place = change.number(), beganAt, stoppedAt, understoodAt } = change.state.hearing;
  const since = (at: number | undefined): number | null => (at === undefined ? null : Math.max(0, at - stoppedAt));
  userTurn(change, { text, spoken: { number: place, spokenAt: beganAt, stoppedAt, eou: since(change.at), stt: since(understoodAt) } });
}

/** Calls the goodbye off: the agent doesn't hang up after all. */
function callOff(change: Change): void {
  const { said, calledOff } = change.state.goodbye;
  if (!said || calledOff) return;
  change.set({ goodbye: { said: false, calledOff: true } });
  change.emit({ type: 'stopWaiting', timer: 'goodbye' });
}

function take(change: Change, { text, spoken }: UserTurn): void {
  const early = spoken !== undefined && change.state.answer?.early === true && !change.state.ending;
  if (!early) cancelAnswer(change);
  interruptSpeech(change);
  stopTools(change);
  const content = text.trim();
  const written = { spokenAt: change.at, stoppedAt: undefined, eou: null, stt: null };
  // A sound that is noticed late begins no earlier.
  if (spoken === undefined) change.set({ lastAt: change.at });
  recordUser(change, content, spoken ?? { number: change.number(), ...written });
  callOff(change);
  const { history, ending, goodbye, handover } = change.state;
  change.set({
    history: [...history, { type: 'message', id: String(change.number()), role: 'user', text: content }],
    caller: undefined,
    steps: 0,
    answeredByTool: false,
    handover: { ...handover, recent: false },
    unanswered: !ending && !goodbye.said && !early,
  });
  breakSilence(change);
  if (early) giveEarly(change);
}
