/**
 * The turns of a conversation as spans `invoke_agent`: each has the requests, tools and speech that belong to it. A turn begins with what the user says, or
 * with the welcome message, and goes on until the user says something after the agent has answered; its end is that of the last thing that happened in it.
 * Source: OpenTelemetry's conventions for generative AI, on agents and on voice agents.
 */
import * as genAi from '../../platform/telemetry/gen-ai/conventions.ts';
import {
  observeModelRequests,
  usageAttributes,
  type Measurement,
  type ModelAnswer,
  type ModelRequestObserver,
  type TokenUsage,
} from '../../platform/telemetry/gen-ai/model-requests.ts';
import { currentTrace, startSpan, type Attributes, type Span, type SpanStart } from '../../platform/telemetry/tracing.ts';
import type { Entry } from '../session/transcript.ts';

export interface AgentTurnsOptions {
  readonly agent: {
    readonly name: string;
    /** Absent outside of a cluster. */
    readonly id?: string | undefined;
    readonly revision?: string | undefined;
    readonly knowledgeBase: string | null;
  };
  readonly llm: { readonly provider: string; readonly model: string };
  /** Of the call; absent in text. */
  readonly conversationId?: string | undefined;
  readonly measure?: ((measurement: Measurement) => void) | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

interface Turn {
  readonly span: Span;
  /** The user has said something in it. */
  heard: boolean;
  answered: boolean;
  usage: TokenUsage | undefined;
  finishReasons: readonly string[] | undefined;
}

export class AgentTurns {
  /** For all providers of the conversation. */
  readonly requests: ModelRequestObserver;
  readonly #options: AgentTurnsOptions;
  readonly #now: () => number;
  /** Of the call: what happens in a session happens outside of its span. */
  readonly #trace = currentTrace();
  readonly #common: Attributes;
  #turn: Turn | undefined;
  #activeAt = 0;

  constructor(options: AgentTurnsOptions) {
    const { conversationId, measure, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    this.#common = { [genAi.CONVERSATION_ID]: conversationId };
    this.requests = observeModelRequests({
      parent: ({ operation, startedAt }) => {
        const turn = operation === genAi.SPEECH_TO_TEXT ? this.#hear(startedAt) : this.#open();
        return turn.span.context;
      },
      attributes: this.#common,
      measure,
      now,
      onEnd: ({ operation }, answer) => this.#requested(operation, answer),
    });
  }

  /** The user has said, written or pressed something. */
  heard(): void {
    this.#hear();
  }

  /** What is written into the transcript. */
  written(entries: readonly Entry[]): void {
    for (const { message, turn } of entries) {
      if (message?.role === 'user') this.#hear().heard = true;
      if (message?.role !== 'agent' && turn === undefined) continue;
      const open = this.#open();
      // What a tool says while it works answers nothing.
      if (turn !== undefined || !open.heard) open.answered = true;
      this.#activeAt = this.#now();
      if (turn === undefined) continue;
      open.span.set({
        'parley.turn': turn.seq,
        'parley.turn.interrupted': message?.interrupted,
        ...milliseconds('eou', turn.eou),
        ...milliseconds('stt', turn.stt),
        ...milliseconds('llm_ttft', turn.llmTtft),
        ...milliseconds('tts_ttfb', turn.ttsTtfb),
        ...milliseconds('v2v', turn.v2v),
      });
    }
  }

  /** Within the turn; the caller ends it. */
  startSpan(start: SpanStart): Span {
    const span = startSpan({
      ...start,
      parent: this.#open().span.context,
      attributes: { ...start.attributes, ...this.#common },
    });
    return {
      ...span,
      end: () => {
        this.#activeAt = this.#now();
        span.end();
      },
    };
  }

  failed(failure: string): void {
    this.#open().span.fail(failure);
  }

  close(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined) return;
    turn.span.set({ ...usageAttributes(turn.usage), [genAi.FINISH_REASONS]: turn.finishReasons });
    turn.span.end(this.#activeAt);
  }

  /** Another turn begins, unless the present one still waits for its answer. */
  #hear(startedAt?: number): Turn {
    if (this.#turn?.answered === true) this.close();
    return this.#open(startedAt);
  }

  #open(startedAt = this.#now()): Turn {
    if (this.#turn !== undefined) return this.#turn;
    const { agent, llm } = this.#options;
    this.#activeAt = this.#now();
    const span = startSpan({
      name: genAi.spanName(genAi.INVOKE_AGENT, agent.name),
      parent: this.#trace ?? 'none',
      startedAt,
      attributes: {
        [genAi.OPERATION_NAME]: genAi.INVOKE_AGENT,
        [genAi.PROVIDER_NAME]: genAi.providerName(genAi.CHAT, llm.provider),
        [genAi.REQUEST_MODEL]: llm.model,
        [genAi.AGENT_NAME]: agent.name,
        [genAi.AGENT_ID]: agent.id,
        [genAi.AGENT_VERSION]: agent.revision,
        [genAi.DATA_SOURCE_ID]: agent.knowledgeBase ?? undefined,
        ...this.#common,
      },
    });
    this.#turn = { span, heard: false, answered: false, usage: undefined, finishReasons: undefined };
    return this.#turn;
  }

  #requested(operation: string, { usage, finishReasons }: ModelAnswer): void {
    this.#activeAt = this.#now();
    const turn = this.#turn;
    if (turn === undefined || operation !== genAi.CHAT) return;
    turn.usage = sumOf(turn.usage, usage);
    turn.finishReasons = finishReasons ?? turn.finishReasons;
  }
}

const milliseconds = (name: string, value: number | null) => (value === null ? {} : { [`parley.turn.${name}_ms`]: value });

function sumOf(one: TokenUsage | undefined, other: TokenUsage | undefined): TokenUsage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sum = (left: number | undefined, right: number | undefined) =>
    left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedTokens: sum(one.cachedTokens, other.cachedTokens),
    reasoningTokens: sum(one.reasoningTokens, other.reasoningTokens),
  };
}
