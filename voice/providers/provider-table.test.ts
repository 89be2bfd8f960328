/** Checks the requests to each provider against its documentation. */
import { describe, expect, it } from 'vitest';

import type { ProviderEndpoint } from '../../calls/provider-access/index.ts';
import { temperatureProviders, ttsProviders } from '../../crds/providers.ts';
import { sttProtocolOf, sttStreamingOf, ttsProtocolOf, ttsStreamingOf } from './provider-table.ts';

const endpoint = (part: 'stt' | 'tts', provider: string, more: Partial<ProviderEndpoint> = {}): ProviderEndpoint => ({
  part,
  provider,
  protocol: provider === 'openai' ? 'openai' : 'own',
  guarded: false,
  apiKey: 'k',
  ...(provider === 'openai' && { baseURL: 'https://api.openai.com/v1' }),
  ...more,
});
const tts = (provider: string, more?: Partial<ProviderEndpoint>) =>
  ttsProtocolOf({ endpoint: endpoint('tts', provider, more), language: 'de-AT', temperature: 0.2 }).requestFor('Grüß <Gott> & "hallo"');
const stt = (provider: string, more?: Partial<ProviderEndpoint>) =>
  sttProtocolOf({ endpoint: endpoint('stt', provider, more), language: 'de-AT' });

it.each([
  [
    'openai',
    'https://api.openai.com/v1/audio/speech',
    { authorization: 'Bearer k' },
    { model: 'gpt-4o-mini-tts', voice: 'alloy', response_format: 'pcm' },
  ],
  [
    'elevenlabs',
    'https://api.elevenlabs.io/v1/text-to-speech/bIHbv24MWmeRgasZH58o/stream?output_format=pcm_24000',
    { 'xi-api-key': 'k' },
    { model_id: 'eleven_flash_v2_5', language_code: 'de', voice_settings: { stability: 0.8, similarity_boost: 0.75 } },
  ],
  [
    'deepgram',
    'https://api.deepgram.com/v1/speak?model=aura-2-thalia-en&encoding=linear16&sample_rate=24000&container=none',
    { authorization: 'Token k' },
    { text: 'Grüß <Gott> & "hallo"' },
  ],
  [
    'google',
    'https://texttospeech.googleapis.com/v1/text:synthesize',
    { 'x-goog-api-key': 'k' },
    { voice: { languageCode: 'de-AT' }, audioConfig: { audioEncoding: 'LINEAR16', sampleRateHertz: 24_000 } },
  ],
])('asks %s for speech', (provider, url, headers, body) => {
  const request = tts(provider);
  expect(request).toMatchObject({ url, headers });
  expect(JSON.parse(request.body)).toMatchObject(body);
  // The request has nothing that OpenAI would refuse.
  if (provider === 'openai')
    expect(Object.keys(JSON.parse(request.body) as object).sort()).toEqual(['input', 'model', 'response_format', 'voice']);
});

it('sends a temperature to the providers that the status names as having one', () => {
  const baseURL = 'https://speech.example.com';
  const sent = (provider: string, temperature: number): string => {
    const own = endpoint('tts', provider, provider.startsWith('openai') ? { protocol: 'openai' } : {});
    const settings = { endpoint: provider === 'openai' ? own : { ...own, baseURL }, language: 'en', temperature };
    return ttsStreamingOf(settings)?.context('c').say('Hi').join() ?? ttsProtocolOf(settings).requestFor('Hi').body;
  };
  expect(ttsProviders.filter((provider) => sent(provider, 0) !== sent(provider, 1))).toEqual(temperatureProviders);
});

