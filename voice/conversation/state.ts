import type { JsonObject } from '../../platform/json.ts';
import type { KnowledgeSource } from '../tools/tool-host.ts';
import type { ModelCall } from '../../calls/model-stream/index.ts';
import type { HandOverNote, HistoryItem } from '../providers/llm/history.ts';
import type { InterruptionRules } from './interruption-rules.ts';
import type { OpenTurn, SpokenTurn } from './entry.ts';

export interface ConversationSettings {
  /** Name of the agent that talks. */
  readonly agent: string;
  /** The welcome message; absent where the agent waits for the user. */
  readonly welcome: string | undefined;
  /** BCP 47 tag. */
  readonly language: string;
  readonly interruptions: InterruptionRules;
  /** Silence that ends a turn, in milliseconds, unless the end-of-turn detector says otherwise. */
  readonly turnEndMs: number;
  /** Rules for silence; absent where silence has no meaning. */
  readonly silence:
    | {
        readonly endAfterMs: number;
        /** Ask whether the user is still there; in their order, each before the end. */
        readonly reminders: readonly SilenceReminder[];
      }
    | undefined;
  /** Names of the tools that only read or wait. */
  readonly stoppedByInterruption: readonly string[];
  /** Names of the functions that hand the call over. */
  readonly handoffs: readonly string[];
}

export interface SilenceReminder {
  /** Length of the silence before it, without the reminders in it, in milliseconds. */
  readonly afterMs: number;
  readonly text: string;
}

export interface ConversationState {
  readonly settings: ConversationSettings;
  /** Number of the next message, call, answer or speech: all are numbered in the order in which they begin. */
  readonly next: number;
  readonly begun: boolean;
  /** True once the welcome message is said, or being said. */
  readonly welcomed: boolean;
  /** True while it isn't known whether a person listens. */
  readonly screening: boolean;
  /** True while the agent neither speaks nor answers, because somebody wants it so. */
  readonly muted: boolean;
  /** Start of the last message, in milliseconds since the epoch. */
  readonly lastAt: number;
  /**
   * All that was said and done, in the order in which it began. The text of a message is known when its speech is over; until then it
   * stands in `speeches`.
   */
  readonly history: readonly HistoryItem[];
  /** Everything with a lower number was there when the model was asked last: only results are put before it any more. */
  readonly asked: number;
  readonly answer: Answer | undefined;
  /** Speeches that are heard or wait; the first is heard. */
  readonly speeches: readonly Speech[];
  readonly tools: readonly RunningTool[];
  /** The last answer that called tools, while nothing else was asked since: when they are done, the model goes on. */
  readonly caller: string | undefined;
  /** Number of results that the model has not been asked with. */
  readonly unseen: number;
  /** Number of answers that called tools since the user's last words. */
  readonly steps: number;
  /** True if the user has said something that the model has not been asked about. */
  readonly unanswered: boolean;
  /** Turns that wait for the agent to end its speech, where it can't be interrupted. */
  readonly waiting: readonly UserTurn[];
  /** True if a tool has said what came of it since the user's last words. */
  readonly answeredByTool: boolean;
  /** True once the model has begun to answer. */
  readonly modelAnswered: boolean;
  /** Sources found since the last answer of the model began. */
  readonly sources: readonly KnowledgeSource[];
  /** Latencies of the user's last words, until they are answered. */
  readonly turn: OpenTurn | undefined;
  readonly hearing: Hearing;
  readonly silence: { readonly waiting: boolean; /** Number of reminders in this silence so far. */ readonly reminded: number };
  /** True if the agent wants to hang up when all is said. The user can call that off once. */
  readonly goodbye: { readonly said: boolean; readonly calledOff: boolean };
  readonly handover: {
    /** Id of the call that hands over, while it runs: the model that it leads to answers what the user says meanwhile. */
    readonly callId: string | undefined;
    /** Number of hand-overs so far. */
    readonly count: number;
    /** True if the call was handed over since the user's last words. */
    readonly recent: boolean;
  };
  /** True once nothing more is asked. */
  readonly ending: boolean;
  /** True once nothing more is said. */
  readonly closing: boolean;
  /** True once nothing more happens. */
  readonly closed: boolean;
}

export interface UserTurn {
  readonly text: string;
  /** The spoken turn; absent where it was written. */
  readonly spoken?: SpokenTurn | undefined;
}

export interface Answer {
  readonly id: string;
  /** Time of the request, in milliseconds since the epoch. */
  readonly askedAt: number;
  /** Time from the request to the first word or call, in milliseconds. */
  readonly ttftMs: number | undefined;
  /** Number of its speech; undefined until its first word. */
  readonly speech: number | undefined;
  readonly extra: JsonObject | undefined;
  readonly calls: readonly { readonly call: ModelCall; readonly complete: boolean }[];
  /** True if it is asked for before the user's turn is over: nothing of it is said or run until then. */
  readonly early: boolean;
  /** Words so far of an early answer. */
  readonly held: string;
  /** True once all of an early answer is there. */
  readonly complete: boolean;
}

