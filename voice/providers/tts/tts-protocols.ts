/** Builds each provider's TTS request for one sentence, and tells how its response carries the audio. */
import { requireApiKey, type ProviderEndpoint } from '../../../calls/provider-access/index.ts';
import { takesIpa } from '../../../crds/pronunciation.ts';
import { speedFor, type VoiceModel } from '../../../crds/voice-speed.ts';
import { partsOf, type Pronunciation, type SpokenPart } from './pronunciations.ts';
import { azureAddressMissing, baseLanguage, elevenLabsApi, isOpenAi, queryOf } from '../protocol-support.ts';

export interface TtsRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface TtsProtocol {
  readonly model: string;
  /** The JSON field that has the audio as Base64; absent where the response is the audio. */
  readonly audioField?: string;
  /** True if small plans of the provider allow few requests at a time. */
  readonly oneAtATime?: true;
  /** Builds the request. @param before text that was said right before it, in the same answer */
  requestFor(text: string, before?: string): TtsRequest;
}

export interface TtsSettings {
  readonly endpoint: ProviderEndpoint;
  /** BCP 47 tag. */
  readonly language: string;
  /** Temperature from 0 to 2. */
  readonly temperature: number;
  /** Pace of the voice; 1 where absent. Each protocol asks for as much of it as its model takes. */
  readonly speed?: number;
  /** Words whose sound is known; each protocol says those that its voice takes. */
  readonly pronunciations?: readonly Pronunciation[];
}

/** Returns the pronunciations that a voice takes. */
function pronunciationsFor({ pronunciations = [], language }: TtsSettings, voice: VoiceModel): readonly Pronunciation[] {
  return pronunciations.filter(({ spoken }) => takesIpa(voice, spoken, language));
}

/** Rate of the 16-bit samples that each provider is asked for, in Hz; a WAV file says its own. */
export const SAMPLE_RATE = 24_000;
const JSON_HEADERS = { 'content-type': 'application/json' };

