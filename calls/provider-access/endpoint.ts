/** Address, key and model of an agent's LLM, STT or TTS: the agent's own settings, completed by the operator's. */
import { readFile } from 'node:fs/promises';

import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { Config } from '../../platform/config/config.ts';
import { ProviderKeyError, type ProviderKeyReader, type SecretKeyRef } from './provider-key-reader.ts';
import { toCallFailure, PART_NAMES, ProviderError, type ProviderPart } from './provider-failure.ts';
import { present } from '../../platform/present.ts';

export type ProviderDefaults = Config['PARLEY_PROVIDERS'];

export interface ProviderEndpoint {
  readonly part: ProviderPart;
  readonly provider: string;
  /** OpenAI's protocol, or the provider's own. */
  readonly protocol: 'openai' | 'own';
  /** Address without a slash at the end; undefined for the provider's usual one. */
  readonly baseURL?: string;
  /** The agent has chosen the address: requests there go through the egress guard. */
  readonly guarded: boolean;
  /** Absent where neither the agent nor the operator sets one: self-hosted servers often need none. */
  readonly apiKey?: string;
  /** Absent for the provider's default model. */
  readonly model?: string;
  readonly voice?: string;
  /** The agent has a name of the voice, and no id. */
  readonly voiceIsName?: true;
}

