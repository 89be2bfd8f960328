/**
 * Turns the user's sound and words into turns.
 *
 *   sound            shorter than `minSpeechMs` moves nothing. Longer sound pauses what the agent says, unless it is known by then that it only shows that
 *                    somebody listens; without words that count the agent goes on.
 *   words            that are said over the agent count if they are an interruption; the others are dropped, as if they had not been said.
 *   the turn         is over when the silence after it is long enough, and all its words are known. What is missing after five seconds is not waited for.
 *   an early answer  is asked for in each pause, and said once the turn is over; it is given up when the user goes on.
 */
import { cancelAnswer } from './answers.ts';
import type { Change } from './change.ts';
import { countsAsInterruption, isAcknowledgement, wordsIn } from './interruption-rules.ts';
import { askEarly } from './requests.ts';
import { breakSilence } from './silence.ts';
import { HEARING_NOTHING, type ConversationState, type Hearing } from './state.ts';
import { takeHeard } from './turns.ts';

/** Longest wait of the agent for the words of a sound that has stopped it, in milliseconds. */
const RESUME_AFTER_MS = 2_000;
/** Longest wait of a turn for words that are being recognised, in milliseconds. */
const WORDS_WITHIN_MS = 5_000;

/** Takes the beginning of a sound of the user. @param since its start, in milliseconds since the epoch */
export function speaks(change: Change, since: number): void {
  const { hearing: before, lastAt } = change.state;
  if (before.speaking) return;
  // Sound without a word so far, after which the agent has said something, is likely a noise.
  const goesOn = before.text !== '' || (before.owed && (before.heeded || before.beganAt === lastAt));
  hear(change, {
    ...(goesOn ? before : { ...HEARING_NOTHING, paused: before.paused, taken: before.taken }),
    ...(!goesOn && { ...begin(change, since), over: isBeingSaid(change.state) }),
    speaking: true,
    since,
    waited: false,
  });
  change.emit({ type: 'stopWaiting', timer: 'turn' });
  change.emit({ type: 'stopWaiting', timer: 'words' });
  change.emit({ type: 'stopWaiting', timer: 'resume' });
  // The early answer would answer only the words until now.
  if (change.state.answer?.early === true) cancelAnswer(change);
  breakSilence(change);
}

/** Takes a sound that is long enough to interrupt. */
export function lasts(change: Change): void {
  const { hearing, settings } = change.state;
  const { enabled, minWords } = settings.interruptions;
  if (!hearing.speaking || !enabled) return;
  // These words came before the sound was long enough.
  if (hearing.interim.trim() !== '' && counts(change, hearing.interim, true)) return heed(change);
  if (minWords === 0 && !(hearing.over && isAcknowledgement(hearing.interim, settings.interruptions, settings.language, true)))
    pause(change);
}

/** Takes the end of a sound. @param spokenMs length of the sound, without the silence behind it */
export function pauses(change: Change, spokenMs: number): void {
  const { hearing, settings } = change.state;
  if (!hearing.speaking) return;
  hear(change, {
    speaking: false,
    stoppedAt: Math.min(change.at, hearing.since + spokenMs),
    // Two coughs don't add up to a long sound.
    spokenMs: Math.max(hearing.spokenMs, spokenMs),
    owed: true,
  });
  change.emit({ type: 'wait', timer: 'words', ms: WORDS_WITHIN_MS });
  change.emit({ type: 'wait', timer: 'turn', ms: Math.max(0, settings.turnEndMs - (change.at - change.state.hearing.stoppedAt)) });
  if (change.state.hearing.paused) change.emit({ type: 'wait', timer: 'resume', ms: RESUME_AFTER_MS });
}

/** Waits for as much silence as ends the turn by the end-of-turn detector. */
export function turnEnds(change: Change, afterMs: number): void {
  const { speaking, stoppedAt, waited: isOver, place } = change.state.hearing;
  if (!speaking && !isOver && place !== undefined)
    change.emit({ type: 'wait', timer: 'turn', ms: Math.max(0, afterMs - (change.at - stoppedAt)) });
}

/** Takes words that are being recognised and may still change. */
export function interim(change: Change, text: string): void {
  if (change.state.hearing.place === undefined) return;
  hear(change, { interim: text });
  if (text.trim() !== '' && counts(change, text, true)) heed(change);
}

/** Takes final words. @param more true if words of the same sound are still to come */
export function understood(change: Change, text: string, more: boolean): void {
  const heard = withoutTaken(text.trim(), change.state.hearing.taken);
  hear(change, { taken: '' });
  if (change.state.hearing.place === undefined && heard !== '') openLate(change);
  const { hearing } = change.state;
  if (hearing.place === undefined) return;
  const counting = heard !== '' && counts(change, heard);
  if (counting) heed(change);
  const joined = counting ? [change.state.hearing.text, heard].filter((part) => part !== '').join(' ') : hearing.text;
  hear(change, {
    text: joined,
    interim: '',
    owed: more || hearing.speaking,
    ...(counting && { understoodAt: change.at }),
    // The next words are of the sound that goes on.
    ...(!more && hearing.speaking && { spokenMs: 0 }),
  });
  if (change.state.hearing.speaking || more) return;
  if (joined === '') return forget(change);
  askEarly(change);
  endTurn(change);
}

