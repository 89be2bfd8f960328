/** Cartesia's Ink models on the WebSocket that leaves the end of turns to its client: https://docs.cartesia.ai/api-reference/stt/websocket */
import { failureOfStatus } from '../../../../calls/provider-access/index.ts';
import { DEFAULT_RECOGNIZERS } from '../../../../crds/keywords.ts';
import { asText, at, baseLanguage, cartesiaApi, socketUrl } from '../../protocol-support.ts';
import { keywordsFor, type SttSettings } from '../stt-protocols.ts';
import type { SttStreamEvent, SttStreaming, SttStreamSession } from './protocol.ts';

const SAMPLE_RATE = 16_000;
/** Version of the API; those before 2026-03-01 report errors without a status. */
const VERSION = '2026-08-14';
const FAILURE = { kind: 'runtime', message: 'reports an error' } as const;

export function cartesiaStreaming(settings: SttSettings): SttStreaming {
  const { endpoint, language } = settings;
  const { baseURL, headers } = cartesiaApi(endpoint);
  const { model = DEFAULT_RECOGNIZERS.cartesia } = endpoint;
  const audio = { encoding: 'pcm_s16le', sample_rate: String(SAMPLE_RATE) };
  const query = { model, language: baseLanguage(language), ...audio, keyterm: keywordsFor(settings, model) };
  return {
    model,
    url: socketUrl(baseURL, '/stt/websocket', query),
    headers: { ...headers, 'cartesia-version': VERSION },
    sampleRate: SAMPLE_RATE,
    answersEveryFlush: true,
    session,
  };
}

function session(): SttStreamSession {
  /** The final pieces since the last flush. A piece may end in the middle of a word: only together they are the final transcript. */
  let pieces = '';
  return {
    audio: (pcm) => [pcm],
    flush: () => ['finalize'],
    end: () => ['close'],
    read(received): readonly SttStreamEvent[] {
      switch (at(received, 'type')) {
        case 'transcript': {
          const text = pieces + (asText(at(received, 'text')) ?? '');
          if (at(received, 'is_final') === true) pieces = text;
          return [{ type: 'interim', text }];
        }
        case 'flush_done': {
          const text = pieces;
          pieces = '';
          return [{ type: 'final', text }, { type: 'flushed' }];
        }
        case 'error': {
          const status = at(received, 'status_code');
          return [{ type: 'failed', ...(typeof status === 'number' ? failureOfStatus(status) : FAILURE) }];
        }
        default:
          return [];
      }
    },
  };
}
