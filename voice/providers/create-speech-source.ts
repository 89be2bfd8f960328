/** Creates the source of a provider's voice: one WebSocket where the provider has one, else a request for each sentence. */
import type { Clock } from '../../platform/clock.ts';
import { present } from '../../platform/present.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { createProviderConnect, createProviderFetch, ttsEndpointOf, type WantedTts } from '../../calls/provider-access/index.ts';
import type { ProviderOptions } from './create-language-model.ts';
import { ttsProtocolOf, ttsStreamingOf, voicesOf } from './provider-table.ts';
import { HttpSpeech } from './tts/http-speech.ts';
import type { SpeechSource } from './tts/speech-source.ts';
import { SocketSpeech } from './tts/streaming/socket-speech.ts';
import type { TtsSettings } from './tts/tts-protocols.ts';
import { voiceIdOf } from './tts/voices.ts';

/** Longest message, in bytes: a whole sentence of half a minute as Base64. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

export interface VoiceSettingsOptions
  extends Pick<TtsSettings, 'language' | 'pronunciations'>, Pick<ProviderOptions, 'org' | 'keys' | 'defaults' | 'egress' | 'env'> {
  readonly tts: WantedTts;
  /** Temperature from "0" to "2". */
  readonly temperature: string;
  /** Pace of the voice, from "0.5" to "2"; its own where absent. */
  readonly speed?: string | undefined;
  readonly clock: Clock;
}

/** Reads the key, and looks up the id of a voice that has only a name. @throws ProviderError */
export async function voiceSettingsOf({
  language,
  temperature,
  speed,
  pronunciations,
  egress,
  clock,
  ...options
}: VoiceSettingsOptions): Promise<TtsSettings> {
  const endpoint = await ttsEndpointOf(options);
  const directory = voicesOf(endpoint);
  const settings = {
    endpoint,
    language,
    temperature: Number(temperature),
    ...present({ speed: speed === undefined ? undefined : Number(speed), pronunciations }),
  };
  if (directory === undefined) return settings;
  const fetch = createProviderFetch({ endpoint, egress, clock });
  return { ...settings, endpoint: { ...endpoint, voice: await voiceIdOf({ endpoint, directory, fetch, clock }) } };
}

export function createSpeechSource({
  egress,
  clock,
  ...settings
}: TtsSettings & { readonly egress: Pick<Egress, 'connect' | 'dispatcher'>; readonly clock: Clock }): SpeechSource {
  const { endpoint } = settings;
  const { provider } = endpoint;
  const overHttp = (): SpeechSource => {
    const fetch = createProviderFetch({ endpoint, egress, clock });
    return new HttpSpeech({ provider, protocol: ttsProtocolOf(settings), fetch });
  };
  const streaming = ttsStreamingOf(settings);
  if (streaming === undefined) return overHttp();
  const connect = createProviderConnect({ endpoint, egress, clock, maxMessageBytes: MAX_MESSAGE_BYTES });
  return new SocketSpeech({ provider, streaming, connect, clock, continuation: streaming.continuesOverHttp && overHttp() });
}
