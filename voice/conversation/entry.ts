import type { CallMessage, CallToolCall, CallTurn } from '../../store/index.ts';

/** The records of one step of a conversation. */
export interface Entry {
  readonly message?: CallMessage;
  readonly turn?: CallTurn;
  readonly toolCall?: CallToolCall;
  /** Set with the tool call by which another agent has taken over. */
  readonly takeover?: { readonly from: string; readonly to: string };
  /** The answer of the turn was interrupted; its message comes once it is silent. */
  readonly interrupted?: true;
}

/** Latencies so far of the answer to the user's last words. */
export type OpenTurn = Omit<CallTurn, 'seq' | 'agent'> & {
  /** Lower bound of the numbers of the agent's speeches that answer the turn. */
  readonly after: number;
  /** End of the user's sound, in milliseconds since the epoch. */
  readonly stoppedAt: number | undefined;
  /** Place in the transcript of the first answer that the user hears, and the agent that gives it; undefined until then. */
  readonly seq: number | undefined;
  readonly agent: string | undefined;
};

/** A turn that the user spoke; times in milliseconds since the epoch. */
export interface SpokenTurn extends Pick<CallTurn, 'eou' | 'stt'> {
  /** Place of the turn in the transcript. */
  readonly number: number;
  readonly spokenAt: number;
  /** End of the user's sound; absent where nothing was spoken. */
  readonly stoppedAt: number | undefined;
}
