/** Lists the streaming APIs that speech-to-text knows, each with the arguments of its provider's own client for the same. */
import type { ProviderEndpoint } from '../../../../calls/provider-access/index.ts';
import { KEY } from '../speech-apis.ts';
import { ink } from './cartesia-api.ts';
import { azure } from './azure-api.ts';
import { universalStreaming } from './assemblyai-api.ts';
import { flux, nova } from './deepgram-api.ts';
import { realtime, realtimeLive } from './openai-api.ts';
import { scribe } from './elevenlabs-api.ts';
import type { FakeApi } from './streaming-server.ts';

export interface StreamingCase {
  readonly name: string;
  readonly api: FakeApi;
  readonly endpoint: Partial<ProviderEndpoint> & Pick<ProviderEndpoint, 'provider'>;
  /** Path in `baseURL`. */
  readonly path: string;
  /** Set if words are known only once the user has paused. */
  readonly interimsAfterPause?: true;
  /** Set if silence is not sent. */
  readonly speechOnly?: true;
  /** A function of official_streaming_clients.py and its settings, for American English. */
  readonly official: {
    readonly client: string;
    readonly settings: object;
    /** Settings that ask for {@link KEYWORDS}, and the model where the other takes none. */
    readonly keywords: { readonly model?: string; readonly settings: object };
  };
}

export const KEYWORDS = ['Aare', 'Zürich'];

/** The server speaks OpenAI's protocol and is not OpenAI's own. */
const compatible = { provider: 'openai_compatible', protocol: 'openai' } as const;
const realtimeSession = (transcription: object): object => ({
  type: 'transcription',
  audio: { input: { format: { type: 'audio/pcm', rate: 24_000 }, transcription, turn_detection: null } },
});

const linear16 = { encoding: 'linear16', sample_rate: 16_000 } as const;

export const CASES: readonly StreamingCase[] = [
  {
    name: "Deepgram's Nova",
    api: nova,
    endpoint: { provider: 'deepgram' },
    path: '/v1',
    official: {
      client: 'deepgram',
      settings: {
        model: 'nova-3',
        language: 'en-US',
        ...linear16,
        channels: 1,
        interim_results: true,
        smart_format: true,
        endpointing: 300,
      },
      keywords: { settings: { keyterm: KEYWORDS } },
    },
  },
  {
    name: "Deepgram's Flux",
    api: flux,
    endpoint: { provider: 'deepgram', model: 'flux-general-en' },
    path: '/v1',
    official: {
      client: 'deepgram_flux',
      settings: { model: 'flux-general-en', ...linear16 },
      keywords: { settings: { keyterm: KEYWORDS } },
    },
  },
  {
    name: "OpenAI's realtime transcription",
    api: realtime,
    endpoint: compatible,
    path: '/v1',
    interimsAfterPause: true,
    speechOnly: true,
    official: {
      client: 'openai',
      settings: { model: 'whisper-1', session: realtimeSession({ model: 'whisper-1', language: 'en' }) },
      keywords: { settings: { session: realtimeSession({ model: 'whisper-1', language: 'en', prompt: KEYWORDS.join(', ') }) } },
    },
  },
  {
    name: "OpenAI's live transcription",
    api: realtimeLive,
    endpoint: { ...compatible, model: 'gpt-live-transcribe' },
    path: '/v1',
    speechOnly: true,
    official: {
      client: 'openai',
      settings: { model: 'gpt-live-transcribe', session: realtimeSession({ model: 'gpt-live-transcribe', languages: ['en'] }) },
      keywords: { settings: { session: realtimeSession({ model: 'gpt-live-transcribe', languages: ['en'], keywords: KEYWORDS }) } },
    },
  },
  {
    name: "ElevenLabs' Scribe",
    api: scribe,
    endpoint: { provider: 'elevenlabs' },
    path: '/v1',
    official: {
      client: 'elevenlabs',
      settings: { model_id: 'scribe_v2_realtime', language_code: 'en', sample_rate: 16_000 },
      keywords: { settings: { keyterms: KEYWORDS } },
    },
  },
  {
    name: "Cartesia's Ink",
    api: ink,
    endpoint: { provider: 'cartesia' },
    path: '',
    official: {
      client: 'cartesia',
      settings: { model: 'ink-whisper', language: 'en', encoding: 'pcm_s16le', sample_rate: 16_000 },
      keywords: { model: 'ink-2', settings: { model: 'ink-2', keyterm: KEYWORDS } },
    },
  },
  {
    name: 'Azure',
    api: azure,
    endpoint: { provider: 'azure' },
    path: '',
    official: {
      client: 'azure',
      settings: { speech_recognition_language: 'en-US' },
      keywords: { settings: { phrases: KEYWORDS } },
    },
  },
  {
    name: "AssemblyAI's Universal-Streaming",
    api: universalStreaming,
    endpoint: { provider: 'assemblyai' },
    path: '',
    official: {
      client: 'assemblyai',
      settings: { sample_rate: 16_000, encoding: 'pcm_s16le', speech_model: 'universal-streaming-english' },
      keywords: { settings: { keyterms_prompt: KEYWORDS } },
    },
  },
];

export function endpointAt(url: string, { endpoint, path }: Pick<StreamingCase, 'endpoint' | 'path'>): ProviderEndpoint {
  return { part: 'stt', protocol: 'own', guarded: true, apiKey: KEY, baseURL: `${url}${path}`, ...endpoint };
}
