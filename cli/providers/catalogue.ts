/** Lists the providers that `parley dev --provider` can switch the example agent to: what each does, at which address, and whose key it takes. */
import type { ProviderPart } from '../../calls/provider-access/index.ts';
import { PROVIDER_VARIABLES } from '../agent-files/keys.ts';

export const PARTS = ['llm', 'stt', 'tts'] as const satisfies readonly ProviderPart[];

export interface KnownProvider {
  /** Name that people know it by. */
  readonly title: string;
  /** The `provider` of specs. */
  readonly provider: string;
  /** Address of each part that it has; `true` where the person has to give it. */
  readonly addresses: Readonly<Partial<Record<ProviderPart, string | true>>>;
  /** Variables of the environment that may have its key, the first that is set counts; none where it takes no key. */
  readonly variables: readonly string[];
  /** Whether it can't be used without a key. */
  readonly needsKey: boolean;
  /** Language model, unless the person names one; undefined to take the one that the server lists. */
  readonly model?: string;
  /** Page that has the keys of an account. */
  readonly keysPage?: string;
}

const OPENAI = 'https://api.openai.com/v1';
const DEEPGRAM = 'https://api.deepgram.com/v1';
const ELEVENLABS = 'https://api.elevenlabs.io/v1';
const CARTESIA = 'https://api.cartesia.ai';

export const KNOWN_PROVIDERS = {
  openai: {
    title: 'OpenAI',
    provider: 'openai',
    addresses: { llm: OPENAI, stt: OPENAI, tts: OPENAI },
    variables: [PROVIDER_VARIABLES.openai],
    needsKey: true,
    model: 'gpt-4o-mini',
    keysPage: 'platform.openai.com/api-keys',
  },
  anthropic: {
    title: 'Anthropic',
    provider: 'anthropic',
    addresses: { llm: 'https://api.anthropic.com/v1' },
    variables: [PROVIDER_VARIABLES.anthropic],
    needsKey: true,
    model: 'claude-haiku-4-5',
    keysPage: 'console.anthropic.com/settings/keys',
  },
  google: {
    title: 'Google',
    provider: 'google',
    addresses: {
      llm: 'https://generativelanguage.googleapis.com/v1beta/openai',
      stt: 'https://speech.googleapis.com/v1',
      tts: 'https://texttospeech.googleapis.com/v1',
    },
    // Google's own libraries read both.
    variables: [PROVIDER_VARIABLES.google, 'GOOGLE_API_KEY'],
    needsKey: true,
    model: 'gemini-2.5-flash',
    keysPage: 'aistudio.google.com/apikey',
  },
  groq: {
    title: 'Groq',
    provider: 'groq',
    addresses: { llm: 'https://api.groq.com/openai/v1' },
    variables: [PROVIDER_VARIABLES.groq],
    needsKey: true,
    model: 'llama-3.3-70b-versatile',
    keysPage: 'console.groq.com/keys',
  },
  deepgram: {
    title: 'Deepgram',
    provider: 'deepgram',
    addresses: { stt: DEEPGRAM, tts: DEEPGRAM },
    variables: ['DEEPGRAM_API_KEY'],
    needsKey: true,
    keysPage: 'console.deepgram.com',
  },
  elevenlabs: {
    title: 'ElevenLabs',
    provider: 'elevenlabs',
    addresses: { tts: ELEVENLABS, stt: ELEVENLABS },
    variables: ['ELEVENLABS_API_KEY'],
    needsKey: true,
    keysPage: 'elevenlabs.io/app/settings/api-keys',
  },
  cartesia: {
    title: 'Cartesia',
    provider: 'cartesia',
    addresses: { tts: CARTESIA, stt: CARTESIA },
    variables: ['CARTESIA_API_KEY'],
    needsKey: true,
    keysPage: 'play.cartesia.ai/keys',
  },
  assemblyai: {
    title: 'AssemblyAI',
    provider: 'assemblyai',
    addresses: { stt: 'https://streaming.assemblyai.com' },
    variables: ['ASSEMBLYAI_API_KEY'],
    needsKey: true,
    keysPage: 'www.assemblyai.com/dashboard',
  },
  azure_openai: {
    title: 'Azure OpenAI',
    provider: 'azure_openai',
    addresses: { llm: true },
    variables: [PROVIDER_VARIABLES.azure_openai],
    needsKey: true,
    keysPage: 'portal.azure.com',
  },
  ollama: {
    title: 'Ollama',
    provider: 'openai_compatible',
    addresses: { llm: 'http://127.0.0.1:11434/v1' },
    variables: [],
    needsKey: false,
  },
  openai_compatible: {
    title: 'the OpenAI-compatible server',
    provider: 'openai_compatible',
    addresses: { llm: true, stt: true, tts: true },
    variables: [PROVIDER_VARIABLES.openai_compatible],
    needsKey: false,
  },
} as const satisfies Readonly<Record<string, KnownProvider>>;

export type ProviderName = keyof typeof KNOWN_PROVIDERS;

export const PROVIDER_NAMES = Object.keys(KNOWN_PROVIDERS) as readonly ProviderName[];

export const knownProvider = (name: ProviderName): KnownProvider => KNOWN_PROVIDERS[name];

/** Takes the example agent back to the robot of the local stack. */
export const OFFLINE = 'offline';
