/** Results of agent tests. Plain data: it is printed, written to reports and stored as it is. */

import type { ShownUsage } from '../events/call-usage.ts';

/** `error`: the test could not be evaluated (a missing agent, an unknown tool, a judge without an answer), and never counts as passed. */
export type TestVerdict = 'passed' | 'failed' | 'error';

export interface CheckResult {
  /** Path in the AgentTest, e.g. `spec.conversation[0].expect[1].answer.contains`. */
  readonly path: string;
  /** One of `answer`, `tool`, `judge`, `within`, `ends`, `neverCalled`, `called`, `analysis`, `mock`. */
  readonly kind: string;
  readonly verdict: TestVerdict;
  readonly expected: string;
  readonly actual: string;
  /** The judge's own words, or why the check could not be evaluated. */
  readonly reason?: string;
}

/** A tool call as the model made it. `atMs`, `durationMs`: milliseconds, the first since the call began. */
export interface ToolCallRecord {
  readonly name: string;
  /** Name of the agent that made it. */
  readonly agent?: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The answer that the model got; absent where the call failed. */
  readonly result?: unknown;
  readonly error?: string;
  readonly atMs: number;
  readonly durationMs: number;
}

export interface TranscriptLine {
  readonly role: 'user' | 'agent' | 'tool';
  readonly text: string;
  /** Milliseconds since the call began. */
  readonly atMs: number;
  readonly tool?: Pick<ToolCallRecord, 'name' | 'agent' | 'arguments' | 'result' | 'error'>;
}

/** The reason why an attempt could not be evaluated. */
export interface AttemptError {
  /** Path in the AgentTest, where the cause is there. */
  readonly path?: string;
  readonly message: string;
}

export interface TestAttemptResult {
  readonly verdict: TestVerdict;
  readonly checks: readonly CheckResult[];
  readonly transcript: readonly TranscriptLine[];
  readonly finishReason?: string;
  readonly durationMs: number;
  /** Id of the call in audio mode, for its recording. */
  readonly callId?: string;
  readonly error?: AttemptError;
}

export interface TestResult {
  readonly test: string;
  readonly agent: string;
  readonly revision: string;
  readonly mode: 'text' | 'audio';
  readonly verdict: TestVerdict;
  /** True if the test passed by `passAtLeast`, although some attempts did not. */
  readonly flaky: boolean;
  readonly passed: number;
  readonly failed: number;
  /** At most {@link MAX_ATTEMPTS_KEPT}, those that did not pass first; fewer where they are large. */
  readonly attempts: readonly TestAttemptResult[];
  /** Usage of models in all attempts: in audio mode without that of the call, which has its own. Absent where no model was asked. */
  readonly usage?: ShownUsage;
  readonly durationMs: number;
}

export const MAX_ATTEMPTS_KEPT = 20;
