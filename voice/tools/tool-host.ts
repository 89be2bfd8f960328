/** The host of tools: the parts of their call that they need. */

import type { Span, SpanStart } from '../../platform/telemetry/tracing.ts';

/** A passage of the knowledge base that an answer rests on; stored with the message. */
export interface KnowledgeSource {
  readonly knowledge_base: string;
  readonly document_id: string;
  readonly chunk_id: string;
  readonly filename: string;
  /** Score from 0 to 1. */
  readonly score: number;
}

export interface TransferTarget {
  /** Target as an E.164 number or a `sip:` URI. */
  readonly to: string;
  /** Mode of the transfer; warm: the agent speaks to the other side first. */
  readonly mode: 'Cold' | 'Warm';
  /** Whose number the other side of a warm transfer sees. */
  readonly callerID: 'Agent' | 'Caller';
}

/** `message` is for the model, which says it to the user: what happened and what to do, without secrets. */
export type TransferOutcome = { readonly outcome: 'done' } | { readonly outcome: 'failed'; readonly message: string };

/** What a model hands over with. */
export interface HandOverRequest {
  /** Name of the agent that is to take over. */
  readonly to: string;
  /** Words of the agent that hands over; empty for none. */
  readonly say: string;
  readonly context: 'All' | 'Summary' | 'None';
  readonly voice: 'Own' | 'Keep';
  /** Values that the other agent has as dynamic data. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** `handover` names the hand-over for which the agent is ready; `message` is for the model: why there is none, and what to do. */
export type HandOverOutcome =
  | { readonly outcome: 'ready'; readonly handover: string }
  | { readonly outcome: 'refused'; readonly message: string };

export interface ToolHost {
  /**
   * Speaks after what is being spoken or queued, in the order of the calls.
   * @param options.answers true if it says what came of the tool: the model need not say anything more
   */
  say(text: string, options?: { readonly answers: boolean }): void;
  /** Hangs up after the present speech. */
  end(): void;
  /** Transfers the call; a web call never is. */
  transfer(target: TransferTarget): Promise<TransferOutcome>;
  /** Prepares another agent. It takes over once the tool has run. */
  handOver(request: HandOverRequest): Promise<HandOverOutcome>;
  /** Records sources of the next answer. */
  recordSources(sources: readonly KnowledgeSource[]): void;
  /** Starts a span within the turn that is under way. */
  startSpan(start: SpanStart): Span;
}
