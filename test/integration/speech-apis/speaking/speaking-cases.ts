/** Lists the WebSockets that text to speech knows, each with the arguments of its provider's own client for the same. */
import type { ProviderEndpoint } from '../../../../calls/provider-access/index.ts';
import { KEY, RACHEL } from '../speech-apis.ts';
import { sonic } from './cartesia-api.ts';
import { multiContext } from './elevenlabs-api.ts';
import type { SpeakingMessage, SpeakingApi } from './speaking-server.ts';

export interface SpeakingCase {
  readonly name: string;
  readonly api: SpeakingApi;
  readonly endpoint: Pick<ProviderEndpoint, 'provider' | 'voice'>;
  /** Path in `baseURL`. */
  readonly path: string;
  /** Set if the rest of an answer whose context is lost goes over HTTP. */
  readonly continuesOverHttp: boolean;
  /** Tells whether a message ends a context, for whatever reason. */
  readonly ends: (message: SpeakingMessage) => boolean;
  /** Error messages, each with its kind, and the text that reports it. */
  readonly errors: readonly (readonly [message: SpeakingMessage, kind: string, said: RegExp, attempts: number])[];
  /** Arguments of the function in official_speaking_clients.py that has the provider's name, for American English. */
  readonly official: object;
}

const format = { container: 'raw', encoding: 'pcm_s16le', sample_rate: 24_000 };

export const CASES: readonly SpeakingCase[] = [
  {
    name: 'ElevenLabs',
    api: multiContext,
    endpoint: { provider: 'elevenlabs', voice: RACHEL.elevenLabs },
    path: '/v1',
    continuesOverHttp: true,
    ends: (message) => message['close_context'] === true,
    errors: [
      [{ error: 'quota_exceeded', message: 'No credits.', code: 1008 }, 'refused', /quota is used up/, 1],
      [{ error: 'too_many_concurrent_requests', message: 'Wait.', code: 1008 }, 'runtime', /its limit is reached/, 3],
      [{ error: 'something_new', message: 'No.', code: 1011 }, 'runtime', /reports an error/, 3],
    ],
    official: {
      voice: RACHEL.elevenLabs,
      query: {
        model_id: 'eleven_flash_v2_5',
        language_code: 'en',
        output_format: 'pcm_24000',
        auto_mode: 'true',
        sync_alignment: 'true',
        inactivity_timeout: '180',
      },
      voice_settings: { stability: 0.7, similarity_boost: 0.75 },
    },
  },
  {
    name: 'Cartesia',
    api: sonic,
    endpoint: { provider: 'cartesia', voice: RACHEL.cartesia },
    path: '',
    continuesOverHttp: false,
    ends: (message) => message['continue'] === false || message['cancel'] === true,
    errors: [
      [{ type: 'error', title: 'No', status_code: 402, done: true }, 'refused', /answers 402/, 1],
      [{ type: 'error', title: 'Wait', status_code: 429, done: true }, 'runtime', /its limit is reached/, 3],
      [{ type: 'error', title: 'Oh', status_code: 500, done: true }, 'runtime', /answers 500/, 3],
      [{ type: 'error', error: 'oh', done: true }, 'runtime', /reports an error/, 3],
    ],
    official: {
      model_id: 'sonic-3',
      voice: { mode: 'id', id: RACHEL.cartesia },
      output_format: format,
      language: 'en',
      max_buffer_delay_ms: 0,
    },
  },
];

export const endpointAt = (url: string, { endpoint, path }: Pick<SpeakingCase, 'endpoint' | 'path'>): ProviderEndpoint => ({
  part: 'tts',
  protocol: 'own',
  guarded: true,
  apiKey: KEY,
  baseURL: `${url}${path}`,
  ...endpoint,
});
