/** Where a conversation stands. */
import type { JsonObject } from '../../platform/json.ts';
import type { KnowledgeSource } from '../tools/tool-host.ts';
import type { ModelCall } from '../../calls/model-stream/index.ts';
import type { HistoryItem } from '../providers/llm/history.ts';
import type { InterruptionRules } from './interruption-rules.ts';
import type { OpenTurn, SpokenTurn } from './entry.ts';

export interface ConversationSettings {
  /** Absent where the agent waits for the user. */
  readonly welcome: string | undefined;
  /** BCP 47. */
  readonly language: string;
  readonly interruptions: InterruptionRules;
  /** Silence that ends a turn, in milliseconds, unless the end-of-turn detector says otherwise. */
  readonly turnEndMs: number;
  /** Absent where silence has no meaning. */
  readonly silence:
    | { readonly endAfterMs: number; /** Asks whether the user is still there. */ readonly reminder: string | undefined }
    | undefined;
  /** Names of the tools that only read or wait. */
  readonly stoppedByInterruption: readonly string[];
}

export interface ConversationState {
  readonly settings: ConversationSettings;
  /** Of the next message, call, answer or speech: all are numbered in the order in which they begin. */
  readonly next: number;
  readonly begun: boolean;
  /** The welcome message is said, or being said. */
  readonly welcomed: boolean;
  /** It isn't known whether a person listens. */
  readonly screening: boolean;
  /** When the last message began, in milliseconds since the epoch. */
  readonly lastAt: number;
  /**
   * What was said and done, in the order in which it began. The text of a message is known when its speech is over, until then it stands in `speeches`.
   */
  readonly history: readonly HistoryItem[];
  /** What has a lower number was there when the model was asked last: nothing is put before it any more, but results. */
  readonly asked: number;
  /** That the model is giving. */
  readonly answer: Answer | undefined;
  /** Being heard, and waiting; the first is heard. */
  readonly speeches: readonly Speech[];
  /** Under way. */
  readonly tools: readonly RunningTool[];
  /** The last one that called tools, while nothing else was asked since: when they are done, the model goes on. */
  readonly caller: string | undefined;
  /** Results that the model has not been asked with. */
  readonly unseen: number;
  /** Answers that called tools since the user's last words. */
  readonly steps: number;
  /** The user has said something that the model has not been asked about. */
  readonly unanswered: boolean;
  /** Turns that wait for the agent to end, where it can't be interrupted. */
  readonly waiting: readonly UserTurn[];
  /** A tool has said what came of it since the user's last words. */
  readonly answeredByTool: boolean;
  /** The model has ever begun to answer. */
  readonly modelAnswered: boolean;
  /** Found since the last answer of the model began. */
  readonly sources: readonly KnowledgeSource[];
  /** Of the user's last words, until they are answered. */
  readonly turn: OpenTurn | undefined;
  readonly hearing: Hearing;
  readonly silence: { readonly waiting: boolean; readonly reminded: boolean };
  /** The agent wants to hang up when all is said. The user can call that off once. */
  readonly goodbye: { readonly said: boolean; readonly calledOff: boolean };
  /** Nothing more is asked. */
  readonly ending: boolean;
  /** Nothing more is said. */
  readonly closing: boolean;
  /** Nothing more happens. */
  readonly closed: boolean;
}

export interface UserTurn {
  readonly text: string;
  /** Absent where it was written. */
  readonly spoken?: SpokenTurn | undefined;
}

export interface Answer {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** From the request to the first word or call, in milliseconds. */
  readonly ttftMs: number | undefined;
  /** Undefined until its first word. */
  readonly speech: number | undefined;
  readonly extra: JsonObject | undefined;
  readonly calls: readonly { readonly call: ModelCall; readonly complete: boolean }[];
  /** Asked for before the user's turn is over: nothing of it is said or run until then. */
  readonly early: boolean;
  /** Of an early one: its words so far. */
  readonly held: string;
  /** Of an early one: all of it is there. */
  readonly complete: boolean;
}

/** What is open of the user's sound and words. */
export interface Hearing {
  /** There is sound now. */
  readonly speaking: boolean;
  /** When the present sound began, and when the first one of the turn did; milliseconds since the epoch. */
  readonly since: number;
  readonly beganAt: number;
  /** When the last sound ended. */
  readonly stoppedAt: number;
  /** Length of the longest sound whose words may still come. */
  readonly spokenMs: number;
  /** It began while the agent said something, and is no interruption yet. */
  readonly over: boolean;
  /** Words of it count. */
  readonly heeded: boolean;
  /** Its number in the transcript; undefined where nothing is open. */
  readonly place: number | undefined;
  /** Words that count. */
  readonly text: string;
  /** Words that may still change. */
  readonly interim: string;
  /** When the last words were known. */
  readonly understoodAt: number | undefined;
  /** Words are still to come. */
  readonly owed: boolean;
  /** The silence was long enough. */
  readonly waited: boolean;
  /** What the agent says is paused. */
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
  readonly text: string;
  /** How many characters of the text were heard. */
  readonly heard: number;
  /** When its first words were there, in milliseconds since the epoch. */
  readonly saidAt: number;
  /** When it began to be heard, in milliseconds since the epoch. */
  readonly heardAt: number | undefined;
  /** Of the model's answer: from the request to its first word or call, in milliseconds. */
  readonly ttftMs: number | undefined;
  /** Nothing more comes. */
  readonly complete: boolean;
  /** By the user: what was not heard is lost. */
  readonly interrupted: boolean;
  readonly interruptible: boolean;
  readonly sources: readonly KnowledgeSource[];
}

export interface RunningTool {
  readonly callId: string;
  /** Its place in the transcript, and of its call in the history. */
  readonly number: number;
  /** That called it. */
  readonly answer: string;
  /** It only reads or waits. */
  readonly stops: boolean;
  /** The user has cut in: its result comes at once. */
  readonly stopping: boolean;
}

export function initialState(settings: ConversationSettings): ConversationState {
  return {
    settings,
    next: 1,
    begun: false,
    welcomed: false,
    screening: false,
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
    silence: { waiting: false, reminded: false },
    goodbye: { said: false, calledOff: false },
    ending: false,
    closing: false,
    closed: false,
  };
}

/** What is being said is in the transcript; tools may go on. */
export const isSaid = ({ answer, speeches }: ConversationState): boolean => answer === undefined && speeches.length === 0;

/** Nothing is being said and no tool runs: no answer is to come. */
export const isQuiet = (state: ConversationState): boolean => isSaid(state) && state.tools.length === 0;

/** What the agent does, as its listeners see it. */
export function agentStateOf({ answer, speeches, tools, hearing }: ConversationState): 'listening' | 'thinking' | 'speaking' {
  if (!hearing.paused && speeches.some(({ heardAt, interrupted }) => heardAt !== undefined && !interrupted)) return 'speaking';
  const works = (answer !== undefined && !answer.early) || speeches.length > 0 || tools.length > 0;
  return works && !hearing.paused ? 'thinking' : 'listening';
}
