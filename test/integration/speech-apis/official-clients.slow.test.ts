/** Compares what providers' own clients and Parley send, field by field, to an API that refuses what the provider refuses. */
import { fileURLToPath } from 'node:url';

import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { openEgress, type TestEgress } from '../../support/open-egress.ts';
import { createProviders, type CreateProvidersOptions, type Providers } from '../../../voice/providers/index.ts';
import { run } from '../../support/run.ts';
import { recognize } from '../../support/speech-recognition.ts';
import { spokenBy } from '../../support/speech-synthesis.ts';
import { officialPython } from './official-python.ts';
import { HEARD, KEY, RACHEL, SOUND, startSpeechApis, type ApiRequest, type SpeechApis } from './speech-apis.ts';

const SAID = 'Wir haben bis sechs geöffnet.';
const KEYWORDS = ['Aare', 'Zürich'];
type Agent = CreateProvidersOptions['agent'];

let apis: SpeechApis;
let egress: TestEgress;

beforeAll(async () => {
  egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
  apis = await startSpeechApis();
});
beforeEach(() => void (apis.taken.length = 0));
afterAll(async () => {
  egress.close();
  await apis.stop();
});

const addressOf = (provider: string): string => (['cartesia', 'azure'].includes(provider) ? apis.url : `${apis.url}/v1`);

interface Settings {
  readonly language?: string;
  readonly stt?: Partial<Agent['speechToText']>;
  readonly tts?: Partial<Agent['textToSpeech']>;
}

async function withProviders<T>(
  provider: string,
  { language = 'de-AT', stt, tts }: Settings,
  work: (providers: Providers) => Promise<T>,
): Promise<T> {
  const endpoint = { provider, baseURL: addressOf(provider), apiKeySecretRef: { name: 'keys', key: 'key' } };
  const agent = {
    language,
    llm: { provider: 'openai', model: 'm', temperature: '0', apiKeySecretRef: endpoint.apiKeySecretRef },
    speechToText: { ...endpoint, ...stt },
    textToSpeech: { ...endpoint, voice: {}, temperature: '0.3', ...tts },
  } as Agent;
  const providers = await createProviders({
    org: 'acme',
    agent,
    keys: { read: async () => KEY },
    egress,
    defaults: [],
    logger: pino({ level: 'silent' }),
    env: {},
  });
  try {
    return await work(providers);
  } finally {
    await providers.close();
  }
}

const heardBy = (provider: string, settings: Settings = {}): Promise<string> =>
  withProviders(provider, settings, ({ stt }) => recognize(stt, new Int16Array(16_000)));

const soundBy = (provider: string, settings: Settings = {}): Promise<Buffer> =>
  withProviders(provider, settings, async ({ tts }) => Buffer.from((await spokenBy(tts, SAID)).buffer));

/** Drops the language and the temperature, which are sent as well to an address that is not OpenAI's own. */
function withoutExtensions(provider: string, request: ApiRequest): ApiRequest {
  if (provider !== 'openai') return request;
  const { language: _language, temperature: _temperature, ...fields } = request.fields as Readonly<Record<string, unknown>>;
  return { ...request, fields };
}

/** Returns the requests that matter: a connection is opened in advance with a HEAD, and WebSockets are tried. */
const taken = (): readonly ApiRequest[] =>
  apis.taken.filter(({ method, path }) => method !== 'HEAD' && !/(realtime|websocket|stream-input)$/.test(path));

