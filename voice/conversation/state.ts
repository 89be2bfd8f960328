/** Where a conversation stands. */
import type { JsonObject } from '../../platform/json.ts';
import type { KnowledgeSource } from '../tools/tool-host.ts';
import type { ModelCall } from '../calls/model-stream/index.ts';
import type { HistoryItem } from '../providers/llm/history.ts';
import type { OpenTurn } from './records.ts';

export interface ConversationSettings {
  /** Absent where the agent waits for the user. */
  readonly welcome: string | undefined;
  readonly interruptions: boolean;
  /** Names of the tools that only read or wait. */
  readonly stoppedByInterruption: readonly string[];
}

export interface ConversationState {
  readonly settings: ConversationSettings;
  /** Of the next message, call, answer or speech: all are numbered in the order in which they begin. */
  readonly next: number;
  readonly begun: boolean;
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
  readonly waiting: readonly string[];
  /** A tool has said what came of it since the user's last words. */
  readonly answeredByTool: boolean;
  /** The model has ever begun to answer. */
  readonly modelAnswered: boolean;
  /** Found since the last answer of the model began. */
  readonly sources: readonly KnowledgeSource[];
  /** Of the user's last words, until they are answered. */
  readonly turn: OpenTurn | undefined;
  /** Nothing more is asked. */
  readonly ending: boolean;
  /** Nothing more is said. */
  readonly closed: boolean;
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
}

export interface Speech {
  /** Its place among what is said, and the id of its message in the history. */
  readonly number: number;
  /** Its place in the transcript, from when it is heard. */
  readonly seq: number | undefined;
  readonly by: 'model' | 'tool' | 'phrase';
  readonly text: string;
  /** How many characters of the text were heard. */
  readonly heard: number;
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
    ending: false,
    closed: false,
  };
}

/** Nothing is being said, no tool runs, and no answer is to come. */
export function isQuiet({ answer, speeches, tools, unanswered, unseen, waiting, ending }: ConversationState): boolean {
  const pending = unanswered || unseen > 0 || waiting.length > 0;
  return answer === undefined && speeches.length === 0 && tools.length === 0 && (ending || !pending);
}

/** What is being said is in the transcript; tools may go on. */
export const isSaid = ({ answer, speeches }: ConversationState): boolean => answer === undefined && speeches.length === 0;
