/** Helpers that the STT and TTS protocols and the lists of voices share. */
import { parseJson } from '../../platform/json.ts';
import { toCallFailure, requireApiKey, type ProviderEndpoint, type ProviderError } from '../../calls/provider-access/index.ts';

/** Returns the base language: `de` of `de-AT`. */
export const baseLanguage = (language: string): string => language.split('-')[0]!.toLowerCase();

/** Returns whether an address is OpenAI's own, which refuses fields that compatible servers accept, and requires a key. */
export const isOpenAi = (baseURL: string): boolean => new URL(baseURL).host === 'api.openai.com';

interface Api {
  readonly baseURL: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Builds ElevenLabs' address and headers. @throws ProviderError `refused` without a key */
export const elevenLabsApi = (endpoint: ProviderEndpoint): Api => ({
  baseURL: endpoint.baseURL ?? 'https://api.elevenlabs.io/v1',
  headers: { 'xi-api-key': requireApiKey(endpoint) },
});

/** Builds Cartesia's address and headers. @throws ProviderError `refused` without a key */
export const cartesiaApi = (endpoint: ProviderEndpoint): Api => ({
  baseURL: endpoint.baseURL ?? 'https://api.cartesia.ai',
  headers: { authorization: `Bearer ${requireApiKey(endpoint)}`, 'cartesia-version': '2025-04-16' },
});

export const azureAddressMissing = (endpoint: ProviderEndpoint, example: string, field: string): ProviderError =>
  toCallFailure(endpoint, 'refused', `has an address for each region: set ${field}.baseURL to yours, such as ${example}`);

export const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const asNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** Returns a member of an unknown value. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Readonly<Record<string | number, unknown>>)[step];
  }
  return current;
}

/** Parses JSON; other text stays as it is. */
export function parseMessage(text: string): unknown {
  return parseJson(text, text);
}

/** Parameters of an address; one with several values is repeated. */
export type Query = Readonly<Record<string, string | readonly string[]>>;

/** Returns the parameters as they stand in an address. Some servers take a plus sign for itself: spaces are `%20`. */
export function queryOf(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((each) => [name, each] as [string, string]));
  return new URLSearchParams(pairs).toString().replaceAll('+', '%20');
}

/** Returns the address of a WebSocket next to an HTTP API: `wss:` for `https:`, with a path and a query. */
export function socketUrl(baseURL: string, path: string, query: Query = {}): string {
  const parameters = queryOf(query);
  return `${baseURL.replace(/^http/, 'ws')}${path}${parameters === '' ? '' : `?${parameters}`}`;
}
