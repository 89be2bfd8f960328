/** Observes requests to models, as spans and measurements of OpenTelemetry's conventions for generative AI. */
import type { TraceContext } from '../trace-context.ts';
import { startSpan, type Attributes } from '../tracing.ts';
import { withoutContent } from './content.ts';
import * as genAi from './conventions.ts';

export interface ModelRequest {
  readonly operation: typeof genAi.CHAT | typeof genAi.SPEECH_TO_TEXT | typeof genAi.TEXT_TO_SPEECH;
  readonly provider: string;
  /** Name of the model; absent for the provider's default. */
  readonly model?: string | undefined;
  /** Base URL of the provider. */
  readonly address?: string | undefined;
  readonly streams: boolean;
  /** Start of the request, in milliseconds since the epoch; default now. */
  readonly startedAt?: number | undefined;
  readonly attributes?: Attributes;
  /** The JSON of a request for a completion: its tokens are estimated where the provider doesn't report them. */
  readonly body?: string | undefined;
  /** Number of characters that a voice is asked to say. */
  readonly characters?: number | undefined;
}

export interface TokenUsage {
  /** Tokens of the input, cached ones included. */
  readonly inputTokens: number;
  /** Tokens of the output, reasoning included. */
  readonly outputTokens: number;
  readonly cachedTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
}

export interface ModelAnswer {
  readonly id?: string | undefined;
  readonly model?: string | undefined;
  readonly finishReasons?: readonly string[] | undefined;
  readonly usage?: TokenUsage | undefined;
  readonly attributes?: Attributes;
  /** Text that a model has written: words, reasoning and tool calls. */
  readonly text?: string | undefined;
  readonly audioMilliseconds?: number | undefined;
}

/** `cancelled` means that the asker wanted no more of it, such as of an interrupted answer. */
export type RequestOutcome = 'completed' | 'cancelled' | { readonly failure: string };

export interface ObservedRequest {
  /** Notes that the first part of the answer has come; later calls count nothing. */
  firstChunk(): void;
  /** Ends the request once; later calls are ignored. @param answer absent where the provider has not accepted the request */
  end(outcome: RequestOutcome, answer?: ModelAnswer): void;
}

export interface ModelRequestObserver {
  begin(request: ModelRequest): ObservedRequest;
}

export interface Measurement {
  readonly operation: string;
  readonly provider: string;
  readonly model: string;
  /** Duration; absent for a cancelled request, because how long it would have taken isn't known. */
  readonly seconds?: number | undefined;
  readonly firstChunkSeconds?: number | undefined;
  readonly usage?: Pick<TokenUsage, 'inputTokens' | 'outputTokens'> | undefined;
  readonly failure?: string | undefined;
}

export interface ModelRequestObserverOptions {
  /** Finds the trace to which the spans belong; the current one by default. */
  readonly parent?: (request: ModelRequest) => TraceContext | undefined;
  readonly attributes?: Attributes;
  /** True if no span may have content, also where it is switched on. */
  readonly withholdsContent?: boolean | undefined;
  readonly measure?: ((measurement: Measurement) => void) | undefined;
  readonly onEnd?: (request: ModelRequest, answer: ModelAnswer) => void;
  /** Returns milliseconds since the epoch. */
  readonly now?: () => number;
}

export function observeModelRequests(options: ModelRequestObserverOptions): ModelRequestObserver {
  const { parent = () => undefined, attributes: common, withholdsContent = false, measure, onEnd, now = Date.now } = options;
  const shown = (attributes: Attributes): Attributes => (withholdsContent ? withoutContent(attributes) : attributes);
  return {
    begin(begun) {
      // The observers that get the request see the same start.
      const request = { ...begun, startedAt: begun.startedAt ?? now() };
      const { operation, model, streams, address, attributes, startedAt } = request;
      const provider = genAi.providerName(operation, request.provider);
      const span = startSpan({
        name: genAi.spanName(operation, model),
        kind: 'client',
        parent: parent(request),
        startedAt,
        attributes: {
          [genAi.OPERATION_NAME]: operation,
          [genAi.PROVIDER_NAME]: provider,
          [genAi.REQUEST_MODEL]: model,
          ...genAi.serverOf(address),
          ...(streams && { [genAi.REQUEST_STREAM]: true }),
          ...common,
          ...shown(attributes ?? {}),
        },
      });
      let firstChunkSeconds: number | undefined;
      let over = false;
      return {
        firstChunk: () => void (firstChunkSeconds ??= (now() - startedAt) / 1_000),
        end(outcome, answer = {}) {
          if (over) return;
          over = true;
          const failure = typeof outcome === 'object' ? outcome.failure : undefined;
          span.set({
            ...shown(attributesOf(answer)),
            ...(streams && { [genAi.TIME_TO_FIRST_CHUNK]: firstChunkSeconds }),
            ...(outcome === 'cancelled' && { 'parley.cancelled': true }),
          });
          if (failure !== undefined) span.fail(failure);
          span.end();
          measure?.({
            operation,
            provider,
            model: model ?? '',
            seconds: outcome === 'cancelled' ? undefined : (now() - startedAt) / 1_000,
            firstChunkSeconds: streams ? firstChunkSeconds : undefined,
            usage: answer.usage && { inputTokens: answer.usage.inputTokens, outputTokens: answer.usage.outputTokens },
            failure,
          });
          onEnd?.(request, answer);
        },
      };
    },
  };
}

export const unobserved = observedBy();

/** Combines several observers in one: spans and metrics, and usage. */
export function observedBy(...observers: readonly (ModelRequestObserver | undefined)[]): ModelRequestObserver {
  return {
    begin(request) {
      const all = observers.flatMap((observer) => observer?.begin(request) ?? []);
      return {
        firstChunk: () => all.forEach((observed) => observed.firstChunk()),
        end: (outcome, answer) => all.forEach((observed) => observed.end(outcome, answer)),
      };
    },
  };
}

function attributesOf({ id, model, finishReasons, usage, attributes }: ModelAnswer): Attributes {
  return {
    [genAi.RESPONSE_ID]: id,
    [genAi.RESPONSE_MODEL]: model,
    [genAi.FINISH_REASONS]: finishReasons,
    ...usageAttributes(usage),
    ...attributes,
  };
}

export function usageAttributes(usage: TokenUsage | undefined): Attributes {
  return {
    [genAi.INPUT_TOKENS]: usage?.inputTokens,
    [genAi.OUTPUT_TOKENS]: usage?.outputTokens,
    [genAi.CACHED_TOKENS]: usage?.cachedTokens,
    [genAi.REASONING_TOKENS]: usage?.reasoningTokens,
  };
}
