/**
 * Serves the HTTP APIs of speech providers, as their documentation has them: each refuses what the provider refuses, and keeps what it
 * took. The providers' own clients are accepted (`official-clients.slow.test.ts`), so that what is refused here would be refused there.
 */
import { deepgramLanguages } from './deepgram-languages.ts';
import { sendJson, Servers, startEndpoint, type ReceivedRequest } from '../../support/http-servers.ts';
import { bytesOf, tone } from '../../support/tones.ts';

export const KEY = 'a-key';
export const HEARD = 'Grüß Gott.';
export const RACHEL = { name: 'Rachel', elevenLabs: '21m00Tcm4TlvDq8ikWAM', cartesia: '9f1e2d3c-4b5a-4678-9abc-def012345678' } as const;
/** The sound of an answer, in 16 bits at 24 kHz. */
export const SOUND = bytesOf(tone({ frequency: 440, seconds: 0.1, sampleRate: 24_000 }));

/** One request, without what differs between any two HTTP clients. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly key: string;
  /** Type of the body; `sound` for a file, which some clients send without a type of its own. */
  readonly type: string;
  /** Fields of the JSON or the form. */
  readonly fields: unknown;
}

export interface SpeechApis {
  readonly url: string;
  readonly taken: ApiRequest[];
  stop(): Promise<void>;
}

interface Asked extends ApiRequest {
  readonly headers: ReceivedRequest['headers'];
  readonly fields: Readonly<Record<string, unknown>>;
}
/** @returns the status of a refusal, the JSON of an answer, or its sound */
type Route = (asked: Asked) => number | object;

const matching = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value);

const ROUTES: Readonly<Record<string, Route>> = {
  // Deepgram
  'POST /v1/listen': ({ query, type }) =>
    matching(query['model'], /^(nova-[23]|whisper-)/) && deepgramLanguages.has(query['language'] ?? '') && type === 'sound'
      ? {
          metadata: { request_id: 'r', sha256: '', created: '2026-01-01T00:00:00Z', duration: 1, channels: 1, models: [], model_info: {} },
          results: { channels: [{ alternatives: [{ transcript: HEARD, confidence: 1, words: [] }] }] },
        }
      : 400,
  'POST /v1/speak': ({ query: { model, encoding, sample_rate: rate, container } }) =>
    matching(model, /^aura-/) && encoding === 'linear16' && rate === '24000' && container === 'none' ? SOUND : 400,

  // ElevenLabs
  'GET /v2/voices': () => ({ voices: [{ voice_id: RACHEL.elevenLabs, name: RACHEL.name }], has_more: false, total_count: 1 }),
  'POST /v1/speech-to-text': ({ fields }) =>
    matching(fields['model_id'], /^scribe_v[12]$/) && fields['file'] !== undefined
      ? { language_code: 'deu', language_probability: 1, text: HEARD, words: [] }
      : 422,
  [`POST /v1/text-to-speech/${RACHEL.elevenLabs}/stream`]: speakAsElevenLabs,
  // The voice that every account has, and that Parley takes where the agent names none.
  'POST /v1/text-to-speech/bIHbv24MWmeRgasZH58o/stream': speakAsElevenLabs,

  // Cartesia
  'GET /voices': ({ headers }) => {
    const about = { created_at: '2026-01-01T00:00:00Z', description: '', is_owner: false, is_public: true, language: 'de' };
    return headers['cartesia-version'] === undefined
      ? 400
      : { data: [{ id: RACHEL.cartesia, name: RACHEL.name, ...about }], has_more: false };
  },

  // OpenAI
  'POST /v1/audio/transcriptions': ({ fields }) =>
    matching(fields['model'], /transcribe$|^whisper-1$/) && fields['file'] !== undefined ? { text: HEARD } : 400,
  'POST /v1/audio/speech': ({ fields: { input, model, voice, response_format: format } }) =>
    [input, model, voice].every((field) => typeof field === 'string') && format === 'pcm' ? SOUND : 400,

  // Google
  'POST /v1/speech:recognize': ({ fields: { config } }) =>
    (config as { readonly languageCode?: string }).languageCode === undefined
      ? 400
      : { results: [{ alternatives: [{ transcript: HEARD, confidence: 1 }] }] },
  'POST /v1/text:synthesize': ({ fields: { audioConfig } }) =>
    (audioConfig as { readonly audioEncoding?: string }).audioEncoding === 'LINEAR16' ? { audioContent: SOUND.toString('base64') } : 400,

  // Azure
  'POST /cognitiveservices/v1': ({ headers }) =>
    headers['x-microsoft-outputformat'] === 'raw-24khz-16bit-mono-pcm' && headers['user-agent'] !== undefined ? SOUND : 400,
};

