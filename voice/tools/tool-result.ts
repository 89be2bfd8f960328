export type JsonValue = null | string | number | boolean | readonly JsonValue[] | { readonly [key: string]: JsonValue };

export interface ToolResult {
  /** Chooses between the messages of completion and failure. */
  readonly succeeded: boolean;
  /** Result for the model; absent where the call ends, and the model is not asked to go on. */
  readonly forModel?: JsonValue;
  /** Detail for the log, without what was sent or answered. */
  readonly detail?: string;
  /** The hand-over for which another agent is ready: it takes over, and the model isn't asked to go on. */
  readonly handover?: string;
  /** Reason of the failure, for the log alone: it may name hosts. */
  readonly reason?: string;
}

export interface ToolDefinition {
  /** Name by which the model calls it; unique. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, as the model gets it. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly messages: ToolMessages;
  /**
   * Set for a tool that acts on the call and on nothing outside, so that tests run it without a mock. `ends`: when it succeeds, the call
   * is over.
   */
  readonly actsOnCall?: 'ends' | 'continues';
  /** True if it hands the call over to another agent. */
  readonly handsOver?: true;
  /** True if it looks things up in the agent's own data. */
  readonly searches?: true;
  /** True if its arguments and results are stored nowhere. */
  readonly sensitive?: boolean;
  /** True if it only reads or waits, so that an interruption stops it. Others run on: their effects could not be undone. */
  readonly stopsOnInterruption?: boolean;
  /** Returns problems of the arguments, in words for the model; undefined where they fit. Nothing runs unless they do. */
  refuse(args: Arguments): string | undefined;
  /** Runs the tool. May reject: the model doesn't get the reason. */
  run(args: Arguments, signal: AbortSignal): Promise<ToolResult>;
}

/** Options of a built-in tool that the owner configured. */
export interface BuiltinToolOptions<S> {
  readonly name: string;
  readonly spec: S;
  readonly description: string | undefined;
  readonly messages: ToolMessages;
}

export type Arguments = Readonly<Record<string, unknown>>;

/** Messages as the owner wrote them, placeholders and all. */
export interface ToolMessages {
  readonly start?: string | undefined;
  readonly delayed?: string | undefined;
  readonly complete?: string | undefined;
  readonly failed?: string | undefined;
}

/**
 * Builds the result of a failure.
 * @param error for the model, in words for a caller: what happened, and what can be done
 * @param reason for the log alone
 */
export function failure(error: string, more: { readonly [key: string]: JsonValue } = {}, detail?: string, reason?: string): ToolResult {
  return { succeeded: false, forModel: { error, ...more }, detail: detail ?? error, ...(reason !== undefined && { reason }) };
}

/** Text for a tool that was stopped before it was done. */
export const STOPPED = 'It was stopped: it is not known whether it has done anything.';

export const NO_MESSAGES: ToolMessages = {};
