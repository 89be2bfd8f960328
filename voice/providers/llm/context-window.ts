/**
 * How long a request to a model may be, in bytes. Tokens are estimated as many for each byte as the provider has counted in its last answer: right for
 * its own tokenizer and for the language that is spoken, while a tokenizer of ours would be right for one provider and take 67 MB in each call.
 */

/** By names of models, the first that fits; what gateways put before the name doesn't matter. */
const FAMILIES: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/gpt-3\.5/, 16_385],
  [/gpt-4(-0|$)/, 8_192],
  [/gpt-4-32k/, 32_768],
  [/gpt-4\.1|gemini/, 1_048_576],
  [/gpt-[5-9]/, 272_000],
  [/gpt-4|gpt-oss|llama-?3[.-][123]|llama-?4|gemma-?3|deepseek|kimi|mistral-(large|medium|small)|ministral/, 128_000],
  [/claude|(^|\/)o[134]/, 200_000],
  [/llama-?3|gemma/, 8_192],
];
/** Of models that are not known by their name. */
const UNKNOWN = 32_768;

/** Of English in OpenAI's tokenizer 4.3, of Thai in an old one 1.6; until the provider has counted. */
const USUAL_BYTES_PER_TOKEN = 3;
/** Servers that count nothing, or messages in place of tokens, are not believed. */
const PLAUSIBLE_BYTES_PER_TOKEN = { least: 0.5, most: 20 } as const;
/** Of the window that is used: what providers add to a request, and the error of the estimate. */
const USED = 0.9;
/** Left for the answer where the agent doesn't limit it, in tokens. */
const ANSWER_TOKENS = 1_024;
/** Most of a window that is left for the answer; where the agent limits it, for servers add that limit to the request. */
const ANSWER_SHARE = { unlimited: 0.25, limited: 0.5 } as const;
/** Of a request that was too long, what the next may have. */
const AFTER_REFUSAL = 0.5;

export function contextTokensOf(model: string): number {
  return FAMILIES.find(([name]) => name.test(model.toLowerCase()))?.[1] ?? UNKNOWN;
}

export interface ContextWindowOptions {
  readonly model: string;
  /** As the agent has it; from the model's family where absent. */
  readonly contextTokens?: number | undefined;
  /** Longest answer. */
  readonly maxTokens?: number | undefined;
}

export class ContextWindow {
  readonly #tokens: number;
  #bytesPerToken = USUAL_BYTES_PER_TOKEN;
  #refusedAbove = Number.POSITIVE_INFINITY;

  constructor({ model, contextTokens = contextTokensOf(model), maxTokens }: ContextWindowOptions) {
    const { limited, unlimited } = ANSWER_SHARE;
    const answer = Math.min(maxTokens ?? ANSWER_TOKENS, contextTokens * (maxTokens === undefined ? unlimited : limited));
    this.#tokens = (contextTokens - answer) * USED;
  }

  /** Longest request, in bytes. */
  get bytes(): number {
    return Math.min(this.#tokens * this.#bytesPerToken, this.#refusedAbove);
  }

  tokensOf(bytes: number): number {
    return bytes / this.#bytesPerToken;
  }

  /** The provider says how many tokens a request had. */
  counted(bytes: number, tokens: number): void {
    const ratio = bytes / tokens;
    const { least, most } = PLAUSIBLE_BYTES_PER_TOKEN;
    if (ratio >= least && ratio <= most) this.#bytesPerToken = ratio;
  }

  /** The provider finds a request too long: its window is smaller than its name let expect. */
  refused(bytes: number): void {
    this.#refusedAbove = Math.min(this.bytes, bytes) * AFTER_REFUSAL;
  }
}
