/** What the STT and TTS protocols and the lists of voices share. */
import { failureOf, keyOf, type ProviderEndpoint, type ProviderError } from '../calls/provider-access/index.ts';

/** `de` of `de-AT`. */
export const baseLanguage = (language: string): string => language.split('-')[0]!.toLowerCase();

/** OpenAI's own API refuses fields that compatible servers accept, and requires a key. */
export const isOpenAi = (baseURL: string): boolean => new URL(baseURL).host === 'api.openai.com';

interface Api {
  readonly baseURL: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws ProviderError `refused` without a key */
export const elevenLabsApi = (endpoint: ProviderEndpoint): Api => ({
  baseURL: endpoint.baseURL ?? 'https://api.elevenlabs.io/v1',
  headers: { 'xi-api-key': keyOf(endpoint) },
});

/** @throws ProviderError `refused` without a key */
export const cartesiaApi = (endpoint: ProviderEndpoint): Api => ({
  baseURL: endpoint.baseURL ?? 'https://api.cartesia.ai',
  headers: { authorization: `Bearer ${keyOf(endpoint)}`, 'cartesia-version': '2025-04-16' },
});

export const azureAddressMissing = (endpoint: ProviderEndpoint, example: string, field: string): ProviderError =>
  failureOf(endpoint, 'refused', `has an address for each region: set ${field}.baseURL to yours, such as ${example}`);