export function openAi({ endpoint, language, temperature, speed }: TtsSettings): TtsProtocol {
  const { baseURL = '', apiKey } = endpoint;
  const official = isOpenAi(baseURL);
  if (official) requireApiKey(endpoint);
  const model = endpoint.model ?? (official ? 'gpt-4o-mini-tts' : 'tts-1');
  // OpenAI detects the language and refuses unknown fields; other servers use them or ignore them.
  const asked = speedFor(speed, { provider: 'openai', model });
  const more = { ...(!official && { language, temperature }), ...(asked !== undefined && { speed: asked }) };
  return {
    model,
    requestFor: (text) => ({
      url: `${baseURL}/audio/speech`,
      headers: { ...JSON_HEADERS, ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify({ input: text, model, voice: endpoint.voice ?? 'alloy', response_format: 'pcm', ...more }),
    }),
  };
}

/** Returns the settings with which ElevenLabs is to speak, by HTTP or WebSocket. */
export function elevenLabsVoice({ endpoint, language, temperature, speed }: TtsSettings) {
  const { voice = 'bIHbv24MWmeRgasZH58o', model = 'eleven_flash_v2_5' } = endpoint;
  const third = /_v3/.test(model);
  // Only these models take a language; for the others it is part of the voice.
  const named = third || /flash_v2_5|turbo_v2_5/.test(model) ? { language_code: baseLanguage(language) } : {};
  // ElevenLabs' stability is the opposite of a temperature.
  const wanted = Math.min(1, Math.max(0, 1 - temperature));
  // The third generation takes 0, 0.5 and 1 only.
  const stability = third ? Math.round(wanted * 2) / 2 : wanted;
  const asked = speedFor(speed, { provider: 'elevenlabs', model });
  return { voice, model, third, named, settings: { stability, similarity_boost: 0.75, ...(asked !== undefined && { speed: asked }) } };
}

/** ElevenLabs' API: https://elevenlabs.io/docs/api-reference/text-to-speech/stream */
export function elevenLabs(settings: TtsSettings): TtsProtocol {
  const { baseURL, headers } = elevenLabsApi(settings.endpoint);
  const { voice, model, third, named, settings: voiceSettings } = elevenLabsVoice(settings);
  return {
    model,
    oneAtATime: true,
    requestFor: (text, before = '') => ({
      url: `${baseURL}/text-to-speech/${encodeURIComponent(voice)}/stream?output_format=pcm_24000`,
      headers: { ...JSON_HEADERS, ...headers },
      body: JSON.stringify({
        text,
        model_id: model,
        ...named,
        voice_settings: voiceSettings,
        // The third generation refuses the field.
        ...(before !== '' && !third && { previous_text: before }),
      }),
    }),
  };
}

/** Deepgram's API, where the model is the voice, and the language with it: https://developers.deepgram.com/reference/text-to-speech-api */
export function deepgram(settings: TtsSettings): TtsProtocol {
  const { endpoint, speed } = settings;
  const { baseURL = 'https://api.deepgram.com/v1' } = endpoint;
  const model = endpoint.model ?? endpoint.voice ?? 'aura-2-thalia-en';
  const asked = speedFor(speed, { provider: 'deepgram', model });
  const sound = { encoding: 'linear16', sample_rate: String(SAMPLE_RATE), container: 'none' };
  const query = queryOf({ model, ...sound, ...(asked !== undefined && { speed: String(asked) }) });
  const headers = { ...JSON_HEADERS, authorization: `Token ${requireApiKey(endpoint)}` };
  const own = pronunciationsFor(settings, { provider: 'deepgram', model });
  const marked = ({ text, ipa }: SpokenPart): string =>
    ipa === undefined ? text : `\\{"word": ${JSON.stringify(text)}, "pronounce": ${JSON.stringify(ipa)}\\}`;
  const deepgramText = (text: string): string => partsOf(text, own).map(marked).join('');
  return {
    model,
    requestFor: (text) => ({ url: `${baseURL}/speak?${query}`, headers, body: JSON.stringify({ text: deepgramText(text) }) }),
  };
}

/** Azure's API: https://learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech */
export function azure(settings: TtsSettings): TtsProtocol {
  const { endpoint, language, speed } = settings;
  const { baseURL, voice = 'en-US-AvaMultilingualNeural' } = endpoint;
  if (baseURL === undefined) throw azureAddressMissing(endpoint, 'https://westeurope.tts.speech.microsoft.com', 'textToSpeech');
  const headers = {
    'content-type': 'application/ssml+xml',
    'x-microsoft-outputformat': 'raw-24khz-16bit-mono-pcm',
    'ocp-apim-subscription-key': requireApiKey(endpoint),
    'user-agent': 'parley',
  };
  const asked = speedFor(speed, { provider: 'azure', model: voice });
  const own = pronunciationsFor(settings, { provider: 'azure', model: voice });
  const sounding = ({ text, ipa }: SpokenPart): string =>
    ipa === undefined ? xml(text) : `<phoneme alphabet="ipa" ph="${xml(ipa)}">${xml(text)}</phoneme>`;
  const ssmlOf = (text: string): string => partsOf(text, own).map(sounding).join('');
  const paced = (text: string): string => (asked === undefined ? ssmlOf(text) : `<prosody rate="${asked}">${ssmlOf(text)}</prosody>`);
  return {
    model: voice,
    requestFor: (text) => ({
      url: `${baseURL}/cognitiveservices/v1`,
      headers,
      body: `<speak version="1.0" xml:lang="${xml(language)}"><voice name="${xml(voice)}">${paced(text)}</voice></speak>`,
    }),
  };
}

/** Google's API, with an API key: https://cloud.google.com/text-to-speech/docs/reference/rest/v1/text/synthesize */
export function google(settings: TtsSettings): TtsProtocol {
  const { endpoint, language, speed } = settings;
  const { baseURL = 'https://texttospeech.googleapis.com/v1', voice } = endpoint;
  const headers = { ...JSON_HEADERS, 'x-goog-api-key': requireApiKey(endpoint) };
  const asked = speedFor(speed, { provider: 'google', model: voice });
  const own = pronunciationsFor(settings, { provider: 'google', model: voice });
  const customPronunciations = (text: string): object => {
    const inside = partsOf(text, own).flatMap((part) => (part.ipa === undefined ? [] : [[part.text, part.ipa] as const]));
    const pronunciations = [...new Map(inside)].map(([phrase, pronunciation]) => ({
      phrase,
      phoneticEncoding: 'PHONETIC_ENCODING_IPA',
      pronunciation,
    }));
    return pronunciations.length === 0 ? {} : { customPronunciations: { pronunciations } };
  };
  const audioConfig = { audioEncoding: 'LINEAR16', sampleRateHertz: SAMPLE_RATE, ...(asked !== undefined && { speakingRate: asked }) };
  return {
    model: voice ?? 'google',
    audioField: 'audioContent',
    requestFor: (text) => ({
      url: `${baseURL}/text:synthesize`,
      headers,
      body: JSON.stringify({
        input: { text, ...customPronunciations(text) },
        voice: { languageCode: language, ...(voice !== undefined && { name: voice }) },
        audioConfig,
      }),
    }),
  };
}

const XML_ENTITIES: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;', "'": '&apos;' };
const xml = (text: string): string => text.replaceAll(/[<>&"']/g, (character) => XML_ENTITIES[character] ?? '');