function speakAsElevenLabs({ fields: { model_id: model, voice_settings: settings } }: Asked): Buffer | number {
  const { stability } = settings as { readonly stability: number };
  return matching(model, /^eleven_/) && (model !== 'eleven_v3' || [0, 0.5, 1].includes(stability)) ? SOUND : 400;
}

const KEY_HEADERS = ['authorization', 'xi-api-key', 'x-api-key', 'x-goog-api-key', 'ocp-apim-subscription-key'];

export async function startSpeechApis(): Promise<SpeechApis> {
  const servers = new Servers();
  const taken: ApiRequest[] = [];
  const { url } = await startEndpoint(servers, (response, { method, url: target, headers, raw }) => {
    const { pathname: path, searchParams } = new URL(target, 'http://localhost');
    const query = queryIn(searchParams);
    const name = KEY_HEADERS.find((header) => headers[header] !== undefined);
    const key = `${name}: ${String(headers[name ?? ''])}`;
    const answer = async (): Promise<void> => {
      const fields = await fieldsOf(raw, headers['content-type']);
      const request = { method, path, query, key, type: typeOf(headers['content-type']), fields };
      taken.push(request);
      const route = ROUTES[`${method} ${decodeURIComponent(path)}`];
      const result = !key.endsWith(KEY) ? 401 : (route?.({ ...request, fields: fields ?? {}, headers }) ?? 404);
      if (Buffer.isBuffer(result)) response.writeHead(200, { 'content-type': 'audio/pcm' }).end(result);
      else if (typeof result === 'number') sendJson(response, { error: 'refused' }, result);
      else sendJson(response, result);
    };
    answer().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return { url, taken, stop: () => servers.stop() };
}

/** Joins the values of a parameter that is repeated, one in each line. */
export function queryIn(parameters: Pick<URLSearchParams, 'keys' | 'getAll'>): Readonly<Record<string, string>> {
  // Google's system parameters, such as `$alt`, are about the encoding of the answer.
  const names = [...new Set(parameters.keys())].filter((name) => !name.startsWith('$'));
  // Clients write JSON with spaces or without.
  const plain = (value: string): string => (value.startsWith('[') ? JSON.stringify(JSON.parse(value)) : value);
  return Object.fromEntries(names.map((name) => [name, parameters.getAll(name).map(plain).join('\n')]));
}

function typeOf(contentType = ''): string {
  const type = contentType.split(';')[0]!;
  return ['audio/wav', 'application/octet-stream'].includes(type) ? 'sound' : type;
}

async function fieldsOf(body: Buffer, type = ''): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (type.startsWith('application/json')) return JSON.parse(body.toString()) as Readonly<Record<string, unknown>>;
  if (!type.startsWith('multipart/form-data')) return undefined;
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  // ElevenLabs' client writes out what is absent.
  const shown = (value: string | File): string => (typeof value === 'string' ? value : typeOf(value.type));
  const fields = [...new Set(form.keys())].map((name): [string, string] => [name, form.getAll(name).map(shown).join('\n')]);
  return Object.fromEntries(fields.filter(([, value]) => value !== 'null'));
}