describe('a pronunciation', () => {
  const pronunciations = [
    { spoken: 'Aare', ipa: 'ˈaː"rə' },
    { spoken: 'Aare Bikes', ipa: 'ˈaːrə baɪks' },
  ];
  const settings = { temperature: 0.2, pronunciations, language: 'en-US' };
  const bodyOf = (provider: string, more?: Partial<ProviderEndpoint>, language = 'en-US'): string =>
    ttsProtocolOf({ ...settings, language, endpoint: endpoint('tts', provider, more) }).requestFor('Aare & Aare Bikes.').body;

  it('is part of what azure is asked to say', () => {
    const said =
      '<phoneme alphabet="ipa" ph="ˈaː&quot;rə">Aare</phoneme> &amp; <phoneme alphabet="ipa" ph="ˈaːrə baɪks">Aare Bikes</phoneme>.';
    expect(bodyOf('azure', { baseURL: 'https://westeurope.tts.speech.microsoft.com' }, 'de-AT')).toContain(`>${said}</voice>`);
  });

  it('is sent beside the text to google, in the language in which it takes some', () => {
    const encoding = { phoneticEncoding: 'PHONETIC_ENCODING_IPA' };
    expect(JSON.parse(bodyOf('google'))).toMatchObject({
      input: {
        text: 'Aare & Aare Bikes.',
        customPronunciations: {
          pronunciations: [
            { phrase: 'Aare', ...encoding, pronunciation: 'ˈaː"rə' },
            { phrase: 'Aare Bikes', ...encoding, pronunciation: 'ˈaːrə baɪks' },
          ],
        },
      },
    });
    expect(bodyOf('google', {}, 'de-AT')).not.toContain('customPronunciations');
  });

  it('stands in the text for deepgram, for single words of its English and Spanish voices', () => {
    expect(JSON.parse(bodyOf('deepgram'))).toEqual({
      text: '\\{"word": "Aare", "pronounce": "ˈaː\\"rə"\\} & \\{"word": "Aare", "pronounce": "ˈaː\\"rə"\\} Bikes.',
    });
    expect(JSON.parse(bodyOf('deepgram', { model: 'aura-2-julius-de' }))).toEqual({ text: 'Aare & Aare Bikes.' });
  });

  it.each(['openai', 'elevenlabs'])('is left out for %s, which says what is spelt', (provider) => {
    expect(bodyOf(provider)).toContain('"Aare & Aare Bikes."');
    expect(bodyOf(provider)).not.toContain('ˈaː');
  });
});

describe('a speed', () => {
  const paced = { language: 'de-AT', temperature: 0.2, speed: 1.4 };
  const bodyOf = (provider: string, more?: Partial<ProviderEndpoint>): Record<string, unknown> =>
    JSON.parse(ttsProtocolOf({ ...paced, endpoint: endpoint('tts', provider, more) }).requestFor('Hi').body) as Record<string, unknown>;

  it('is asked for as each provider has it, as far as it goes', () => {
    expect(bodyOf('openai')).toMatchObject({ speed: 1.4 });
    expect(bodyOf('google')).toMatchObject({ audioConfig: { speakingRate: 1.4 } });
    expect(bodyOf('elevenlabs')).toMatchObject({ voice_settings: { speed: 1.2 } });
    const deepgram = ttsProtocolOf({ ...paced, endpoint: endpoint('tts', 'deepgram') });
    expect(new URL(deepgram.requestFor('Hi').url).searchParams.get('speed')).toBe('1.4');
    const azure = ttsProtocolOf({
      ...paced,
      endpoint: endpoint('tts', 'azure', { baseURL: 'https://westeurope.tts.speech.microsoft.com' }),
    });
    expect(azure.requestFor('a < b').body).toContain('<prosody rate="1.4">a &lt; b</prosody></voice>');
    const said = (provider: string): string =>
      ttsStreamingOf({ ...paced, endpoint: endpoint('tts', provider) })!
        .context('c')
        .say('Hi')
        .join();
    expect(said('elevenlabs')).toContain('"similarity_boost":0.75,"speed":1.2}');
    expect(said('cartesia')).toContain('"generation_config":{"speed":1.4}');
  });

  it('is not sent to a model that has none', () => {
    const url = (model: string): string =>
      ttsProtocolOf({ ...paced, endpoint: endpoint('tts', 'deepgram', { model }) }).requestFor('Hi').url;
    expect(url('aura-2-julius-de')).not.toContain('speed');
    const sonic = ttsStreamingOf({ ...paced, endpoint: endpoint('tts', 'cartesia', { model: 'sonic-2' }) })!;
    expect(sonic.context('c').say('Hi').join()).not.toContain('speed');
  });
});

it('asks azure for speech, in SSML that no text can break out of', () => {
  const { url, headers, body } = tts('azure', { baseURL: 'https://westeurope.tts.speech.microsoft.com', voice: 'de-AT-IngridNeural' });
  expect(url).toBe('https://westeurope.tts.speech.microsoft.com/cognitiveservices/v1');
  expect(headers).toMatchObject({ 'ocp-apim-subscription-key': 'k', 'x-microsoft-outputformat': 'raw-24khz-16bit-mono-pcm' });
  expect(body).toBe(
    '<speak version="1.0" xml:lang="de-AT"><voice name="de-AT-IngridNeural">Grüß &lt;Gott&gt; &amp; &quot;hallo&quot;</voice></speak>',
  );
});