/** The user's sound and words that are not a turn yet. */
export interface Hearing {
  readonly speaking: boolean;
  /** Start of the present sound, and of the first one of the turn; milliseconds since the epoch. */
  readonly since: number;
  readonly beganAt: number;
  /** End of the last sound. */
  readonly stoppedAt: number;
  /** Length of the longest sound whose words may still come. */
  readonly spokenMs: number;
  /** True if it began while the agent said something, and is no interruption yet. */
  readonly over: boolean;
  /** True if words of it count. */
  readonly heeded: boolean;
  /** Its number in the transcript; undefined where no turn is open. */
  readonly place: number | undefined;
  /** Words that count. */
  readonly text: string;
  /** Words that may still change. */
  readonly interim: string;
  /** Time at which the last words were known. */
  readonly understoodAt: number | undefined;
  /** True while words are still to come. */
  readonly owed: boolean;
  /** True once the silence was long enough. */
  readonly waited: boolean;
  /** True while the agent's playout is paused. */
  readonly paused: boolean;
  /** Words that were taken without waiting for their last version, which may still come. */
  readonly taken: string;
}

export const HEARING_NOTHING: Hearing = {
  speaking: false,
  since: 0,
  beganAt: 0,
  stoppedAt: 0,
  spokenMs: 0,
  over: false,
  heeded: false,
  place: undefined,
  text: '',
  interim: '',
  understoodAt: undefined,
  owed: false,
  waited: false,
  paused: false,
  taken: '',
};

export interface Speech {
  /** Its place among what is said, and the id of its message in the history. */
  readonly number: number;
  /** Its place in the transcript, from when it is heard. */
  readonly seq: number | undefined;
  readonly by: 'model' | 'tool' | 'phrase';
  /** Name of the agent that says it. */
  readonly agent: string;
  readonly text: string;
  /** Number of characters of the text that were heard. */
  readonly heard: number;
  /** Time of its first words, in milliseconds since the epoch. */
  readonly saidAt: number;
  /** Time at which it began to be heard, in milliseconds since the epoch. */
  readonly heardAt: number | undefined;
  /** Time from the model's request to its first word or call, in milliseconds; for speeches of the model. */
  readonly ttftMs: number | undefined;
  /** True once no more text comes. */
  readonly complete: boolean;
  /** True if the user interrupted it: the part that was not heard is lost. */
  readonly interrupted: boolean;
  readonly interruptible: boolean;
  readonly sources: readonly KnowledgeSource[];
}

export interface RunningTool {
  readonly callId: string;
  /** Place of its record in the transcript, and of its call in the history. */
  readonly number: number;
  /** The answer that called it. */
  readonly answer: string;
  /** Name of the agent that called it. */
  readonly agent: string;
  /** True if it only reads or waits, and an interruption stops it. */
  readonly stops: boolean;
  /** True once the user has cut in: its result comes at once. */
  readonly stopping: boolean;
}

/** An agent that is ready to take over. */
export interface HandOver extends Omit<HandOverNote, 'from' | 'to'> {
  readonly id: string;
  readonly settings: ConversationSettings;
  /** Words of the former agent; empty for none. */
  readonly say: string;
  /** What the model of the agent is told. */
  readonly note: string;
}

export function initialState(settings: ConversationSettings): ConversationState {
  return {
    settings,
    next: 1,
    begun: false,
    welcomed: false,
    screening: false,
    muted: false,
    lastAt: 0,
    history: [],
    asked: 0,
    answer: undefined,
    speeches: [],
    tools: [],
    caller: undefined,
    unseen: 0,
    steps: 0,
    unanswered: false,
    waiting: [],
    answeredByTool: false,
    modelAnswered: false,
    sources: [],
    turn: undefined,
    hearing: HEARING_NOTHING,
    silence: { waiting: false, reminded: 0 },
    goodbye: { said: false, calledOff: false },
    handover: { callId: undefined, count: 0, recent: false },
    ending: false,
    closing: false,
    closed: false,
  };
}

/** Returns whether all speech is in the transcript; tools may go on. */
export const isSaid = ({ answer, speeches }: ConversationState): boolean => answer === undefined && speeches.length === 0;

/** Returns whether no speech is being said and no tool runs, so that no answer is to come. */
export const isQuiet = (state: ConversationState): boolean => isSaid(state) && state.tools.length === 0;

export function agentStateOf({ answer, speeches, tools, hearing }: ConversationState): 'listening' | 'thinking' | 'speaking' {
  if (!hearing.paused && speeches.some(({ heardAt, interrupted }) => heardAt !== undefined && !interrupted)) return 'speaking';
  const works = (answer !== undefined && !answer.early) || speeches.length > 0 || tools.length > 0;
  return works && !hearing.paused ? 'thinking' : 'listening';
}
