/**
 * Limits the length of requests to a model, in bytes. Tokens are estimated as many for each byte as the provider has counted in its last
 * answer: right for its own tokenizer and for the language that is spoken, while a tokenizer of ours would be right for one provider and
 * take 67 MB in each call.
 */

/** Windows by names of models, the first that fits; what gateways put before the name doesn't matter. */
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
/** Window of models that are not known by their name. */
const UNKNOWN = 32_768;

/** Bytes per token until the provider has counted: English has 4.3 in OpenAI's tokenizer, Thai 1.6 in an old one. */
const USUAL_BYTES_PER_TOKEN = 3;
/** Range that is believed: some servers count nothing, or messages in place of tokens. */
const PLAUSIBLE_BYTES_PER_TOKEN = { least: 0.5, most: 20 } as const;
/** Share of the window that is used: the rest is for what providers add to a request, and for the error of the estimate. */
const USED = 0.9;
/** Tokens left for the answer where the agent doesn't limit it. */
const ANSWER_TOKENS = 1_024;
/** Largest share of a window that is left for the answer; also where the agent limits it, for servers add that limit to the request. */
const ANSWER_SHARE = { unlimited: 0.25, limited: 0.5 } as const;
/** Share of a request that was too long which the next one may have. */
const AFTER_REFUSAL = 0.5;

export function contextTokensOf(model: string): number {
  return FAMILIES.find(([name]) => name.test(model.toLowerCase()))?.[1] ?? UNKNOWN;
}

export interface ContextWindowOptions {
  readonly model: string;
  /** Window of the agent's settings; from the model's family where absent. */
  readonly contextTokens?: number | undefined;
  /** Longest answer, in tokens. */
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

  /** Notes how many tokens the provider counted in a request. */
  counted(bytes: number, tokens: number): void {
    const ratio = bytes / tokens;
    const { least, most } = PLAUSIBLE_BYTES_PER_TOKEN;
    if (ratio >= least && ratio <= most) this.#bytesPerToken = ratio;
  }

  /** Shrinks the window after the provider found a request too long: it is smaller than the model's name let expect. */
  refused(bytes: number): void {
    this.#refusedAbove = Math.min(this.bytes, bytes) * AFTER_REFUSAL;
  }
}