it.each([
  [
    'elevenlabs',
    'wss://api.elevenlabs.io/v1/text-to-speech/bIHbv24MWmeRgasZH58o/multi-stream-input?model_id=eleven_flash_v2_5&language_code=de&output_format=pcm_24000&auto_mode=true&sync_alignment=true&inactivity_timeout=180',
    { 'xi-api-key': 'k' },
  ],
  ['cartesia', 'wss://api.cartesia.ai/tts/websocket', { authorization: 'Bearer k', 'cartesia-version': '2025-04-16' }],
])('hears %s over a WebSocket', (provider, url, headers) => {
  const streaming = ttsStreamingOf({ endpoint: endpoint('tts', provider), language: 'de-AT', temperature: 0.2 });
  expect(streaming).toMatchObject({ url, headers });
});

it.each([
  ['eleven_multilingual_v2', true],
  ['eleven_v3', false],
  ['eleven_v3_conversational', false],
])('says what came before a sentence, where %s takes it and is asked by HTTP: %s', (model, takes) => {
  const settings = { endpoint: endpoint('tts', 'elevenlabs', { model }), language: 'en', temperature: 0 };
  expect(ttsStreamingOf(settings)?.continuesOverHttp === true).toBe(takes);
  const body = (before: string) => JSON.parse(ttsProtocolOf(settings).requestFor('Hi', before).body) as { previous_text?: string };
  expect(body('Hello. ').previous_text).toBe(takes ? 'Hello. ' : undefined);
  expect(body('')).not.toHaveProperty('previous_text');
});

it.each([
  ['openai', 'https://api.openai.com/v1/audio/transcriptions', { text: 'hallo' }],
  [
    'deepgram',
    'https://api.deepgram.com/v1/listen?model=nova-3&language=de&smart_format=true',
    { results: { channels: [{ alternatives: [{ transcript: 'hallo' }] }] } },
  ],
  ['elevenlabs', 'https://api.elevenlabs.io/v1/speech-to-text', { text: 'hallo' }],
  [
    'google',
    'https://speech.googleapis.com/v1/speech:recognize',
    { results: [{ alternatives: [{ transcript: 'hal' }] }, { alternatives: [{ transcript: 'lo' }] }] },
  ],
])('asks %s for a transcript, and finds it in the response', (provider, url, answer) => {
  const protocol = stt(provider);
  expect(protocol.requestFor(new Uint8Array(50)).url).toBe(url);
  expect(protocol.textOf(answer)).toBe('hallo');
  for (const none of [null, [], 'hallo', 7]) expect(protocol.textOf(none) ?? '').toBe('');
});

it.each([
  [
    'deepgram',
    'wss://api.deepgram.com/v1/listen?model=nova-3&language=de&encoding=linear16&sample_rate=16000&channels=1&interim_results=true&smart_format=true&endpointing=300',
    { authorization: 'Token k' },
  ],
  [
    'elevenlabs',
    'wss://api.elevenlabs.io/v1/speech-to-text/realtime?model_id=scribe_v2_realtime&language_code=de&audio_format=pcm_16000&commit_strategy=manual&include_timestamps=false',
    { 'xi-api-key': 'k' },
  ],
  [
    'cartesia',
    'wss://api.cartesia.ai/stt/websocket?model=ink-whisper&language=de&encoding=pcm_s16le&sample_rate=16000',
    { authorization: 'Bearer k', 'cartesia-version': '2026-08-14' },
  ],
])('streams speech to %s', (provider, url, headers) => {
  expect(sttStreamingOf({ endpoint: endpoint('stt', provider), language: 'de-AT' })).toMatchObject({ url, headers });
});

