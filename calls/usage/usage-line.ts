/** What a call uses of providers, added up by provider and model. */
import type { UsageLine } from '../../store/index.ts';

/** What is added up. */
export type UsageAmounts = Pick<
  UsageLine,
  | 'requests'
  | 'estimatedRequests'
  | 'inputTokens'
  | 'cachedInputTokens'
  | 'outputTokens'
  | 'reasoningTokens'
  | 'characters'
  | 'audioMilliseconds'
>;

/** Who is paid, and for what. */
export type UsageOf = Pick<UsageLine, 'kind' | 'purpose' | 'provider' | 'model'>;

export const NOTHING_USED: UsageAmounts = {
  requests: 0,
  estimatedRequests: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  characters: 0,
  audioMilliseconds: 0,
};
