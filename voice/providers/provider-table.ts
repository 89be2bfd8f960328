/**
 * Every speech provider with a protocol of its own; all others speak OpenAI's. To add one:
 *
 * 1. its name, in `speechProviders` of crds/limits.ts: the compiler then asks for a row here;
 * 2. its protocol, a function in stt/stt-protocols.ts, tts/tts-protocols.ts or both;
 * 3. its row below, and its case in provider-table.test.ts.
 */
import { failureOf, type ProviderEndpoint, type ProviderError } from '../calls/provider-access/index.ts';
import type { speechProviders } from '../../crds/limits.ts';
import * as stt from './stt/stt-protocols.ts';
import * as tts from './tts/tts-protocols.ts';
import { cartesiaVoices, elevenLabsVoices, type VoiceDirectory } from './tts/voices.ts';

interface ProviderRow {
  readonly stt?: (settings: stt.SttSettings) => stt.SttProtocol;
  readonly tts?: (settings: tts.TtsSettings) => tts.TtsProtocol;
  /** Where its voices are found by name; absent where requests take names. */
  readonly voices?: (endpoint: ProviderEndpoint, name: string) => VoiceDirectory;
}

const PROVIDERS: Readonly<Record<Exclude<(typeof speechProviders)[number], 'openai' | 'openai_compatible'>, ProviderRow>> = {
  azure: { stt: stt.azure, tts: tts.azure },
  cartesia: { stt: stt.cartesia, tts: tts.cartesia, voices: cartesiaVoices },
  deepgram: { stt: stt.deepgram, tts: tts.deepgram },
  elevenlabs: { stt: stt.elevenLabs, tts: tts.elevenLabs, voices: elevenLabsVoices },
  google: { stt: stt.google, tts: tts.google },
};

/** @throws ProviderError `refused` */
export function sttProtocolOf(settings: stt.SttSettings): stt.SttProtocol {
  const { endpoint } = settings;
  const create = endpoint.protocol === 'openai' ? stt.openAi : rowOf(endpoint)?.stt;
  if (create === undefined) throw unknownProvider(endpoint);
  return create(settings);
}

/** @throws ProviderError `refused` */
export function ttsProtocolOf(settings: tts.TtsSettings): tts.TtsProtocol {
  const { endpoint } = settings;
  const create = endpoint.protocol === 'openai' ? tts.openAi : rowOf(endpoint)?.tts;
  if (create === undefined) throw unknownProvider(endpoint);
  return create(settings);
}

/** @returns undefined where requests take the voice as the agent has it */
export function voicesOf(endpoint: ProviderEndpoint): VoiceDirectory | undefined {
  const { protocol, voice, voiceIsName } = endpoint;
  if (voiceIsName === undefined || voice === undefined || protocol === 'openai') return undefined;
  return rowOf(endpoint)?.voices?.(endpoint, voice);
}

const rowOf = ({ provider }: ProviderEndpoint): ProviderRow | undefined =>
  Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider as keyof typeof PROVIDERS] : undefined;

const unknownProvider = (endpoint: ProviderEndpoint): ProviderError =>
  failureOf(endpoint, 'refused', 'is not known here: use openai_compatible with its address, or an entry in PARLEY_PROVIDERS');
