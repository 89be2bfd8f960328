/** Builds each provider's STT request for one turn of the user, and reads the transcript from its response. */
import { FormData } from 'undici';

import { requireApiKey, type ProviderEndpoint } from '../../../calls/provider-access/index.ts';
import { DEFAULT_RECOGNIZERS, takenKeywords, takesKeyterms } from '../../../crds/keywords.ts';
import { asText, at, baseLanguage, elevenLabsApi, isOpenAi, queryOf, type Query } from '../protocol-support.ts';
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
  /** Words and phrases to listen for; without placeholders. */
  readonly keywords?: readonly string[];
}

/** Returns the keywords that a request for the model may have. */
export const keywordsFor = ({ endpoint: { provider }, keywords = [] }: SttSettings, model: string): readonly string[] =>
  takenKeywords(keywords, { provider, model });

const textField = (answer: unknown): string | undefined => asText(at(answer, 'text'));

/** Builds a form. @param fields one with several values is repeated */
function formOf(wav: Uint8Array, fields: Readonly<Record<string, string | readonly string[]>>): FormData {
  const form = new FormData();
  form.append('file', new File([new Uint8Array(wav)], 'audio.wav', { type: 'audio/wav' }));
  for (const [name, value] of Object.entries(fields)) for (const each of [value].flat()) form.append(name, each);
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
    model: endpoint.model ?? (official ? DEFAULT_RECOGNIZERS.openai : DEFAULT_RECOGNIZERS.openai_compatible),
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
  };
}

/** Returns whether a model of OpenAI's takes lists of languages and of keywords. */
export const takesLists = (model: string): boolean => /^gpt-(live-)?transcribe/.test(model);

/** Builds the prompt that has a model of OpenAI's protocol expect the keywords. Whisper goes on in the style of its prompt: it gets them alone. */
export function openAiPrompt(keywords: readonly string[], model: string): string | undefined {
  if (keywords.length === 0) return undefined;
  const listed = keywords.join(', ');
  return model.startsWith('gpt-') ? `Expect these words: ${listed}.` : listed;
}

export function openAi(settings: SttSettings): SttProtocol {
  const { endpoint, language } = settings;
  const { baseURL, model, headers } = openAiSttApi(endpoint);
  const keywords = takenKeywords(settings.keywords ?? [], { provider: 'openai', model });
  const prompt = openAiPrompt(keywords, model);
  const told = takesLists(model) ? { 'keywords[]': keywords } : { ...(prompt !== undefined && { prompt }) };
  return {
    model,
    requestFor: (wav) => ({
      url: `${baseURL}/audio/transcriptions`,
      headers,
      body: formOf(wav, { model, language: baseLanguage(language), response_format: 'json', ...told }),
    }),
    textOf: textField,
  };
}

/** Deepgram's API for recordings: https://developers.deepgram.com/reference/speech-to-text-api/listen */
export function deepgram(settings: SttSettings): SttProtocol {
  const { endpoint, language } = settings;
  const { baseURL = 'https://api.deepgram.com/v1', model = DEFAULT_RECOGNIZERS.deepgram } = endpoint;
  const headers = { authorization: `Token ${requireApiKey(endpoint)}`, 'content-type': 'audio/wav' };
  const query = queryOf({ model, language: deepgramLanguage(language), smart_format: 'true', ...deepgramKeywords(settings, model) });
  return {
    model,
    requestFor: (wav) => ({ url: `${baseURL}/listen?${query}`, headers, body: wav }),
    textOf: (answer) => asText(at(answer, 'results', 'channels', 0, 'alternatives', 0, 'transcript')),
  };
}

/** Returns Deepgram's parameters for keywords: earlier models know only the former of the two. */
export function deepgramKeywords(settings: SttSettings, model: string): Query {
  const keywords = keywordsFor(settings, model);
  return takesKeyterms(model) ? { keyterm: keywords } : { keywords };
}

/** ElevenLabs' API for recordings: https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
export function elevenLabs(settings: SttSettings): SttProtocol {
  const { endpoint, language } = settings;
  const { baseURL, headers } = elevenLabsApi(endpoint);
  const { model = 'scribe_v2' } = endpoint;
  const keyterms = keywordsFor(settings, model);
  const fields = { model_id: model, language_code: baseLanguage(language), tag_audio_events: 'false', keyterms };
  return {
    model,
    requestFor: (wav) => ({ url: `${baseURL}/speech-to-text`, headers, body: formOf(wav, fields) }),
    textOf: textField,
  };
}

/**
 * Google's API with an API key, for at most 60 s of audio: https://cloud.google.com/speech-to-text/docs/reference/rest/v1/speech/recognize
 */
export function google(settings: SttSettings): SttProtocol {
  const { endpoint, language } = settings;
  const { baseURL = 'https://speech.googleapis.com/v1', model = DEFAULT_RECOGNIZERS.google } = endpoint;
  const headers = { 'x-goog-api-key': requireApiKey(endpoint), 'content-type': 'application/json' };
  const phrases = keywordsFor(settings, model);
  const config = {
    languageCode: language,
    model,
    enableAutomaticPunctuation: true,
    ...(phrases.length > 0 && { speechContexts: [{ phrases }] }),
  };
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
