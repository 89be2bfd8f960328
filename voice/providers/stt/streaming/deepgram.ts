/** Deepgram's Nova and Flux models on its WebSockets. */
import { requireApiKey } from '../../../../calls/provider-access/index.ts';
import { DEFAULT_RECOGNIZERS } from '../../../../crds/keywords.ts';
import { asNumber, asText, at, baseLanguage, socketUrl } from '../../protocol-support.ts';
import { deepgramLanguage } from '../deepgram-language.ts';
import { deepgramKeywords, type SttSettings } from '../stt-protocols.ts';
import type { SttStreamEvent, SttStreaming, SttStreamSession } from './protocol.ts';

const SAMPLE_RATE = 16_000;
const AUDIO = { encoding: 'linear16', sample_rate: String(SAMPLE_RATE) } as const;
/** Silence after which a segment ends, in milliseconds, if it isn't asked for earlier. */
const ENDPOINTING_MS = '300';

export function deepgramStreaming(settings: SttSettings): SttStreaming | undefined {
  const { endpoint, language } = settings;
  const { baseURL = 'https://api.deepgram.com/v1', model = DEFAULT_RECOGNIZERS.deepgram } = endpoint;
  const common = { model, headers: { authorization: `Token ${requireApiKey(endpoint)}` }, sampleRate: SAMPLE_RATE };
  const keywords = deepgramKeywords(settings, model);
  if (model.startsWith('flux')) {
    const hint = model.endsWith('-multi') ? { language_hint: baseLanguage(language) } : {};
    const url = socketUrl(baseURL.replace(/\/v1$/, ''), '/v2/listen', { model, ...AUDIO, ...hint, ...keywords });
    return { ...common, url, session: fluxSession };
  }
  // Whisper is hosted for recordings only.
  if (model.startsWith('whisper')) return undefined;
  const query = { model, language: deepgramLanguage(language), ...AUDIO, channels: '1', interim_results: 'true', smart_format: 'true' };
  return { ...common, url: socketUrl(baseURL, '/listen', { ...query, endpointing: ENDPOINTING_MS, ...keywords }), session: novaSession };
}

const message = (type: string): string[] => [JSON.stringify({ type })];
const seconds = (value: unknown): number => asNumber(value) ?? 0;

/** Opens a session of Nova: https://developers.deepgram.com/reference/speech-to-text/listen-streaming */
function novaSession(): SttStreamSession {
  return {
    audio: (pcm) => [pcm],
    flush: () => message('Finalize'),
    keepAlive: () => message('KeepAlive'),
    end: () => message('CloseStream'),
    read(received) {
      if (at(received, 'type') === 'Error') return [{ type: 'failed', kind: 'runtime', message: 'reports an error' }];
      if (at(received, 'type') !== 'Results') return [];
      const text = asText(at(received, 'channel', 'alternatives', 0, 'transcript')) ?? '';
      if (at(received, 'is_final') !== true) return [{ type: 'interim', text }];
      const upToSeconds = seconds(at(received, 'start')) + seconds(at(received, 'duration'));
      const final: SttStreamEvent = { type: 'final', text, upToSeconds };
      return at(received, 'from_finalize') === true ? [final, { type: 'flushed' }] : [final];
    },
  };
}

/**
 * Opens a session of Flux, which decides by itself when a turn is over:
 * https://developers.deepgram.com/reference/speech-to-text/listen-flux
 */
function fluxSession(): SttStreamSession {
  return {
    audio: (pcm) => [pcm],
    end: () => message('CloseStream'),
    read(received) {
      if (at(received, 'type') === 'Error') return [{ type: 'failed', kind: 'runtime', message: 'reports an error' }];
      if (at(received, 'type') !== 'TurnInfo') return [];
      const text = asText(at(received, 'transcript')) ?? '';
      if (at(received, 'event') !== 'EndOfTurn') return [{ type: 'interim', text }];
      return [{ type: 'final', text, upToSeconds: seconds(at(received, 'audio_window_end')) }, { type: 'end_of_turn' }];
    },
  };
}
