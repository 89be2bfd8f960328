/** Input of a process of callers (standard input) and its report (standard output). */
import type { AnsweredTurn } from './added-latency.ts';
import type { Interruption } from './caller.ts';

export interface CallPlan {
  /** As it stands in the providers' address. */
  readonly caller: string;
  /** Of the providers, up to and with `/v1`. */
  readonly baseURL: string;
  /** Without rooms; default `silence`. */
  readonly turnDetection?: 'model' | 'silence';
  /** The room; none for the loop without one. */
  readonly room?: { readonly url: string; readonly token: string };
}

export interface CallersPlan {
  readonly calls: readonly CallPlan[];
  /** Questions of each caller. */
  readonly turns: number;
  readonly interruptions: number;
}

/** Speech to text has reported so many words of what is being said. */
export interface KnownWords {
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly count: number;
}

/** Times are milliseconds since the epoch. */
export interface CallResult {
  readonly caller: string;
  /** When the caller set out for the room. */
  readonly joins: number;
  readonly firstAudio: number;
  /** From the first word of the welcome message to its last, in milliseconds: on a busy machine it has holes. */
  readonly welcomeMs: number;
  readonly turns: readonly AnsweredTurn[];
  /** Questions, interrupted ones included, that got no answer within half a minute. */
  readonly unanswered: number;
  readonly interruptions: readonly Interruption[];
}
