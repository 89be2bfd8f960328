/** What each provider's STT is sent for one turn of the user, and where its response has the transcript. */
import { FormData } from 'undici';

import { keyOf, type ProviderEndpoint } from '../../calls/provider-access/index.ts';
import { azureAddressMissing, baseLanguage, cartesiaApi, elevenLabsApi, isOpenAi } from '../protocol-support.ts';

export interface SttRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData | Uint8Array | string;
}

export interface SttProtocol {
  readonly model: string;
  /** @param wav 16 bits, one channel */
  requestFor(wav: Uint8Array): SttRequest;
  /** @returns undefined for a response that is no transcript */
  textOf(answer: unknown): string | undefined;
  /** Whether a response of status 200 says that recognition failed. */
  failed?(answer: unknown): boolean;
}

export interface SttSettings {
  readonly endpoint: ProviderEndpoint;
  /** BCP 47. */
  readonly language: string;
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A member of an unknown value. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Readonly<Record<string | number, unknown>>)[step];
  }
  return current;
}

const textField = (answer: unknown): string | undefined => asText(at(answer, 'text'));

function formOf(wav: Uint8Array, fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  form.append('file', new File([new Uint8Array(wav)], 'audio.wav', { type: 'audio/wav' }));
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

export function openAi({ endpoint, language }: SttSettings): SttProtocol {
  const { baseURL = '', apiKey } = endpoint;
  const official = isOpenAi(baseURL);
  if (official) keyOf(endpoint);
  const model = endpoint.model ?? (official ? 'gpt-4o-mini-transcribe' : 'whisper-1');
  return {
    model,
    requestFor: (wav) => ({
      url: `${baseURL}/audio/transcriptions`,
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      body: formOf(wav, { model, language: baseLanguage(language), response_format: 'json' }),
    }),
    textOf: textField,
  };
}

/** https://developers.deepgram.com/reference/speech-to-text-api/listen */
export function deepgram({ endpoint, language }: SttSettings): SttProtocol {
  const { baseURL = 'https://api.deepgram.com/v1', model = 'nova-3' } = endpoint;
  const headers = { authorization: `Token ${keyOf(endpoint)}`, 'content-type': 'audio/wav' };
  const query = new URLSearchParams({ model, language: deepgramLanguage(language), smart_format: 'true' }).toString();
  return {
    model,
    requestFor: (wav) => ({ url: `${baseURL}/listen?${query}`, headers, body: wav }),
    textOf: (answer) => asText(at(answer, 'results', 'channels', 0, 'alternatives', 0, 'transcript')),
  };
}

/** Deepgram's languages that have a region; all others are listed without one: https://developers.deepgram.com/docs/models-languages-overview */
const DEEPGRAM_REGIONS = new Set(
  'da-DK de-CH en-AU en-GB en-IN en-NZ en-US es-419 fr-CA ko-KR nl-BE pt-BR pt-PT sv-SE th-TH zh-CN zh-HK zh-Hans zh-Hant zh-TW'
    .split(' ')
    .map((tag) => tag.toLowerCase()),
);

/** Deepgram refuses regions that it doesn't list: `de-AT` is its `de`, `es-MX` its `es-419`. */
export function deepgramLanguage(tag: string): string {
  if (DEEPGRAM_REGIONS.has(tag.toLowerCase())) return tag;
  const base = baseLanguage(tag);
  if (base === 'es' && tag.length > 2 && !/^es-es$/i.test(tag)) return 'es-419';
  return base === 'nb' || base === 'nn' ? 'no' : base;
}

/** https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
export function elevenLabs({ endpoint, language }: SttSettings): SttProtocol {
  const { baseURL, headers } = elevenLabsApi(endpoint);
  const { model = 'scribe_v2' } = endpoint;
  const fields = { model_id: model, language_code: baseLanguage(language), tag_audio_events: 'false' };
  return {
    model,
    requestFor: (wav) => ({ url: `${baseURL}/speech-to-text`, headers, body: formOf(wav, fields) }),
    textOf: textField,
  };
}

/** https://docs.cartesia.ai/api-reference/stt/transcribe */
export function cartesia({ endpoint, language }: SttSettings): SttProtocol {
  const { baseURL, headers } = cartesiaApi(endpoint);
  const { model = 'ink-whisper' } = endpoint;
  return {
    model,
    requestFor: (wav) => ({ url: `${baseURL}/stt`, headers, body: formOf(wav, { model, language: baseLanguage(language) }) }),
    textOf: textField,
  };
}

/** https://learn.microsoft.com/azure/ai-services/speech-service/rest-speech-to-text-short: at most 60 s of audio. */
export function azure({ endpoint, language }: SttSettings): SttProtocol {
  const { baseURL } = endpoint;
  if (baseURL === undefined) throw azureAddressMissing(endpoint, 'https://westeurope.stt.speech.microsoft.com', 'speechToText');
  const headers = { 'ocp-apim-subscription-key': keyOf(endpoint), 'content-type': 'audio/wav', accept: 'application/json' };
  const query = new URLSearchParams({ language, format: 'simple' }).toString();
  return {
    model: 'azure',
    requestFor: (wav) => ({ url: `${baseURL}/speech/recognition/conversation/cognitiveservices/v1?${query}`, headers, body: wav }),
    // No words recognised: no text, and no failure.
    textOf: (answer) => asText(at(answer, 'DisplayText')) ?? (asText(at(answer, 'RecognitionStatus')) === undefined ? undefined : ''),
    failed: (answer) => at(answer, 'RecognitionStatus') === 'Error',
  };
}

/** https://cloud.google.com/speech-to-text/docs/reference/rest/v1/speech/recognize: with an API key; at most 60 s of audio. */
export function google({ endpoint, language }: SttSettings): SttProtocol {
  const { baseURL = 'https://speech.googleapis.com/v1', model = 'latest_long' } = endpoint;
  const headers = { 'x-goog-api-key': keyOf(endpoint), 'content-type': 'application/json' };
  const config = { languageCode: language, model, enableAutomaticPunctuation: true };
  return {
    model,
    // The encoding is in the WAV header.
    requestFor: (wav) => ({
      url: `${baseURL}/speech:recognize`,
      headers,
      body: JSON.stringify({ config, audio: { content: Buffer.from(wav).toString('base64') } }),
    }),
    textOf(answer) {
      if (typeof answer !== 'object' || answer === null) return undefined;
      const results = at(answer, 'results');
      if (!Array.isArray(results)) return '';
      return results.map((result: unknown) => asText(at(result, 'alternatives', 0, 'transcript')) ?? '').join('');
    },
  };
}
