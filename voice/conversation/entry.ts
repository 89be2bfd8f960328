import type { CallMessage, CallToolCall, CallTurn } from '../../store/index.ts';

/** What is stored of a step of a conversation. */
export interface Entry {
  readonly message?: CallMessage;
  readonly turn?: CallTurn;
  readonly toolCall?: CallToolCall;
  /** The answer of the turn was interrupted; its message comes once it is silent. */
  readonly interrupted?: true;
}

/** Latencies so far of the answer to the user's last words. */
export type OpenTurn = Omit<CallTurn, 'seq'> & {
  /** What the agent says after it has this number, or a higher one. */
  readonly after: number;
  /** When the user's sound ended, in milliseconds since the epoch. */
  readonly stoppedAt: number | undefined;
  /** Of the first thing that the user hears after it; undefined until then. */
  readonly seq: number | undefined;
};

/** Of the user; times in milliseconds since the epoch. */
export interface SpokenTurn extends Pick<CallTurn, 'eou' | 'stt'> {
  /** Its place in the transcript. */
  readonly number: number;
  readonly spokenAt: number;
  /** Absent where nothing was spoken. */
  readonly stoppedAt: number | undefined;
}
