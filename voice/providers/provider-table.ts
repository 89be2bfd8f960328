/** Every speech provider with a protocol of its own; all others speak OpenAI's. CONTRIBUTING.md says how to add one. */
import { toCallFailure, type ProviderEndpoint, type ProviderError } from '../../calls/provider-access/index.ts';
import type { speechProviders } from '../../crds/providers.ts';
import * as stt from './stt/stt-protocols.ts';
import { cartesiaStreaming } from './stt/streaming/cartesia.ts';
import { azureStreaming } from './stt/streaming/azure.ts';
import { assemblyAiStreaming } from './stt/streaming/assemblyai.ts';
import { deepgramStreaming } from './stt/streaming/deepgram.ts';
import { openAiStreaming } from './stt/streaming/openai.ts';
import { elevenLabsStreaming } from './stt/streaming/elevenlabs.ts';
import type { SttStreaming } from './stt/streaming/protocol.ts';
import { cartesiaSpeech } from './tts/streaming/cartesia.ts';
import { elevenLabsSpeech } from './tts/streaming/elevenlabs.ts';
import type { TtsStreaming } from './tts/streaming/protocol.ts';
import * as tts from './tts/tts-protocols.ts';
import { cartesiaVoices, elevenLabsVoices, type VoiceDirectory } from './tts/voices.ts';

interface ProviderRow {
  /** Protocol with a request for each turn; absent where all models stream. */
  readonly stt?: (settings: stt.SttSettings) => stt.SttProtocol;
  /** Stream of a model; undefined for one that has none. */
  readonly sttStreaming?: (settings: stt.SttSettings) => SttStreaming | undefined;
  /** Protocol with a request for each sentence; absent where all models speak on a WebSocket. */
  readonly tts?: (settings: tts.TtsSettings) => tts.TtsProtocol;
  /** WebSocket of a model; undefined for one that is asked by requests only. */
  readonly ttsStreaming?: (settings: tts.TtsSettings) => TtsStreaming | undefined;
  /** Directory that finds its voices by name; absent where requests take names. */
  readonly voices?: (endpoint: ProviderEndpoint, name: string) => VoiceDirectory;
}

const PROVIDERS: Readonly<Record<Exclude<(typeof speechProviders)[number], 'openai' | 'openai_compatible'>, ProviderRow>> = {
  assemblyai: { sttStreaming: assemblyAiStreaming },
  azure: { sttStreaming: azureStreaming, tts: tts.azure },
  cartesia: { sttStreaming: cartesiaStreaming, ttsStreaming: cartesiaSpeech, voices: cartesiaVoices },
  deepgram: { stt: stt.deepgram, sttStreaming: deepgramStreaming, tts: tts.deepgram },
  elevenlabs: {
    stt: stt.elevenLabs,
    sttStreaming: elevenLabsStreaming,
    tts: tts.elevenLabs,
    ttsStreaming: elevenLabsSpeech,
    voices: elevenLabsVoices,
  },
  google: { stt: stt.google, tts: tts.google },
};

/** Returns the protocol for whole turns. @throws ProviderError `refused` */
export function sttProtocolOf(settings: stt.SttSettings): stt.SttProtocol {
  const { endpoint } = settings;
  const create = endpoint.protocol === 'openai' ? stt.openAi : rowOf(endpoint)?.stt;
  if (create === undefined) throw withoutProtocol(endpoint);
  return create(settings);
}

/** Returns the protocol for streams; undefined where each turn is one request. @throws ProviderError `refused` */
export function sttStreamingOf(settings: stt.SttSettings): SttStreaming | undefined {
  const { endpoint } = settings;
  return endpoint.protocol === 'openai' ? openAiStreaming(settings) : rowOf(endpoint)?.sttStreaming?.(settings);
}

/** Returns the protocol for sentences. @throws ProviderError `refused` */
export function ttsProtocolOf(settings: tts.TtsSettings): tts.TtsProtocol {
  const { endpoint } = settings;
  const create = endpoint.protocol === 'openai' ? tts.openAi : rowOf(endpoint)?.tts;
  if (create === undefined) throw withoutProtocol(endpoint);
  return create(settings);
}

/** Returns the protocol for the WebSocket; undefined where each sentence is one request. @throws ProviderError `refused` */
export function ttsStreamingOf(settings: tts.TtsSettings): TtsStreaming | undefined {
  const { endpoint } = settings;
  return endpoint.protocol === 'openai' ? undefined : rowOf(endpoint)?.ttsStreaming?.(settings);
}

/** Returns the directory of voices; undefined where requests take the voice as the agent has it. */
export function voicesOf(endpoint: ProviderEndpoint): VoiceDirectory | undefined {
  const { protocol, voice, voiceIsName } = endpoint;
  if (voiceIsName === undefined || voice === undefined || protocol === 'openai') return undefined;
  return rowOf(endpoint)?.voices?.(endpoint, voice);
}

const rowOf = ({ provider }: ProviderEndpoint): ProviderRow | undefined =>
  Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider as keyof typeof PROVIDERS] : undefined;

function withoutProtocol(endpoint: ProviderEndpoint): ProviderError {
  if (rowOf(endpoint) === undefined)
    return toCallFailure(endpoint, 'refused', 'is not known here: use openai_compatible with its address, or an entry in PARLEY_PROVIDERS');
  return endpoint.part === 'tts'
    ? toCallFailure(endpoint, 'refused', 'does not exist: choose another textToSpeech.provider')
    : toCallFailure(endpoint, 'refused', 'cannot be used with this model, which does not stream: choose another speechToText.model');
}
