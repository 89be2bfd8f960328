/** Usage of providers in a call, added up by provider and model. */
import type { UsageLine } from '../../store/index.ts';

/** Amounts that are added up. */
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

/** Says who is paid, and for what. */
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