/** Returns the words that are new, where their beginning was taken before. */
function withoutTaken(text: string, taken: string): string {
  const plain = (word: string): string => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  const [words, before] = [text, taken].map((each) => each.split(/\s+/u).filter((word) => word !== '')) as [string[], string[]];
  return before.every((word, index) => plain(word) === plain(words[index] ?? '')) ? words.slice(before.length).join(' ') : text;
}

/** Opens a turn for words that come after theirs was over. */
function openLate(change: Change): void {
  const { at, state } = change;
  const over = isBeingSaid(state);
  hear(change, {
    ...HEARING_NOTHING,
    ...begin(change, at),
    paused: state.hearing.paused,
    over,
    stoppedAt: at,
    spokenMs: Infinity,
    waited: true,
  });
}

/** Returns the place and the time of a turn that begins now: detection is late, and the transcript is in order. */
function begin(change: Change, at: number): Pick<Hearing, 'place' | 'beganAt'> {
  const beganAt = Math.max(at, change.state.lastAt);
  change.set({ lastAt: beganAt });
  return { place: change.number(), beganAt };
}

/** Takes the words as they are known, without their last version. */
function takeInterim(change: Change): void {
  const text = change.state.hearing.interim;
  const taken = counts(change, text) ? text : '';
  understood(change, text, false);
  hear(change, { taken });
}

export function waited(change: Change, timer: 'turn' | 'words' | 'resume'): void {
  const { hearing } = change.state;
  switch (timer) {
    case 'turn':
      hear(change, { waited: true });
      return endTurn(change);
    case 'words':
      if (!hearing.speaking && hearing.owed) takeInterim(change);
      return;
    case 'resume':
      if (!hearing.speaking && !hearing.heeded) resume(change);
  }
}

/** Resumes the playout, if it was paused. */
export function resume(change: Change): void {
  if (!change.state.hearing.paused) return;
  hear(change, { paused: false });
  change.emit({ type: 'stopWaiting', timer: 'resume' });
  change.emit({ type: 'resumePlayout' });
}

function pause(change: Change): void {
  // Nothing is answered any more: the present speech is said to its end.
  if (change.state.hearing.paused || change.state.ending) return;
  hear(change, { paused: true });
  change.emit({ type: 'pausePlayout' });
}

/** Takes the words as the user's turn, or as part of it. */
function heed(change: Change): void {
  const { answer, hearing, settings } = change.state;
  hear(change, { over: false, heeded: true });
  change.emit({ type: 'stopWaiting', timer: 'resume' });
  if (settings.interruptions.enabled && (hearing.speaking || isBeingSaid(change.state))) pause(change);
  // The present answer would answer half of what the user says.
  if (answer?.early === false && answer.speech === undefined) {
    cancelAnswer(change);
    change.set({ unanswered: true });
  }
}

/** @param goesOn true if the words may still change, and more may follow */
function counts({ at, state }: Change, text: string, goesOn = false): boolean {
  const { hearing, settings } = state;
  if (!hearing.over || !isBeingSaid(state)) return wordsIn(text) > 0;
  const speechMs = Math.max(hearing.spokenMs, hearing.speaking ? at - hearing.since : 0);
  return countsAsInterruption({ text, speechMs, goesOn }, settings.interruptions, settings.language);
}

function endTurn(change: Change): void {
  const { speaking, owed, waited: isOver, text } = change.state.hearing;
  if (speaking || owed || !isOver) return;
  if (text !== '') takeHeard(change);
  forget(change);
}

/** Makes the words until now the user's last turn. */
export function closeEars(change: Change): void {
  const { text, interim: words, heeded } = change.state.hearing;
  hear(change, { text: [text, heeded ? words : ''].filter((part) => part !== '').join(' ') });
  if (change.state.hearing.text !== '') takeHeard(change);
  forget(change);
}

/** Drops the open sound and words. */
export function forget(change: Change): void {
  for (const timer of ['turn', 'words'] as const) change.emit({ type: 'stopWaiting', timer });
  const { paused, taken } = change.state.hearing;
  change.set({ hearing: { ...HEARING_NOTHING, paused, taken } });
  resume(change);
}

function hear(change: Change, part: Partial<Hearing>): void {
  change.set({ hearing: { ...change.state.hearing, ...part } });
}

const isBeingSaid = ({ speeches }: ConversationState): boolean => speeches.some(({ interrupted }) => !interrupted);
