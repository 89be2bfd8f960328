/** Cartesia's contexts on a WebSocket: https://docs.cartesia.ai/api-reference/tts/websocket */
import { failureOfStatus } from '../../../../calls/provider-access/index.ts';
import { speedFor } from '../../../../crds/voice-speed.ts';
import { asText, at, baseLanguage, cartesiaApi, socketUrl } from '../../protocol-support.ts';
import { SAMPLE_RATE, type TtsSettings } from '../tts-protocols.ts';
import type { TtsContext, TtsStreaming, TtsStreamEvent } from './protocol.ts';

/**
 * Time after the last sound in which a context takes a sentence, in milliseconds: it expires after a second, and the text must have
 * arrived before.
 */
const CONTEXT_IDLE_MS = 600;
const OUTPUT = { container: 'raw', encoding: 'pcm_s16le', sample_rate: SAMPLE_RATE };

export function cartesiaSpeech({ endpoint, language, speed }: TtsSettings): TtsStreaming {
  const { baseURL, headers } = cartesiaApi(endpoint);
  const { voice = 'f786b574-daa5-4673-aa0c-cbe3e8534c02', model = 'sonic-3' } = endpoint;
  const asked = speedFor(speed, { provider: 'cartesia', model });
  const pace = asked === undefined ? {} : { generation_config: { speed: asked } };
  const settings = { model_id: model, voice: { mode: 'id', id: voice }, output_format: OUTPUT, language: baseLanguage(language), ...pace };
  return {
    model,
    url: socketUrl(baseURL, '/tts/websocket'),
    headers,
    contextIdleMs: CONTEXT_IDLE_MS,
    context: (id) => openContext(id, settings),
    contextOf: (message) => asText(at(message, 'context_id')),
  };
}

/** Status of the answer to an input for a context that has expired, among others. */
const BAD_REQUEST = 400;

function openContext(id: string, settings: object): TtsContext {
  let sentences = 0;
  // The fields of a context may not change. Sentences are whole: none waits for more text.
  const input = (transcript: string, more: { readonly continue: boolean; readonly flush?: true }): string =>
    JSON.stringify({ context_id: id, ...settings, transcript, max_buffer_delay_ms: 0, ...more });
  return {
    // Transcripts are joined as they are. A flush is confirmed when all sound before it has been sent.
    say(text) {
      sentences += 1;
      return [input(`${text} `, { continue: true }), input('', { continue: true, flush: true })];
    },
    end: () => [input('', { continue: false })],
    cancel: () => [JSON.stringify({ context_id: id, cancel: true })],
    read(message): readonly TtsStreamEvent[] {
      switch (at(message, 'type')) {
        case 'chunk': {
          const sound = asText(at(message, 'data')) ?? '';
          return sound === '' ? [] : [{ type: 'sound', pcm: Buffer.from(sound, 'base64') }];
        }
        case 'flush_done':
          return [{ type: 'said' }];
        case 'done':
          return [{ type: 'closed' }];
        case 'error': {
          const status = at(message, 'status_code');
          // A context that took a sentence once does not refuse the next.
          if (status === BAD_REQUEST && sentences > 1) return [{ type: 'failed', kind: 'runtime', message: 'ended a context early' }];
          if (typeof status !== 'number') return [{ type: 'failed', kind: 'runtime', message: 'reports an error' }];
          return [{ type: 'failed', ...failureOfStatus(status), status }];
        }
        default:
          return [];
      }
    },
  };
}
