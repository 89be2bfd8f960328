/** Builds each provider's STT request for one turn of the user, and reads the transcript from its response. */
import { FormData } from 'undici';

import { requireApiKey, type ProviderEndpoint } from '../../../calls/provider-access/index.ts';
import { asText, at, baseLanguage, elevenLabsApi, isOpenAi } from '../protocol-support.ts';
import { deepgramLanguage } from './deepgram-language.ts';

export interface SttRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData | Uint8Array | string;
}

export interface SttProtocol {
  readonly model: string;
  /** Builds the request. @param wav 16 bits, one channel */
  requestFor(wav: Uint8Array): SttRequest;
  /** Returns the transcript; undefined for a response that has none. */
  textOf(answer: unknown): string | undefined;
}

export interface SttSettings {
  readonly endpoint: ProviderEndpoint;
  /** BCP 47 tag. */
  readonly language: string;
}

const textField = (answer: unknown): string | undefined => asText(at(answer, 'text'));

function formOf(wav: Uint8Array, fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  form.append('file', new File([new Uint8Array(wav)], 'audio.wav', { type: 'audio/wav' }));
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

/** Builds OpenAI's address and headers. @throws ProviderError `refused` where OpenAI itself is to be asked without a key */
export function openAiSttApi(endpoint: ProviderEndpoint) {
  const { baseURL = '', apiKey } = endpoint;
  const official = isOpenAi(baseURL);
  if (official) requireApiKey(endpoint);
  return {
    baseURL,
    official,
    model: endpoint.model ?? (official ? 'gpt-4o-mini-transcribe' : 'whisper-1'),
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
  };
}

export function openAi({ endpoint, language }: SttSettings): SttProtocol {
  const { baseURL, model, headers } = openAiSttApi(endpoint);
  return {
    model,
    requestFor: (wav) => ({
      url: `${baseURL}/audio/transcriptions`,
      headers,
      body: formOf(wav, { model, language: baseLanguage(language), response_format: 'json' }),
    }),
    textOf: textField,
  };
}

/** Deepgram's API for recordings: https://developers.deepgram.com/reference/speech-to-text-api/listen */
export function deepgram({ endpoint, language }: SttSettings): SttProtocol {
  const { baseURL = 'https://api.deepgram.com/v1', model = 'nova-3' } = endpoint;
  const headers = { authorization: `Token ${requireApiKey(endpoint)}`, 'content-type': 'audio/wav' };
  const query = new URLSearchParams({ model, language: deepgramLanguage(language), smart_format: 'true' }).toString();
  return {
    model,
    requestFor: (wav) => ({ url: `${baseURL}/listen?${query}`, headers, body: wav }),
    textOf: (answer) => asText(at(answer, 'results', 'channels', 0, 'alternatives', 0, 'transcript')),
  };
}

/** ElevenLabs' API for recordings: https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
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

/**
 * Google's API with an API key, for at most 60 s of audio: https://cloud.google.com/speech-to-text/docs/reference/rest/v1/speech/recognize
 */
export function google({ endpoint, language }: SttSettings): SttProtocol {
  const { baseURL = 'https://speech.googleapis.com/v1', model = 'latest_long' } = endpoint;
  const headers = { 'x-goog-api-key': requireApiKey(endpoint), 'content-type': 'application/json' };
  const config = { languageCode: language, model, enableAutomaticPunctuation: true };
  return {
    model,
    // The WAV header has the encoding.
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
