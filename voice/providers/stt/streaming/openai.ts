/** Realtime transcription of OpenAI and of compatible servers: https://developers.openai.com/api/docs/guides/realtime-transcription */
import { takenKeywords } from '../../../../crds/keywords.ts';
import { asText, at, baseLanguage, socketUrl } from '../../protocol-support.ts';
import { openAiPrompt, openAiSttApi, takesLists, type SttSettings } from '../stt-protocols.ts';
import type { SttStreamEvent, SttStreaming, SttStreamSession } from './protocol.ts';

/** Sample rate in Hz, the only one that it takes. */
export const REALTIME_SAMPLE_RATE = 24_000;

export function openAiStreaming(settings: SttSettings): SttStreaming | undefined {
  const { endpoint, language } = settings;
  const { baseURL, official, model, headers } = openAiSttApi(endpoint);
  // Diarising models are hosted for recordings only.
  if (model.includes('diarize')) return undefined;
  // OpenAI takes the model from the session alone, and refuses this one in the address; other servers may choose by it.
  const query = { intent: 'transcription', ...(!official && { model }) };
  const transcription = openAiTranscription({ model, language, keywords: settings.keywords ?? [] });
  const input = { format: { type: 'audio/pcm', rate: REALTIME_SAMPLE_RATE }, transcription, turn_detection: null };
  return {
    model,
    url: socketUrl(baseURL, '/realtime', query),
    headers,
    sampleRate: REALTIME_SAMPLE_RATE,
    confirms: true,
    speechOnly: true,
    answersEveryFlush: true,
    ...(!official && { optional: true }),
    session: () => realtimeTranscription({ type: 'transcription', audio: { input } }),
  };
}

/** Builds what a session is told about the transcripts of the user's sound. */
export function openAiTranscription({
  model,
  language,
  keywords,
}: Required<Pick<SttSettings, 'language' | 'keywords'>> & { readonly model: string }): object {
  const lists = takesLists(model);
  const spoken = lists ? { languages: [baseLanguage(language)] } : { language: baseLanguage(language) };
  const taken = takenKeywords(keywords, { provider: 'openai', model });
  const told = lists ? { keywords: taken } : { prompt: openAiPrompt(taken, model) };
  return { model, ...spoken, ...(taken.length > 0 && told) };
}

/** Audio that has been committed. Transcripts may come in another order. */
interface Item {
  /** Id of the item; absent where there was no audio to commit. */
  readonly id?: unknown;
  transcript?: string;
}

/** Reads the transcripts of a session. @param settings what the session is begun with */
export function realtimeTranscription(settings: object): SttStreamSession {
  let confirmed = false;
  /** Words of items that have no transcript yet, by the item's id. */
  const partial = new Map<unknown, string>();
  const items: Item[] = [];

  /** Returns the transcripts whose turn it is. */
  function settle(): readonly SttStreamEvent[] {
    const open = items.findIndex(({ transcript }) => transcript === undefined);
    const settled = items.splice(0, open === -1 ? items.length : open);
    return settled.flatMap(({ id, transcript = '' }): SttStreamEvent[] => {
      partial.delete(id);
      return [{ type: 'final', text: transcript }, { type: 'flushed' }];
    });
  }

  return {
    begin: () => [JSON.stringify({ type: 'session.update', session: settings })],
    audio: (pcm) => [JSON.stringify({ type: 'input_audio_buffer.append', audio: Buffer.from(pcm).toString('base64') })],
    flush: () => [JSON.stringify({ type: 'input_audio_buffer.commit' })],
    end: () => [],
    read(received) {
      const id = at(received, 'item_id');
      switch (at(received, 'type')) {
        case 'session.updated':
        case 'transcription_session.updated':
          if (detectsTurns(received))
            return [{ type: 'failed', kind: 'refused', message: 'ends turns by itself although it was asked not to' }];
          if (confirmed) return [];
          confirmed = true;
          return [{ type: 'ready' }];
        case 'conversation.item.input_audio_transcription.delta':
          partial.set(id, (partial.get(id) ?? '') + (asText(at(received, 'delta')) ?? ''));
          return [{ type: 'interim', text: [...partial.values()].join(' ') }];
        case 'input_audio_buffer.committed':
          items.push({ id });
          return [];
        case 'conversation.item.input_audio_transcription.completed': {
          const transcript = asText(at(received, 'transcript')) ?? '';
          const item = items.find((each) => each.id === id);
          if (item === undefined) items.push({ id, transcript });
          else item.transcript = transcript;
          return settle();
        }
        case 'conversation.item.input_audio_transcription.failed':
          return [{ type: 'failed', kind: 'runtime', message: 'reports that it failed to recognise speech' }];
        case 'error':
          if (confirmed && isEmptyCommit(at(received, 'error'))) {
            items.push({ transcript: '' });
            return settle();
          }
          if (confirmed || at(received, 'error', 'type') === 'server_error')
            return [{ type: 'failed', kind: 'runtime', message: 'reports an error' }];
          return [{ type: 'failed', kind: 'refused', message: 'refuses the session: check its key, model and language' }];
        default:
          return [];
      }
    },
  };
}

/**
 * Returns whether the server detects turns: servers with the protocol's former fields ignore the present ones, and would go on without a
 * word.
 */
const detectsTurns = (received: unknown): boolean =>
  [at(received, 'session', 'audio', 'input', 'turn_detection'), at(received, 'session', 'turn_detection')].some(
    (detection) => typeof detection === 'object' && detection !== null,
  );

/** Returns whether a commit had less than 100 ms of audio. The code is OpenAI's; some servers have its message alone. */
const isEmptyCommit = (error: unknown): boolean =>
  at(error, 'code') === 'input_audio_buffer_commit_empty' ||
  /committing input audio buffer.*(empty|too small)/i.test(asText(at(error, 'message')) ?? '');
