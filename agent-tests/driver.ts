/** One conversation with an agent, as a test holds it: in text, or in a real call. */
import type { FinishReason } from '../store/index.ts';
import type { ToolCallRecord } from './result.ts';

/** What the agent did until it waited for the user, or the call was over. */
export interface AgentTurn {
  /** What was said, in order; announcements of tools included. */
  readonly messages: readonly string[];
  readonly toolCalls: readonly ToolCallRecord[];
  /** From the end of the user's turn to the first words of the answer, in milliseconds; absent where the agent said nothing. */
  readonly firstWordsMs?: number;
  /** The call ended in this turn. */
  readonly ended?: FinishReason;
  /** Of the provider that ended it. */
  readonly failure?: string;
}

export interface AgentDriver {
  /** Of the real call, for its recording; absent in text. */
  readonly callId?: string;
  /** Begins the call. @returns the welcome message; without messages where the agent waits for the user */
  start(): Promise<AgentTurn>;
  say(text: string): Promise<AgentTurn>;
  press(keys: string): Promise<AgentTurn>;
  /** Ends the call if it goes on. Idempotent, never rejects. */
  close(): Promise<void>;
}

/** A conversation that could not be held, through no fault of the agent: the test has the verdict `error`. */
export class DriverError extends Error {
  /** In the AgentTest, where the cause is there: `spec.tools[0].name`. */
  readonly path: string | undefined;

  constructor(message: string, { path, cause }: { readonly path?: string; readonly cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'DriverError';
    this.path = path;
  }
}