describe('the official clients', () => {
  let interpreter: string;
  beforeAll(async () => void (interpreter = await officialPython()));

  async function official(
    provider: string,
    part: 'stt' | 'tts',
    settings: object,
  ): Promise<{ readonly text?: string; readonly sound?: string; readonly voice?: string }> {
    const script = fileURLToPath(new URL('official_clients.py', import.meta.url));
    const { code, stdout, stderr } = await run(interpreter, [script, provider, part, apis.url, JSON.stringify(settings)]);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as { text?: string; sound?: string; voice?: string };
  }

  it.each([
    ['deepgram', { model: 'whisper-large', language: 'de' }, { model: 'whisper-large' }],
    ['elevenlabs', { model_id: 'scribe_v2', language_code: 'de' }, { model: 'scribe_v2' }],
    ['openai', { model: 'gpt-4o-mini-transcribe', language: 'de' }, { model: 'gpt-4o-mini-transcribe' }],
    ['google', { language_code: 'de-AT', model: 'latest_long' }],
    ['elevenlabs', { model_id: 'scribe_v2', language_code: 'de', keyterms: KEYWORDS }, { model: 'scribe_v2', keywords: KEYWORDS }],
    ['openai', { model: 'gpt-transcribe', language: 'de', keywords: KEYWORDS }, { model: 'gpt-transcribe', keywords: KEYWORDS }],
    ['google', { language_code: 'de-AT', model: 'latest_long', speech_contexts: [{ phrases: KEYWORDS }] }, { keywords: KEYWORDS }],
  ])('of %s asks for a transcript as Parley does', async (provider, settings, stt: Settings['stt'] = {}) => {
    expect(await official(provider, 'stt', settings)).toEqual({ text: HEARD });
    const theirs = taken();
    apis.taken.length = 0;
    expect(await heardBy(provider, { stt })).toBe(HEARD);
    expect(taken()).toEqual(theirs);
  });

  it.each([
    ['deepgram', { text: SAID, model: 'aura-2-thalia-en' }, {}],
    [
      'elevenlabs',
      { text: SAID, voice: 'Rachel', stability: 0.5, speed: 1.1, model_id: 'eleven_v3', language_code: 'de' },
      { voice: { name: 'Rachel' }, model: 'eleven_v3', speed: '1.1' },
    ],
    ['openai', { input: SAID, model: 'gpt-4o-mini-tts', voice: 'alloy' }, { model: 'gpt-4o-mini-tts' }],
    ['google', { text: SAID, language_code: 'de-AT', name: 'de-DE-Neural2-F' }, { voice: { name: 'de-DE-Neural2-F' } }],
    ['deepgram', { text: SAID, model: 'aura-2-thalia-en', speed: 1.2 }, { speed: '1.2' }],
    ['openai', { input: SAID, model: 'tts-1', voice: 'alloy', speed: 0.75 }, { model: 'tts-1', speed: '0.75' }],
    [
      'google',
      { text: SAID, language_code: 'de-AT', name: 'de-DE-Neural2-F', speaking_rate: 1.25 },
      { voice: { name: 'de-DE-Neural2-F' }, speed: '1.25' },
    ],
  ])('of %s asks for speech as Parley does', async (provider, settings, tts) => {
    const { sound } = await official(provider, 'tts', settings);
    expect(Buffer.from(sound ?? '', 'base64').equals(SOUND)).toBe(true);
    const theirs = taken();
    apis.taken.length = 0;
    expect((await soundBy(provider, { tts })).length).toBeGreaterThanOrEqual(SOUND.length);
    expect(taken().map((request) => withoutExtensions(provider, request))).toEqual(theirs);
  });

  it('of cartesia looks a voice up as Parley does', async () => {
    expect(await official('cartesia', 'tts', { voice: RACHEL.name })).toEqual({ voice: RACHEL.cartesia });
    const theirs = taken();
    apis.taken.length = 0;
    await withProviders('cartesia', { tts: { voice: { name: RACHEL.name } } }, async () => undefined);
    expect(taken()).toEqual(theirs);
  });
});

describe('an API that refuses what its provider refuses', () => {
  it.each(['de-DE', 'es-ES', 'fr-FR', 'it-IT', 'pt-BR', 'es-MX', 'nb-NO', 'zh-Hant-TW', 'en-ZA'])(
    'takes %s for Deepgram',
    async (language) => {
      expect(await heardBy('deepgram', { language, stt: { model: 'whisper-large' } })).toBe(HEARD);
    },
  );

  it('takes a voice by its name, its id, and at each temperature of eleven_v3', async () => {
    for (const voice of [{ name: RACHEL.name }, { name: RACHEL.elevenLabs }, { id: RACHEL.elevenLabs, name: 'any' }])
      for (const temperature of ['0', '0.3', '0.8', '2'])
        expect((await soundBy('elevenlabs', { tts: { voice, temperature, model: 'eleven_v3' } })).length).toBeGreaterThan(0);
  });

  it('takes what Azure is sent', async () => {
    expect((await soundBy('azure', { tts: { voice: { name: 'de-AT-IngridNeural' } } })).length).toBeGreaterThan(0);
  });

  it('says at the start of a call which voice an account lacks', async () => {
    await expect(soundBy('cartesia', { tts: { voice: { name: 'Robert' } } })).rejects.toThrow(
      /cartesia \(text to speech\) has no voice called "Robert" \(it has "Rachel"\)/,
    );
  });
});
