/** The tokens that a server counts. */
import { isObject } from '../../platform/json.ts';
import type { TokenUsage } from '../../platform/telemetry/gen-ai/model-requests.ts';

/** @returns undefined where nothing is counted: zeros are placeholders */
export function usageOf(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const [input, completion, total] = [countOf(usage['prompt_tokens']), countOf(usage['completion_tokens']), countOf(usage['total_tokens'])];
  const cachedTokens = detailOf(usage['prompt_tokens_details'], 'cached_tokens');
  const reasoningTokens = detailOf(usage['completion_tokens_details'], 'reasoning_tokens');
  const inputTokens = input ?? Math.max(0, (total ?? 0) - (completion ?? 0));
  // Google and xAI count reasoning in the total alone.
  const reasonedOutside = (reasoningTokens ?? 0) > (completion ?? 0) ? reasoningTokens! : 0;
  const outputTokens = Math.max(completion ?? 0, total === undefined ? (completion ?? 0) + reasonedOutside : total - inputTokens);
  if (inputTokens + outputTokens === 0) return undefined;
  return { inputTokens, outputTokens, cachedTokens, reasoningTokens };
}

const countOf = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? Math.max(0, value as number) : undefined);

const detailOf = (details: unknown, name: string): number | undefined => (isObject(details) ? countOf(details[name]) : undefined);
