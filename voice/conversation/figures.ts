/** The figures of a conversation, for the log line of its call. */
import { CHAT, TEXT_TO_SPEECH } from '../../platform/telemetry/gen-ai/conventions.ts';
import type { ModelRequestObserver } from '../../platform/telemetry/gen-ai/model-requests.ts';
import type { ProviderError } from '../../calls/provider-access/index.ts';
import type { Entry } from './entry.ts';

export interface ConversationFigures {
  readonly messages: number;
  readonly turns: number;
  readonly interruptions: number;
  /** Names of the agents that have taken over, in order; absent where none has. */
  readonly takeovers?: readonly string[];
  /** Latency from voice to voice, in milliseconds; undefined where nothing was measured. */
  readonly v2v: { readonly p50: number; readonly p95: number } | undefined;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Number of characters that the agent spoke. */
  readonly characters: number;
  /** Number of failures by kind, such as `llm openai refused 401`. */
  readonly failures: Readonly<Record<string, number>>;
}

export class Figures {
  readonly #v2v: number[] = [];
  readonly #takeovers: string[] = [];
  readonly #failures = new Map<string, number>();
  #messages = 0;
  #turns = 0;
  #interruptions = 0;
  #promptTokens = 0;
  #completionTokens = 0;
  #characters = 0;

  readonly requests: ModelRequestObserver = {
    begin: ({ operation, characters = 0 }) => {
      if (operation === TEXT_TO_SPEECH) this.#characters += characters;
      let over = false;
      return {
        firstChunk: () => undefined,
        end: (_outcome, { usage } = {}) => {
          if (over || operation !== CHAT) return;
          over = true;
          this.#promptTokens += usage?.inputTokens ?? 0;
          this.#completionTokens += usage?.outputTokens ?? 0;
        },
      };
    },
  };

  written(entries: readonly Entry[]): void {
    for (const { message, turn, takeover } of entries) {
      if (takeover !== undefined) this.#takeovers.push(takeover.to);
      if (message !== undefined) this.#messages += 1;
      if (message?.interrupted === true) this.#interruptions += 1;
      if (turn === undefined) continue;
      this.#turns += 1;
      if (turn.v2v !== null) this.#v2v.push(turn.v2v);
    }
  }

  failed({ part, provider, kind, status }: ProviderError): void {
    const name = [part, provider, kind, status].filter((word) => word !== undefined).join(' ');
    this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
  }

  figures(): ConversationFigures {
    const sorted = this.#v2v.toSorted((a, b) => a - b);
    return {
      messages: this.#messages,
      turns: this.#turns,
      interruptions: this.#interruptions,
      ...(this.#takeovers.length > 0 && { takeovers: [...this.#takeovers] }),
      v2v: sorted.length === 0 ? undefined : { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) },
      promptTokens: this.#promptTokens,
      completionTokens: this.#completionTokens,
      characters: this.#characters,
      failures: Object.fromEntries(this.#failures),
    };
  }
}

/** Returns the smallest value that at least this share of all values does not exceed; rounded. */
function quantile(sorted: readonly number[], share: number): number {
  return Math.round(sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0);
}
