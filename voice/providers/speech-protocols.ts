/** How each provider is asked to speak. All answer with sound as it is made, in one request for a sentence. */
import { keyOf, partNames, ProviderFailure, type ProviderEndpoint } from '../calls/providers/index.ts';
import { baseLanguage, unknownService } from './speech-service.ts';

export interface SpeechRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SpeechProtocol {
  readonly model: string;
  /** Of the sound, where it doesn't say so itself by being a WAV file. */
  readonly sampleRate: number;
  /** `bytes`: 16-bit samples or a WAV file; `json`: the same as Base64 in a field, all at once. */
  readonly answer: 'bytes' | { readonly json: string };
  requestFor(text: string): SpeechRequest;
}

export interface SpeechSettings {
  readonly endpoint: ProviderEndpoint;
  /** BCP 47. */
  readonly language: string;
  /** 0 … 2. */
  readonly temperature: number;
}

const sampleRate = 24_000;
const json = { 'content-type': 'application/json' };

/** @throws ProviderFailure `refused` */
export function speechProtocolOf(settings: SpeechSettings): SpeechProtocol {
  const { endpoint } = settings;
  if (endpoint.protocol === 'openai') return openAi(settings);
  switch (endpoint.provider) {
    case 'elevenlabs':
      return elevenLabs(settings);
    case 'cartesia':
      return cartesia(settings);
    case 'deepgram':
      return deepgram(settings);
    case 'azure':
      return azure(settings);
    case 'google':
      return google(settings);
    default:
      throw unknownService(endpoint, 'tts');
  }
}

const officialHosts: ReadonlySet<string> = new Set(['api.openai.com']);

function openAi({ endpoint, language, temperature }: SpeechSettings): SpeechProtocol {
  const { baseURL = '', apiKey } = endpoint;
  const official = officialHosts.has(new URL(baseURL).host);
  if (official) keyOf(endpoint);
  const model = endpoint.model ?? (official ? 'gpt-4o-mini-tts' : 'tts-1');
  // OpenAI finds the language in the text, and refuses fields that it doesn't know; others ignore them, or put them to use.
  const more = official ? {} : { language, temperature };
  return {
    model,
    sampleRate,
    answer: 'bytes',
    requestFor: (text) => ({
      url: `${baseURL}/audio/speech`,
      headers: { ...json, ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify({ input: text, model, voice: endpoint.voice ?? 'alloy', response_format: 'pcm', ...more }),
    }),
  };
}

/** https://elevenlabs.io/docs/api-reference/text-to-speech/stream */
function elevenLabs({ endpoint, language, temperature }: SpeechSettings): SpeechProtocol {
  const { baseURL = 'https://api.elevenlabs.io/v1', voice = '21m00Tcm4TlvDq8ikWAM' } = endpoint;
  const model = endpoint.model ?? 'eleven_flash_v2_5';
  const headers = { ...json, 'xi-api-key': keyOf(endpoint) };
  // Only these take a language; for the others it is in the voice.
  const named = /flash_v2_5|turbo_v2_5|_v3/.test(model) ? { language_code: baseLanguage(language) } : {};
  // What varies less is more stable, in their words.
  const stability = Math.min(1, Math.max(0, 1 - temperature));
  return {
    model,
    sampleRate,
    answer: 'bytes',
    requestFor: (text) => ({
      url: `${baseURL}/text-to-speech/${encodeURIComponent(voice)}/stream?output_format=pcm_24000`,
      headers,
      body: JSON.stringify({ text, model_id: model, ...named, voice_settings: { stability, similarity_boost: 0.75 } }),
    }),
  };
}

/** https://docs.cartesia.ai/api-reference/tts/bytes */
function cartesia({ endpoint, language }: SpeechSettings): SpeechProtocol {
  const { baseURL = 'https://api.cartesia.ai', voice = 'f786b574-daa5-4673-aa0c-cbe3e8534c02' } = endpoint;
  const model = endpoint.model ?? 'sonic-2';
  const headers = { ...json, authorization: `Bearer ${keyOf(endpoint)}`, 'cartesia-version': '2025-04-16' };
  const output = { container: 'raw', encoding: 'pcm_s16le', sample_rate: sampleRate };
  return {
    model,
    sampleRate,
    answer: 'bytes',
    requestFor: (text) => ({
      url: `${baseURL}/tts/bytes`,
      headers,
      body: JSON.stringify({
        model_id: model,
        transcript: text,
        voice: { mode: 'id', id: voice },
        language: baseLanguage(language),
        output_format: output,
      }),
    }),
  };
}

/** https://developers.deepgram.com/reference/text-to-speech-api: the model is the voice, and the language with it. */
function deepgram({ endpoint }: SpeechSettings): SpeechProtocol {
  const { baseURL = 'https://api.deepgram.com/v1' } = endpoint;
  const model = endpoint.model ?? endpoint.voice ?? 'aura-2-thalia-en';
  const query = new URLSearchParams({ model, encoding: 'linear16', sample_rate: String(sampleRate), container: 'none' }).toString();
  const headers = { ...json, authorization: `Token ${keyOf(endpoint)}` };
  return {
    model,
    sampleRate,
    answer: 'bytes',
    requestFor: (text) => ({ url: `${baseURL}/speak?${query}`, headers, body: JSON.stringify({ text }) }),
  };
}

/** https://learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech */
function azure({ endpoint, language }: SpeechSettings): SpeechProtocol {
  const { baseURL, voice = 'en-US-AvaMultilingualNeural' } = endpoint;
  if (baseURL === undefined) throw azureAddress(endpoint, 'https://westeurope.tts.speech.microsoft.com', 'textToSpeech');
  const headers = {
    'content-type': 'application/ssml+xml',
    'x-microsoft-outputformat': 'raw-24khz-16bit-mono-pcm',
    'ocp-apim-subscription-key': keyOf(endpoint),
    'user-agent': 'parley',
  };
  return {
    model: voice,
    sampleRate,
    answer: 'bytes',
    requestFor: (text) => ({
      url: `${baseURL}/cognitiveservices/v1`,
      headers,
      body: `<speak version="1.0" xml:lang="${xml(language)}"><voice name="${xml(voice)}">${xml(text)}</voice></speak>`,
    }),
  };
}

/** https://cloud.google.com/text-to-speech/docs/reference/rest/v1/text/synthesize: with an API key, and all of a sentence at once. */
function google({ endpoint, language }: SpeechSettings): SpeechProtocol {
  const { baseURL = 'https://texttospeech.googleapis.com/v1', voice } = endpoint;
  const headers = { ...json, 'x-goog-api-key': keyOf(endpoint) };
  const audioConfig = { audioEncoding: 'LINEAR16', sampleRateHertz: sampleRate };
  return {
    model: voice ?? 'google',
    sampleRate,
    answer: { json: 'audioContent' },
    requestFor: (text) => ({
      url: `${baseURL}/text:synthesize`,
      headers,
      body: JSON.stringify({
        input: { text },
        voice: { languageCode: language, ...(voice !== undefined && { name: voice }) },
        audioConfig,
      }),
    }),
  };
}

const entities: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;', "'": '&apos;' };
const xml = (text: string): string => text.replaceAll(/[<>&"']/g, (character) => entities[character] ?? '');

export function azureAddress({ part, provider }: ProviderEndpoint, example: string, field: string): ProviderFailure {
  const message = `${provider} (${partNames[part]}) has an address for each region: set ${field}.baseURL to yours, such as ${example}`;
  return new ProviderFailure({ part, kind: 'refused', provider, message });
}
