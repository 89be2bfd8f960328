/** Describes the input of a process of callers (standard input) and its report (standard output). */
import type { AnsweredTurn } from './added-latency.ts';
import type { Interruption } from './caller.ts';

export interface CallPlan {
  /** Name of the caller in the providers' address. */
  readonly caller: string;
  /** Address of the providers, up to and with `/v1`. */
  readonly baseURL: string;
  /** Turn detection of a call without a room; default `silence`. */
  readonly turnDetection?: 'Model' | 'Silence';
  /** The room; absent for the loop without one. */
  readonly room?: { readonly url: string; readonly token: string };
}

export interface CallersPlan {
  readonly calls: readonly CallPlan[];
  /** Number of questions of each caller. */
  readonly turns: number;
  readonly interruptions: number;
}

/** Tells when speech to text has reported so many words of what is being said. */
export interface KnownWords {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly count: number;
}

/** Times are milliseconds since the epoch. */
export interface CallResult {
  readonly caller: string;
  /** Time at which the caller set out for the room. */
  readonly joins: number;
  readonly firstAudio: number;
  /** Time from the first word of the welcome message to its last, in milliseconds: on a busy machine it has holes. */
  readonly welcomeMs: number;
  readonly turns: readonly AnsweredTurn[];
  /** Number of questions, interrupted ones included, that got no answer within half a minute. */
  readonly unanswered: number;
  readonly interruptions: readonly Interruption[];
}
