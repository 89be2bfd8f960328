/**
 * The turns of a conversation as spans `invoke_agent`: each has the requests, tools and speech that belong to it. A turn begins with what the user says, or
 * with what the agent says by itself, and goes on until the user says something else; its end is that of the last thing that happened in it.
 * Source: OpenTelemetry's conventions for generative AI, on agents and on voice agents.
 */
import { withoutContent } from '../../platform/telemetry/gen-ai/content.ts';
import * as genAi from '../../platform/telemetry/gen-ai/conventions.ts';
import {
  observeModelRequests,
  usageAttributes,
  type Measurement,
  type ModelAnswer,
  type ModelRequest,
  type ModelRequestObserver,
  type TokenUsage,
} from '../../platform/telemetry/gen-ai/model-requests.ts';
import { currentTrace, startSpan, type Attributes, type Span, type SpanStart } from '../../platform/telemetry/tracing.ts';
import type { Entry } from './entry.ts';

/** The agent whose turns they are. */
export interface AboutAgent {
  readonly agent: {
    readonly name: string;
    /** Id of the agent; absent outside of a cluster. */
    readonly id?: string | undefined;
    readonly revision?: string | undefined;
    readonly knowledgeBase: string | null;
  };
  readonly llm: { readonly provider: string; readonly model: string };
}

export interface AgentTurnsOptions extends AboutAgent {
  /** Id of the call; absent in text. */
  readonly conversationId?: string | undefined;
  readonly measure?: ((measurement: Measurement) => void) | undefined;
  /** True if no span may have content, also where it is switched on. */
  readonly withholdsContent?: boolean | undefined;
  /** The time, in milliseconds since the epoch. */
  readonly now?: () => number;
}

interface Turn {
  readonly span: Span;
  readonly byUser: boolean;
  /** True if the transcript has the user's words of this turn: what else the user says belongs to the next one. */
  heard: boolean;
  answered: boolean;
  /** Time of the last thing that happened in it, in milliseconds since the epoch. */
  activeAt: number;
  usage: TokenUsage | undefined;
  finishReasons: readonly string[] | undefined;
}

export class AgentTurns {
  readonly requests: ModelRequestObserver;
  #about: AboutAgent;
  readonly #withholdsContent: boolean;
  readonly #now: () => number;
  /** The trace of the call, kept because events of a session arrive outside of its span. */
  readonly #trace = currentTrace();
  readonly #common: Attributes;
  #turn: Turn | undefined;
  /** A turn that the user began before the present one was answered: an interruption, or nothing. */
  #next: Turn | undefined;
  readonly #turnOf = new WeakMap<ModelRequest, Turn>();

  constructor(options: AgentTurnsOptions) {
    const { conversationId, measure, withholdsContent = false, now = Date.now } = options;
    this.#about = options;
    this.#withholdsContent = withholdsContent;
    this.#now = now;
    this.#common = { [genAi.CONVERSATION_ID]: conversationId };
    this.requests = observeModelRequests({
      parent: (request) => {
        const turn = request.operation === genAi.SPEECH_TO_TEXT ? this.#hear(request.startedAt) : this.#open(request.startedAt);
        this.#turnOf.set(request, turn);
        return turn.span.context;
      },
      attributes: this.#common,
      withholdsContent,
      measure,
      now,
      onEnd: (request, answer) => this.#requested(request, answer),
    });
  }

  /** Notes that the user has said, written or pressed something. */
  heard(): void {
    this.#hear();
  }

  written(entries: readonly Entry[]): void {
    for (const { message, turn, interrupted = message?.interrupted } of entries) {
      if (message?.role === 'user') {
        this.#hear();
        if (this.#next !== undefined) this.#advance();
        this.#open().heard = true;
      }
      const isOfFormer = typeof message?.agent === 'string' && message.agent !== this.#about.agent.name;
      if (isOfFormer || (message?.role !== 'agent' && turn === undefined)) continue;
      const open = this.#open();
      // A message that a tool says while it works answers nothing.
      if (turn !== undefined || !open.byUser) open.answered = true;
      open.activeAt = this.#now();
      if (turn !== undefined) describe(open.span, turn, interrupted);
      if (open.answered && this.#next !== undefined) this.#advance();
    }
  }

  /** Starts a span within the turn; the caller ends it. */
  startSpan(start: SpanStart): Span {
    const turn = this.#open();
    const shown = (attributes: Attributes): Attributes => (this.#withholdsContent ? withoutContent(attributes) : attributes);
    const span = startSpan({
      ...start,
      parent: turn.span.context,
      attributes: { ...shown(start.attributes ?? {}), ...this.#common },
    });
    return {
      ...span,
      set: (attributes) => span.set(shown(attributes)),
      end: () => {
        turn.activeAt = this.#now();
        span.end();
      },
    };
  }

  /** Begins the turns of another agent: what the former one still says belongs to none. */
  handedOver(about: AboutAgent): void {
    this.close();
    this.#about = about;
  }

  failed(failure: string): void {
    this.#open().span.fail(failure);
  }

  close(): void {
    this.#end(this.#turn);
    this.#end(this.#next);
    this.#turn = undefined;
    this.#next = undefined;
  }

  /** Returns the turn of the user's words now. */
  #hear(startedAt?: number): Turn {
    const turn = this.#turn;
    if (turn?.answered === true) {
      this.#end(turn);
      this.#turn = undefined;
    } else if (turn !== undefined && (turn.heard || !turn.byUser)) return (this.#next ??= this.#begin({ byUser: true, startedAt }));
    return (this.#turn ??= this.#begin({ byUser: true, startedAt }));
  }

  /** Returns the turn of the agent's actions now. */
  #open(startedAt?: number): Turn {
    return (this.#turn ??= this.#begin({ byUser: false, startedAt }));
  }

  #advance(): void {
    this.#end(this.#turn);
    this.#turn = this.#next;
    this.#next = undefined;
  }

  #begin({ byUser, startedAt = this.#now() }: { readonly byUser: boolean; readonly startedAt?: number | undefined }): Turn {
    const { agent, llm } = this.#about;
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
    return { span, byUser, heard: false, answered: false, activeAt: this.#now(), usage: undefined, finishReasons: undefined };
  }

  #end(turn: Turn | undefined): void {
    turn?.span.set({ ...usageAttributes(turn.usage), [genAi.FINISH_REASONS]: turn.finishReasons });
    turn?.span.end(turn.activeAt);
  }

  #requested(request: ModelRequest, { usage, finishReasons }: ModelAnswer): void {
    const turn = this.#turnOf.get(request);
    if (turn === undefined) return;
    turn.activeAt = this.#now();
    if (request.operation !== genAi.CHAT) return;
    turn.usage = sumOf(turn.usage, usage);
    turn.finishReasons = finishReasons ?? turn.finishReasons;
  }
}

/** Writes the turn's latencies into its span. */
function describe(span: Span, turn: NonNullable<Entry['turn']>, interrupted: boolean | undefined): void {
  span.set({
    'parley.turn': turn.seq,
    'parley.turn.interrupted': interrupted,
    ...milliseconds('eou', turn.eou),
    ...milliseconds('stt', turn.stt),
    ...milliseconds('llm_ttft', turn.llmTtft),
    ...milliseconds('tts_ttfb', turn.ttsTtfb),
    ...milliseconds('v2v', turn.v2v),
  });
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