describe('keywords', () => {
  const WORDS = ['Aare Bikes', 'Zürich'];
  const told = { language: 'de-AT', keywords: WORDS };
  const urlOf = (provider: string, model?: string): URL =>
    new URL(sttStreamingOf({ ...told, endpoint: endpoint('stt', provider, model === undefined ? {} : { model }) })!.url);

  it.each([
    ['deepgram', undefined, 'keyterm', WORDS],
    ['deepgram', 'flux-general-en', 'keyterm', WORDS],
    ['deepgram', 'nova-2', 'keywords', ['Zürich']],
    ['elevenlabs', undefined, 'keyterms', WORDS],
    ['cartesia', 'ink-2', 'keyterm', WORDS],
    ['cartesia', undefined, 'keyterm', []],
    ['assemblyai', undefined, 'keyterms_prompt', ['["Aare Bikes","Zürich"]']],
    ['assemblyai', 'whisper-rt', 'keyterms_prompt', []],
  ])('are named in the address of %s with the model %s, by %s', (provider, model, parameter, expected) => {
    const url = urlOf(provider, model);
    expect(url.searchParams.getAll(parameter)).toEqual(expected);
    expect(url.search).not.toContain('+');
  });

  it.each([
    ['gpt-4o-mini-transcribe', { prompt: 'Expect these words: Aare Bikes, Zürich.' }],
    ['whisper-1', { prompt: 'Aare Bikes, Zürich' }],
    ['gpt-live-transcribe', { keywords: WORDS }],
    ['gpt-realtime-whisper', {}],
  ])('are part of the session with %s', (model, expected) => {
    const [message] = sttStreamingOf({ ...told, endpoint: endpoint('stt', 'openai', { model }) })!.session().begin!();
    const { prompt, keywords } = (
      JSON.parse(String(message)) as { session: { audio: { input: { transcription: Record<string, unknown> } } } }
    ).session.audio.input.transcription;
    expect({ ...(prompt !== undefined && { prompt }), ...(keywords !== undefined && { keywords }) }).toEqual(expected);
  });

  it('are part of each turn with azure', () => {
    const at = endpoint('stt', 'azure', { baseURL: 'https://westeurope.stt.speech.microsoft.com' });
    const [context] = sttStreamingOf({ ...told, endpoint: at })!
      .session()
      .audio(new Uint8Array(2));
    expect(String(context)).toContain('"dgi":{"Groups":[{"Type":"Generic","Items":[{"Text":"Aare Bikes"},{"Text":"Zürich"}]}],"bias":1}');
  });

  it('are fields of requests for recordings', () => {
    const requestTo = (provider: string, model?: string) =>
      sttProtocolOf({ ...told, endpoint: endpoint('stt', provider, model === undefined ? {} : { model }) }).requestFor(new Uint8Array(50));
    const formOf = (provider: string, model?: string): FormData => requestTo(provider, model).body as unknown as FormData;
    expect(formOf('openai').get('prompt')).toBe('Expect these words: Aare Bikes, Zürich.');
    expect(formOf('openai', 'gpt-transcribe').getAll('keywords[]')).toEqual(WORDS);
    expect(formOf('openai', 'gpt-4o-transcribe-diarize').get('prompt')).toBeNull();
    expect(formOf('elevenlabs').getAll('keyterms')).toEqual(WORDS);
    expect(JSON.parse(requestTo('google').body as string)).toMatchObject({ config: { speechContexts: [{ phrases: WORDS }] } });
    expect(new URL(requestTo('deepgram', 'whisper-large').url).searchParams.has('keyterm')).toBe(false);
  });

  it('leave requests as they are where there are none', () => {
    for (const provider of ['google', 'openai'])
      expect(JSON.stringify(stt(provider).requestFor(new Uint8Array(50)).body)).not.toMatch(/speechContexts|prompt/);
  });
});

it.each([
  ['deepgram', 'nova-2', true],
  ['deepgram', 'flux-general-en', true],
  ['deepgram', 'whisper-large', false],
  ['elevenlabs', 'scribe_v2_realtime', true],
  ['elevenlabs', 'scribe_v2', false],
  ['elevenlabs', 'scribe_v1', false],
  ['cartesia', 'ink-2', true],
  ['google', 'latest_long', false],
])('streams to %s with the model %s: %s', (provider, model, streams) => {
  const streaming = sttStreamingOf({ endpoint: endpoint('stt', provider, { model }), language: 'de-AT' });
  expect(streaming?.model).toBe(streams ? model : undefined);
  if (!streams) expect(stt(provider, { model }).model).toBe(model);
});

it.each([
  ['de-DE', 'de'],
  ['de-CH', 'de-CH'],
  ['es-ES', 'es'],
  ['es', 'es'],
  ['es-MX', 'es-419'],
  ['fr-FR', 'fr'],
  ['it-IT', 'it'],
  ['en-us', 'en-us'],
  ['nb-NO', 'no'],
  ['zh-Hant', 'zh-Hant'],
  ['zh-SG', 'zh'],
])('asks deepgram for %s as %s', (language, listed) => {
  const { url } = sttProtocolOf({ endpoint: endpoint('stt', 'deepgram'), language }).requestFor(new Uint8Array(0));
  expect(new URL(url).searchParams.get('language')).toBe(listed);
});

it.each([
  [0, 1],
  [0.2, 1],
  [0.5, 0.5],
  [0.74, 0.5],
  [0.8, 0],
  [2, 0],
])('asks for a stability that eleven_v3 takes: temperature %d is %d', (temperature, stability) => {
  const { body } = ttsProtocolOf({
    endpoint: endpoint('tts', 'elevenlabs', { model: 'eleven_v3' }),
    language: 'en',
    temperature,
  }).requestFor('Hi');
  expect(JSON.parse(body)).toMatchObject({ voice_settings: { stability } });
});
