/**
 * Counts the requests that go to language models and voices, whoever makes them: answers, summaries, hedged and repeated requests, analyses. A
 * request that is given up is paid for up to there: a model's provider doesn't tell any more how much that was, so it is estimated.
 */
import { CHAT, TEXT_TO_SPEECH } from '../../platform/telemetry/gen-ai/conventions.ts';
import type { ModelAnswer, ModelRequest, ModelRequestObserver, TokenUsage } from '../../platform/telemetry/gen-ai/model-requests.ts';
import { estimate, type CountedRequest, type CountTokens, type TokenAmounts } from './token-usage.ts';
import type { UsageOf } from './usage-line.ts';
import type { UsageMeter } from './usage-meter.ts';

export interface ProviderUsage {
  readonly meter: UsageMeter;
  readonly countTokens: CountTokens;
}

export interface CountedRequestsOptions extends ProviderUsage {
  readonly purpose: UsageOf['purpose'];
}

export function countedRequests({ meter, purpose, countTokens }: CountedRequestsOptions): ModelRequestObserver {
  /** The last request that its provider has counted, by provider and model. */
  const known = new Map<string, CountedRequest>();

  const countCompletion = ({ provider, model = '', body = '' }: ModelRequest, { usage, text = '' }: ModelAnswer): void => {
    const of = { kind: 'llm', purpose, provider, model } as const;
    const key = JSON.stringify([provider, model]);
    const reported = reportedIn(usage);
    if (reported !== undefined) {
      known.set(key, { body, inputTokens: reported.inputTokens });
      meter.add(of, { requests: 1, ...reported });
    } else
      meter.addLater(
        of,
        estimate({ body, answer: text, known: known.get(key), countTokens }).then((tokens) => ({
          requests: 1,
          estimatedRequests: 1,
          ...tokens,
        })),
      );
  };

  return {
    begin: (request) => {
      let counted = false;
      return {
        firstChunk: () => undefined,
        end(outcome, answer) {
          // What was refused, or has not arrived, is not paid for.
          if (counted || (typeof outcome === 'object' && answer === undefined)) return;
          counted = true;
          const { operation, provider, model = '', characters = 0 } = request;
          if (operation === CHAT) countCompletion(request, answer ?? {});
          if (operation === TEXT_TO_SPEECH)
            meter.add(
              { kind: 'tts', purpose, provider, model },
              { requests: 1, characters, audioMilliseconds: answer?.audioMilliseconds ?? 0 },
            );
        },
      };
    },
  };
}

/** @returns undefined where the provider reports nothing */
function reportedIn(usage: TokenUsage | undefined): TokenAmounts | undefined {
  const [inputTokens, outputTokens, cached, reasoningTokens] = [
    usage?.inputTokens,
    usage?.outputTokens,
    usage?.cachedTokens,
    usage?.reasoningTokens,
  ].map((tokens = 0) => Math.max(0, tokens)) as [number, number, number, number];
  if (inputTokens + outputTokens === 0) return undefined;
  return { inputTokens, cachedInputTokens: Math.min(inputTokens, cached), outputTokens, reasoningTokens };
}
