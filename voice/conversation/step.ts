/**
 * Takes one event of a conversation to its next state and effects. Pure: no I/O, no clock, no promise.
 *
 *   the user's turn    interrupts what is said, and the answer that is given; what was heard of it stays in the history. Tools run on, but for those that
 *                      only read or wait.
 *                      What is heard of the user becomes a turn in `hearing.ts`.
 *   the model is asked when the user has said something; when all tools of its last answer are done; and about results of overtaken tools when nothing
 *                      else is said or under way. One answer at a time, and only when the history says what was heard.
 *   its answer         is said word by word as it comes; its tools run when all of it is there.
 *   the history        has everything in the order in which it began, and a result right after its call.
 *   a silence          is broken by a question, and ends the call: `silence.ts`.
 *   a hand-over        makes another agent the one who answers, once it is ready: `handover.ts`. The tools of the former one run on in silence.
 *   a goodbye          is called off once by what the user says in it: `goodbye.ts`.
 *   the end            nothing is asked any more; what is being said is said to its end, unless the conversation is closed.
 *
 * Events of what was cancelled find no answer, speech or tool of theirs, and do nothing.
 */
import { answered, called, cancelAnswer, extra, failed, words } from './answers.ts';
import { Change } from './change.ts';
import { colleague, muted, told } from './control.ts';
import type { ConversationEvent, Effect } from './events.ts';
import { hangUpIfDue, lose, sayGoodbye } from './goodbye.ts';
import { closeEars, forget, interim, lasts, pauses, resume, speaks, turnEnds, understood, waited } from './hearing.ts';
import { recordTurn } from './records.ts';
import { askIfDue } from './requests.ts';
import { breakSilence, silenceIsOver, watchSilence } from './silence.ts';
import { announce, heard, interruptSpeech, silent } from './speech.ts';
import type { ConversationState } from './state.ts';
import { announced, ran } from './tools.ts';
import { stopTools, takeWaiting, userTurn } from './turns.ts';

export interface Step {
  readonly state: ConversationState;
  readonly effects: readonly Effect[];
}

/** Takes an event. @param at its time, in milliseconds since the epoch; never less than before */
export function step(state: ConversationState, event: ConversationEvent, at: number): Step {
  const change = new Change(state, at);
  happen(change, event);
  hangUpIfDue(change);
  if (change.state.ending) resume(change);
  askIfDue(change);
  watchSilence(change);
  return { state: change.state, effects: change.effects };
}

/** Ends all asking and speaking. */
function close(change: Change): void {
  change.set({ ending: true, closing: true });
  cancelAnswer(change);
  interruptSpeech(change, true);
  stopTools(change);
}

/** Says the welcome message once somebody can hear it: before all that they have said. */
function welcome(change: Change): void {
  const { begun, screening, welcomed, settings } = change.state;
  if (!begun || screening || welcomed) return;
  change.set({ welcomed: true });
  announce(change, settings.welcome ?? '', { by: 'phrase', first: true });
}

/** Events that would make the agent speak. */
const SAYS: ReadonlySet<string> = new Set(['begun', 'screened', 'announced', 'told', 'farewell', 'message']);
/** Events that do nothing while the agent is muted. */
const UNMUTED: ReadonlySet<string> = new Set(['announced', 'told', 'ending']);

function happen(change: Change, event: ConversationEvent): void {
  const { state } = change;
  if (state.closing && SAYS.has(event.type)) return undefined;
  if (state.muted && UNMUTED.has(event.type)) return undefined;
  if (state.closed && event.type !== 'heard' && event.type !== 'silent' && event.type !== 'ran') return undefined;
  switch (event.type) {
    case 'screening':
      return change.set({ screening: true });
    case 'screened':
      change.set({ screening: false });
      return welcome(change);
    case 'begun':
      change.set({ begun: true });
      return welcome(change);
    case 'turn':
      return userTurn(change, { text: event.text });
    case 'key':
      return breakSilence(change);
    case 'held':
      return forget(change);
    case 'speaks':
      return speaks(change, event.since);
    case 'lasts':
      return lasts(change);
    case 'pauses':
      return pauses(change, event.spokenMs);
    case 'interim':
      return interim(change, event.text);
    case 'understood':
      return understood(change, event.text, event.more);
    case 'turnEnds':
      return turnEnds(change, event.afterMs);
    case 'waited':
      if (event.timer === 'silence') return silenceIsOver(change);
      return event.timer === 'goodbye' ? hangUpIfDue(change, true) : waited(change, event.timer);
    case 'words':
      return words(change, event.answer, event.text);
    case 'extra':
      return extra(change, event.answer, event.extra);
    case 'call':
      return called(change, event.answer, event.call, event.complete);
    case 'answered':
      return answered(change, event.answer);
    case 'failed':
      return failed(change, event.answer, event.failure);
    case 'announced':
      return announced(change, event);
    case 'told':
      return told(change, event.text, event.interrupt);
    case 'colleague':
      return colleague(change, event.text, event.since);
    case 'muted':
      return muted(change, event.on);
    case 'ran':
      return ran(change, event);
    case 'found':
      return event.agent === state.settings.agent ? change.set({ sources: [...state.sources, ...event.sources] }) : undefined;
    case 'heard':
      return heard(change, event.speech, event.characters);
    case 'silent':
      return silent(change, event.speech);
    case 'deaf':
    case 'mute':
      return lose(change, event);
    case 'ending':
      return event.agent === state.settings.agent ? sayGoodbye(change) : undefined;
    case 'farewell':
      change.set({ ending: true });
      return announce(change, (state.screening || state.muted ? undefined : event.apology) ?? '', { by: 'phrase', interruptible: false });
    case 'message':
      change.set({ ending: true });
      return announce(change, state.muted ? '' : event.text, { by: 'phrase', interruptible: false });
    case 'closing':
      return close(change);
    case 'closed':
      close(change);
      change.set({ closed: true });
      closeEars(change);
      takeWaiting(change);
      if (change.state.speeches.length === 0) recordTurn(change);
      return undefined;
  }
}
