/** How each provider is given what the user said, a turn at a time, and where its answer has the words. */
import { FormData } from 'undici';

import { keyOf, type ProviderEndpoint } from '../calls/providers/index.ts';
import { azureAddress } from './speech-protocols.ts';
import { baseLanguage, unknownService } from './speech-service.ts';

export interface HearingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData | Uint8Array | string;
}

export interface HearingProtocol {
  readonly model: string;
  /** @param wav 16 bits, one channel */
  requestFor(wav: Uint8Array): HearingRequest;
  /** @returns undefined where the answer is none */
  textOf(answer: unknown): string | undefined;
}

export interface HearingSettings {
  readonly endpoint: ProviderEndpoint;
  /** BCP 47. */
  readonly language: string;
}

/** @throws ProviderFailure `refused` */
export function hearingProtocolOf(settings: HearingSettings): HearingProtocol {
  const { endpoint } = settings;
  if (endpoint.protocol === 'openai') return openAi(settings);
  switch (endpoint.provider) {
    case 'deepgram':
      return deepgram(settings);
    case 'elevenlabs':
      return elevenLabs(settings);
    case 'cartesia':
      return cartesia(settings);
    case 'azure':
      return azure(settings);
    case 'google':
      return google(settings);
    default:
      throw unknownService(endpoint, 'stt');
  }
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Looks into an answer of which nothing is known. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Readonly<Record<string | number, unknown>>)[step];
  }
  return current;
}

function formOf(wav: Uint8Array, fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  form.append('file', new File([new Uint8Array(wav)], 'audio.wav', { type: 'audio/wav' }));
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

function openAi({ endpoint, language }: HearingSettings): HearingProtocol {
  const { baseURL = '', apiKey } = endpoint;
  const official = new URL(baseURL).host === 'api.openai.com';
  if (official) keyOf(endpoint);
  const model = endpoint.model ?? (official ? 'gpt-4o-mini-transcribe' : 'whisper-1');
  return {
    model,
    requestFor: (wav) => ({
      url: `${baseURL}/audio/transcriptions`,
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      body: formOf(wav, { model, language: baseLanguage(language), response_format: 'json' }),
    }),
    textOf: (answer) => asText(at(answer, 'text')),
  };
}

/** https://developers.deepgram.com/reference/speech-to-text-api/listen */
function deepgram({ endpoint, language }: HearingSettings): HearingProtocol {
  const { baseURL = 'https://api.deepgram.com/v1', model = 'nova-3' } = endpoint;
  const headers = { authorization: `Token ${keyOf(endpoint)}`, 'content-type': 'audio/wav' };
  const query = new URLSearchParams({ model, language, smart_format: 'true' }).toString();
  return {
    model,
    requestFor: (wav) => ({ url: `${baseURL}/listen?${query}`, headers, body: wav }),
    textOf: (answer) => asText(at(answer, 'results', 'channels', 0, 'alternatives', 0, 'transcript')),
  };
}

/** https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
function elevenLabs({ endpoint, language }: HearingSettings): HearingProtocol {
  const { baseURL = 'https://api.elevenlabs.io/v1', model = 'scribe_v1' } = endpoint;
  const headers = { 'xi-api-key': keyOf(endpoint) };
  const fields = { model_id: model, language_code: baseLanguage(language), tag_audio_events: 'false' };
  return {
    model,
    requestFor: (wav) => ({ url: `${baseURL}/speech-to-text`, headers, body: formOf(wav, fields) }),
    textOf: (answer) => asText(at(answer, 'text')),
  };
}

/** https://docs.cartesia.ai/api-reference/stt/transcribe */
function cartesia({ endpoint, language }: HearingSettings): HearingProtocol {
  const { baseURL = 'https://api.cartesia.ai', model = 'ink-whisper' } = endpoint;
  const headers = { authorization: `Bearer ${keyOf(endpoint)}`, 'cartesia-version': '2025-04-16' };
  return {
    model,
    requestFor: (wav) => ({ url: `${baseURL}/stt`, headers, body: formOf(wav, { model, language: baseLanguage(language) }) }),
    textOf: (answer) => asText(at(answer, 'text')),
  };
}

/** https://learn.microsoft.com/azure/ai-services/speech-service/rest-speech-to-text-short: at most 60 s of sound. */
function azure({ endpoint, language }: HearingSettings): HearingProtocol {
  const { baseURL } = endpoint;
  if (baseURL === undefined) throw azureAddress(endpoint, 'https://westeurope.stt.speech.microsoft.com', 'speechToText');
  const headers = { 'ocp-apim-subscription-key': keyOf(endpoint), 'content-type': 'audio/wav', accept: 'application/json' };
  const query = new URLSearchParams({ language, format: 'simple' }).toString();
  return {
    model: 'azure',
    requestFor: (wav) => ({ url: `${baseURL}/speech/recognition/conversation/cognitiveservices/v1?${query}`, headers, body: wav }),
    // Without any words there is no text: that is no failure.
    textOf: (answer) => asText(at(answer, 'DisplayText')) ?? (asText(at(answer, 'RecognitionStatus')) === undefined ? undefined : ''),
  };
}

/** https://cloud.google.com/speech-to-text/docs/reference/rest/v1/speech/recognize: with an API key; at most 60 s of sound. */
function google({ endpoint, language }: HearingSettings): HearingProtocol {
  const { baseURL = 'https://speech.googleapis.com/v1', model = 'latest_long' } = endpoint;
  const headers = { 'x-goog-api-key': keyOf(endpoint), 'content-type': 'application/json' };
  const config = { languageCode: language, model, enableAutomaticPunctuation: true };
  return {
    model,
    // A WAV file says itself how it is made.
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
