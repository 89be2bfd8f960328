/** The tokens of requests to language models, estimated where the provider doesn't report them. */
import type { UsageAmounts } from './usage-line.ts';

export type CountTokens = (texts: readonly string[]) => Promise<readonly number[]>;

/** Tokens that each message has for its role and its bounds: https://developers.openai.com/cookbook/examples/how_to_count_tokens_with_tiktoken */
const TOKENS_PER_MESSAGE = 4;
/** Bytes that count as a token where there is no tokenizer. */
const BYTES_PER_TOKEN = 4;

export type TokenAmounts = Pick<UsageAmounts, 'inputTokens' | 'cachedInputTokens' | 'outputTokens' | 'reasoningTokens'>;

/** A request, with what the provider counted in it. */
export interface CountedRequest {
  readonly body: string;
  readonly inputTokens: number;
}

export interface EstimateOptions {
  /** The JSON of the request. */
  readonly body: string;
  /** The answer as far as the model has written it: words, reasoning and tool calls. */
  readonly answer: string;
  /** A request to the same model: its count holds for what is the same in both. */
  readonly known: CountedRequest | undefined;
  readonly countTokens: CountTokens;
}

/** Never fails: without a tokenizer it goes by the length. */
export async function estimate({ body, answer, known, countTokens }: EstimateOptions): Promise<TokenAmounts> {
  const asked = requestParts(body);
  const before = known === undefined ? [] : requestParts(known.body);
  const changes = [
    ...without(asked, before).map((part) => ({ part, sign: 1 })),
    ...without(before, asked).map((part) => ({ part, sign: -1 })),
  ];
  const texts = [...changes.map(({ part }) => part.text), answer];
  const counts = await countedOrByLength(texts, countTokens);
  const inputTokens = changes.reduce(
    (sum, { part, sign }, index) => sum + sign * ((counts[index] ?? 0) + part.more),
    known?.inputTokens ?? 0,
  );
  return { inputTokens: Math.max(0, inputTokens), cachedInputTokens: 0, outputTokens: counts.at(-1) ?? 0, reasoningTokens: 0 };
}

/** Counts the tokens of texts; without a tokenizer by their length. Never fails. */
export function countedOrByLength(texts: readonly string[], countTokens: CountTokens): Promise<readonly number[]> {
  return countTokens(texts).catch(() => texts.map((text) => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)));
}

interface Part {
  readonly text: string;
  /** Tokens beyond those of the text. */
  readonly more: number;
}

/** Returns the parts that the others don't have, or have less often. */
function without(parts: readonly Part[], others: readonly Part[]): readonly Part[] {
  const left = new Map<string, number>();
  for (const { text } of others) left.set(text, (left.get(text) ?? 0) + 1);
  return parts.filter(({ text }) => {
    const times = left.get(text) ?? 0;
    left.set(text, times - 1);
    return times <= 0;
  });
}

function requestParts(body: string): readonly Part[] {
  const { messages = [], tools } = parsed(body) as { readonly messages?: readonly object[]; readonly tools?: unknown };
  const texts = messages.map((message) => {
    const { role: _role, ...rest } = message as Readonly<Record<string, unknown>>;
    const text = Object.values(rest)
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      .join(' ');
    return { text, more: TOKENS_PER_MESSAGE };
  });
  return tools === undefined ? texts : [{ text: JSON.stringify(tools), more: 0 }, ...texts];
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
