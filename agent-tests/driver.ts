/** Drives one conversation of a test with an agent: in text, or in a real call. */
import type { FinishReason } from '../store/index.ts';
import type { ToolCallRecord } from './result.ts';

/** A turn of the agent: everything until it waits for the user, or the call is over. */
export interface AgentTurn {
  /** Messages of the agent in order, announcements of tools included. */
  readonly messages: readonly string[];
  readonly toolCalls: readonly ToolCallRecord[];
  /** Time from the end of the user's turn to the first words of the answer, in milliseconds; absent where the agent said nothing. */
  readonly firstWordsMs?: number;
  readonly ended?: FinishReason;
  /** The failure of the provider that ended the call. */
  readonly failure?: string;
}

export interface AgentDriver {
  /** Id of the real call, for its recording; absent in text. */
  readonly callId?: string;
  /** Begins the call. @returns the welcome message; without messages where the agent waits for the user */
  start(): Promise<AgentTurn>;
  say(text: string): Promise<AgentTurn>;
  press(keys: string): Promise<AgentTurn>;
  /** Ends the call if it goes on. Idempotent, never rejects. */
  close(): Promise<void>;
}

/** The conversation could not be held, through no fault of the agent: the test has the verdict `error`. */
export class DriverError extends Error {
  /** Path in the AgentTest where the cause is there, e.g. `spec.tools[0].name`. */
  readonly path: string | undefined;

  constructor(message: string, { path, cause }: { readonly path?: string; readonly cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'DriverError';
    this.path = path;
  }
}
