/** The events and the effects of a conversation: plain data that can be printed and replayed. */
import type { JsonObject } from '../../platform/json.ts';
import type { CallToolCall, FinishReason } from '../../store/index.ts';
import type { ModelCall } from '../../calls/model-stream/index.ts';
import type { ProviderError } from '../../calls/provider-access/index.ts';
import type { KnowledgeSource } from '../tools/tool-host.ts';
import type { HistoryItem } from '../providers/llm/history.ts';
import type { Entry } from './entry.ts';
import type { HandOver } from './state.ts';

/** A provider's final failure, after its attempts and fallbacks. */
export type Failure = Pick<ProviderError, 'part' | 'kind' | 'provider' | 'status'>;

/**
 * Timers: `turn` runs until the silence is long enough, `words` until words are no longer waited for, `resume` until the agent goes on,
 * `silence` while nobody says anything, `goodbye` until the goodbye has taken long enough.
 */
export type TimerName = 'turn' | 'words' | 'resume' | 'silence' | 'goodbye';

export type ConversationEvent =
  /** It isn't known yet whether a person has answered: nothing is said until it is. */
  | { readonly type: 'screening' }
  | { readonly type: 'screened' }
  /** The user can hear the agent. */
  | { readonly type: 'begun' }
  /** A whole turn of the user: their words, what they wrote, or the keys that they pressed. */
  | { readonly type: 'turn'; readonly text: string }
  /** The user is there: they press keys. */
  | { readonly type: 'key' }
  /** The user's words count no more: they are on hold. */
  | { readonly type: 'held' }
  // -- the user's sound
  /** The user's sound has begun. @property since its start, in milliseconds since the epoch: detection is late */
  | { readonly type: 'speaks'; readonly since: number }
  /** The sound that goes on is as long as one that may interrupt: no silence counts that may already have begun. */
  | { readonly type: 'lasts' }
  /**
   * The user's sound has paused; `understood` follows, whatever was understood before. @property spokenMs length of the sound, without the
   * silence behind it
   */
  | { readonly type: 'pauses'; readonly spokenMs: number }
  /** The recognised words may still change. */
  | { readonly type: 'interim'; readonly text: string }
  /** The words are final. @property more true if words of the same sound are still to come */
  | { readonly type: 'understood'; readonly text: string; readonly more: boolean }
  /** The end-of-turn detector has looked at the last pause. @property afterMs silence that ends the turn */
  | { readonly type: 'turnEnds'; readonly afterMs: number }
  | { readonly type: 'waited'; readonly timer: TimerName }
  // -- the model's answers
  | { readonly type: 'words'; readonly answer: string; readonly text: string }
  | { readonly type: 'extra'; readonly answer: string; readonly extra: JsonObject }
  /** The answer has a call. @property complete false: it was cut off, and must not run */
  | { readonly type: 'call'; readonly answer: string; readonly call: ModelCall; readonly complete: boolean }
  | { readonly type: 'answered'; readonly answer: string }
  | { readonly type: 'failed'; readonly answer: string; readonly failure: Failure }
  // -- tools
  /** A tool says its own message. @property answers true if it says what came of the tool: the model need not say anything more */
  | { readonly type: 'announced'; readonly text: string; readonly answers: boolean; readonly agent: string }
  /** A tool has run. @property output for the model; absent where it isn't asked to go on */
  | {
      readonly type: 'ran';
      readonly callId: string;
      readonly output: string | undefined;
      readonly record: Omit<CallToolCall, 'seq' | 'agent'>;
      /** Set where another agent is ready to take over. */
      readonly handover?: HandOver | undefined;
    }
  /** A tool has found sources for the model's next answer. */
  | { readonly type: 'found'; readonly sources: readonly KnowledgeSource[]; readonly agent: string }
  // -- people who steer the conversation from outside
  /** The agent says this. @property interrupt true silences it first */
  | { readonly type: 'told'; readonly text: string; readonly interrupt: boolean }
  /** A person has said this in place of the agent. @property since when it began, in milliseconds since the epoch */
  | { readonly type: 'colleague'; readonly text: string; readonly since: number }
  /** The agent neither speaks nor answers, or does again. */
  | { readonly type: 'muted'; readonly on: boolean }
  // -- the agent's speech
  /** A speech is being heard. @property characters number of characters of its text that were heard so far: whole words */
  | { readonly type: 'heard'; readonly speech: number; readonly characters: number }
  /** A speech is over: all of it was heard, or it is silent since it was cancelled. */
  | { readonly type: 'silent'; readonly speech: number }
  // -- the end
  /** Speech to text works no more. */
  | { readonly type: 'deaf'; readonly failure: Failure }
  /** Text to speech works no more. */
  | { readonly type: 'mute'; readonly failure: Failure }
  /** A tool hangs up. */
  | { readonly type: 'ending'; readonly agent: string }
  /** The agent says farewell. @property apology is said after all else; absent where nothing can be said */
  | { readonly type: 'farewell'; readonly apology: string | undefined }
  /** The agent leaves a message to a machine that has answered, and says nothing else. */
  | { readonly type: 'message'; readonly text: string }
  /** The user has left, or has to: nothing is said any more; their last words may still come. */
  | { readonly type: 'closing' }
  | { readonly type: 'closed' };

export type Effect =
  | { readonly type: 'ask'; readonly answer: string; readonly history: readonly HistoryItem[]; readonly mayCall: boolean }
  | { readonly type: 'cancelAnswer'; readonly answer: string }
  /** Speeches are heard in the order of their numbers. */
  | { readonly type: 'say'; readonly speech: number; readonly text: string }
  | { readonly type: 'sayNoMore'; readonly speech: number }
  | { readonly type: 'cancelSpeech'; readonly speech: number }
  | { readonly type: 'pausePlayout' }
  | { readonly type: 'resumePlayout' }
  /** Each name has one timer, which begins anew. */
  | { readonly type: 'wait'; readonly timer: TimerName; readonly ms: number }
  | { readonly type: 'stopWaiting'; readonly timer: TimerName }
  /** @property refused why nothing is to be done, in words for the model */
  | { readonly type: 'run'; readonly call: ModelCall; readonly complete: boolean; readonly refused?: string }
  /** The agent of this hand-over answers from now on. */
  | { readonly type: 'takeOver'; readonly handover: string }
  /** The user has cut in: a tool that only reads or waits gives its result now. */
  | { readonly type: 'stopTool'; readonly callId: string }
  | { readonly type: 'record'; readonly entries: readonly Entry[] }
  | { readonly type: 'end'; readonly reason: FinishReason; readonly failed?: Failure | undefined };