export interface EndpointOptions {
  readonly org: string;
  readonly keys: ProviderKeyReader;
  readonly defaults: ProviderDefaults;
  /** Environment in which `apiKeyEnv` of the defaults is looked up; the process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

interface Wanted {
  readonly provider: string;
  readonly model?: string | undefined;
  readonly voice?: { readonly id?: string | undefined; readonly name?: string | undefined } | undefined;
  readonly baseURL?: string | undefined;
  readonly apiKeySecretRef?: SecretKeyRef | undefined;
}

type AgentSettings = AgentRevisionConfig['agent'];
/** The language model of an agent, or of one of its fallbacks. */
export type WantedLlm = NonNullable<AgentSettings['llm']['fallbacks']>[number];
export type WantedStt = Omit<AgentSettings['speechToText'], 'fallbacks' | 'keywords'>;
export type WantedTts = Omit<AgentSettings['textToSpeech'], 'fallbacks' | 'temperature' | 'speed' | 'volume'>;

/** Addresses of providers with OpenAI's protocol, without a slash at the end. */
const OPENAI_ADDRESSES: Readonly<Record<string, string>> = {
  openai: 'https://api.openai.com/v1',
  groq: 'https://api.groq.com/openai/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta/openai',
  anthropic: 'https://api.anthropic.com/v1',
};

/** @throws ProviderError `refused` where the language model can't be used as it is configured */
export async function llmEndpointOf({
  llm,
  ...options
}: EndpointOptions & { readonly llm: WantedLlm }): Promise<ProviderEndpoint & { readonly baseURL: string; readonly model: string }> {
  const endpoint = await endpointOf('llm', llm, options);
  const baseURL = endpoint.baseURL ?? OPENAI_ADDRESSES[llm.provider];
  if (baseURL === undefined) throw withoutAddress(endpoint);
  const azure = llm.provider === 'azure_openai' && new URL(baseURL).pathname === '/';
  // The address of an Azure resource as its page shows it has no path.
  return { ...endpoint, protocol: 'openai', baseURL: azure ? `${baseURL}/openai/v1` : baseURL, model: endpoint.model ?? llm.model };
}

/** @throws ProviderError `refused` */
export function sttEndpointOf({ stt, ...options }: EndpointOptions & { readonly stt: WantedStt }): Promise<ProviderEndpoint> {
  return speechEndpointOf('stt', stt, options);
}

/** @throws ProviderError `refused` */
export function ttsEndpointOf({ tts, ...options }: EndpointOptions & { readonly tts: WantedTts }): Promise<ProviderEndpoint> {
  return speechEndpointOf('tts', tts, options);
}

async function speechEndpointOf(part: ProviderPart, wanted: Wanted, options: EndpointOptions): Promise<ProviderEndpoint> {
  const endpoint = await endpointOf(part, wanted, options);
  if (endpoint.protocol === 'own') return endpoint;
  const baseURL = endpoint.baseURL ?? OPENAI_ADDRESSES[wanted.provider];
  if (baseURL === undefined) throw withoutAddress(endpoint);
  return { ...endpoint, baseURL };
}

async function endpointOf(part: ProviderPart, wanted: Wanted, options: EndpointOptions): Promise<ProviderEndpoint> {
  const { provider } = wanted;
  const entry = options.defaults.find(({ name }) => name === provider);
  const fromAgent = wanted.baseURL;
  // The operator's key and models never go to an address that the agent chose.
  const set = fromAgent === undefined ? entry : undefined;
  const replaces = set?.baseURL !== undefined;
  const model = preferred(modelOf(part, set), wanted.model, replaces);
  const voice = preferred(part === 'tts' ? set?.voice : undefined, wanted.voice?.id ?? wanted.voice?.name, replaces);
  const voiceIsName = voice !== undefined && wanted.voice?.id === undefined && voice === wanted.voice?.name;
  const baseURL = (fromAgent ?? set?.baseURL)?.replace(/\/+$/, '');
  const apiKey =
    wanted.apiKeySecretRef === undefined
      ? await operatorsKey(part, set, options.env ?? process.env)
      : await agentsKey(part, provider, wanted.apiKeySecretRef, options);
  return {
    part,
    provider,
    protocol: replaces || provider === 'openai' || provider === 'openai_compatible' || part === 'llm' ? 'openai' : 'own',
    guarded: fromAgent !== undefined,
    ...present({ baseURL, apiKey, model, voice }),
    ...(voiceIsName && { voiceIsName }),
  };
}

/** A server that replaces a provider has other models and voices than the provider. */
const preferred = (operators: string | undefined, agents: string | undefined, replaces: boolean): string | undefined =>
  replaces ? (operators ?? agents) : (agents ?? operators);

const modelOf = (part: ProviderPart, entry: ProviderDefaults[number] | undefined): string | undefined =>
  ({ llm: entry?.llmModel, stt: entry?.sttModel, tts: entry?.ttsModel })[part];

async function agentsKey(part: ProviderPart, provider: string, ref: SecretKeyRef, { org, keys }: EndpointOptions): Promise<string> {
  try {
    return await keys.read(org, ref);
  } catch (error) {
    if (!(error instanceof ProviderKeyError)) throw error;
    const kind = error.reason === 'unavailable' ? 'unreachable' : 'refused';
    throw new ProviderError({
      part,
      kind,
      provider,
      message: `the key of ${provider} (${PART_NAMES[part]}) is missing: ${error.message}`,
      cause: error,
    });
  }
}

async function operatorsKey(
  part: ProviderPart,
  entry: ProviderDefaults[number] | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (entry === undefined) return undefined;
  const { name, apiKeyEnv, apiKeyFile } = entry;
  if (apiKeyEnv === undefined && apiKeyFile === undefined) return undefined;
  const key = apiKeyEnv === undefined ? await readKeyFile(apiKeyFile) : env[apiKeyEnv]?.trim();
  if (key !== undefined && key !== '') return key;
  const where = apiKeyEnv === undefined ? `file ${apiKeyFile}, which can't be read or is empty` : `variable ${apiKeyEnv}, which is not set`;
  const message = `the key of ${name} (${PART_NAMES[part]}) is to come from the ${where}: correct it, or PARLEY_PROVIDERS`;
  throw new ProviderError({ part, kind: 'refused', provider: name, message });
}

/** Reads the file for each call: a mounted Secret may change at any time. */
const readKeyFile = (file: string | undefined): Promise<string | undefined> =>
  file === undefined
    ? Promise.resolve(undefined)
    : readFile(file, 'utf8').then(
        (text) => text.trim(),
        () => undefined,
      );

const AGENT_FIELDS: Readonly<Record<ProviderPart, string>> = { llm: 'llm', stt: 'speechToText', tts: 'textToSpeech' };

const withoutAddress = (endpoint: ProviderEndpoint): ProviderError =>
  toCallFailure(
    endpoint,
    'refused',
    `has no address of its own: set ${AGENT_FIELDS[endpoint.part]}.baseURL, or an entry in PARLEY_PROVIDERS`,
  );

/** @throws ProviderError `refused` without a key, for services that can't be used without one */
export function requireApiKey(endpoint: ProviderEndpoint): string {
  if (endpoint.apiKey !== undefined) return endpoint.apiKey;
  const field = `${AGENT_FIELDS[endpoint.part]}.apiKeySecretRef`;
  throw toCallFailure(endpoint, 'refused', `needs a key: set ${field}, or a key for it in PARLEY_PROVIDERS`);
}
