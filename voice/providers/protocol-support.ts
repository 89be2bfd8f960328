/** What the STT and TTS protocols share. */
import { failureOf, type ProviderEndpoint, type ProviderError } from '../calls/provider-access/index.ts';

/** `de` of `de-AT`. */
export const baseLanguage = (language: string): string => language.split('-')[0]!.toLowerCase();

/** OpenAI's own API refuses fields that compatible servers accept, and requires a key. */
export const isOpenAi = (baseURL: string): boolean => new URL(baseURL).host === 'api.openai.com';

export const azureAddressMissing = (endpoint: ProviderEndpoint, example: string, field: string): ProviderError =>
  failureOf(endpoint, 'refused', `has an address for each region: set ${field}.baseURL to yours, such as ${example}`);
