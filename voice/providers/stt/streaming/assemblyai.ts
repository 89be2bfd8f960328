/** AssemblyAI's Universal-Streaming: https://www.assemblyai.com/docs/streaming/message-sequence */
import { requireApiKey } from '../../../../calls/provider-access/index.ts';
import { assemblyAiModelFor } from '../../../../crds/keywords.ts';
import { asNumber, asText, at, baseLanguage, socketUrl } from '../../protocol-support.ts';
import { keywordsFor, type SttSettings } from '../stt-protocols.ts';
import type { SttStreamEvent, SttStreaming, SttStreamSession } from './protocol.ts';

const SAMPLE_RATE = 16_000;
/** Fewest bytes of one message, 50 ms; the most is 1 s. */
const MESSAGE_BYTES = (SAMPLE_RATE * 2 * 50) / 1_000;
/** Codes that another attempt meets, too: invalid messages or settings, and accounts without credit. All other codes pass. */
const REFUSING_CODES = new Set([1008, 3006, 4001, 4002, 4003]);

export function assemblyAiStreaming(settings: SttSettings): SttStreaming {
  const { endpoint, language } = settings;
  const { baseURL = 'https://streaming.assemblyai.com' } = endpoint;
  const spoken = baseLanguage(language);
  const model = endpoint.model ?? assemblyAiModelFor(language);
  // The other models recognise the language by themselves.
  const hint = model.startsWith('universal-3-') ? { language_codes: JSON.stringify([spoken]) } : {};
  const keywords = keywordsFor(settings, model);
  const told = keywords.length === 0 ? {} : { keyterms_prompt: JSON.stringify(keywords) };
  const query = { sample_rate: String(SAMPLE_RATE), encoding: 'pcm_s16le', speech_model: model, ...hint, ...told };
  return {
    model,
    url: socketUrl(baseURL, '/v3/ws', query),
    headers: { authorization: requireApiKey(endpoint), 'assemblyai-version': '2025-05-12' },
    sampleRate: SAMPLE_RATE,
    answersByFinal: true,
    session: turnSession,
  };
}

const message = (type: string): string => JSON.stringify({ type });

function turnSession(): SttStreamSession {
  /** Audio that waits, up to two messages' worth: so the rest at a pause is long enough for a message. */
  let unsent: Uint8Array = new Uint8Array();
  /** Number of the last turn that has ended. */
  let ended = -1;

  return {
    audio(pcm) {
      unsent = Buffer.concat([unsent, pcm]);
      const messages: Uint8Array[] = [];
      for (; unsent.length >= 2 * MESSAGE_BYTES; unsent = unsent.subarray(MESSAGE_BYTES)) messages.push(unsent.subarray(0, MESSAGE_BYTES));
      return messages;
    },
    flush() {
      if (unsent.length < MESSAGE_BYTES) return [message('ForceEndpoint')];
      const last = unsent;
      unsent = new Uint8Array();
      return [last, message('ForceEndpoint')];
    },
    keepAlive: () => [message('KeepAlive')],
    end() {
      const silence = new Uint8Array(Math.max(0, MESSAGE_BYTES - unsent.length));
      return [...(unsent.length === 0 ? [] : [Buffer.concat([unsent, silence])]), message('Terminate')];
    },
    read(received) {
      if (at(received, 'type') === 'Error') return [failure(at(received, 'error_code'), at(received, 'error'))];
      if (at(received, 'type') !== 'Turn') return [];
      const turn = asNumber(at(received, 'turn_order')) ?? ended + 1;
      // A turn that has ended may come again, formatted.
      if (turn <= ended) return [];
      if (at(received, 'end_of_turn') !== true) return [{ type: 'interim', text: transcribedWords(received).join(' ') }];
      ended = turn;
      return [finalOf(received)];
    },
  };
}

function wordsIn(received: unknown): readonly unknown[] {
  const words = at(received, 'words');
  return Array.isArray(words) ? words : [];
}

/** Returns the words, with those that may still change; `transcript` lacks them. */
const transcribedWords = (received: unknown): readonly string[] => wordsIn(received).map((word) => asText(at(word, 'text')) ?? '');

/**
 * Reads the end of a turn. It comes at a pause that the service finds, or at `ForceEndpoint`: which of the two isn't said. Its last word
 * therefore shows what is settled, and no flush is ever taken for answered.
 */
function finalOf(received: unknown): SttStreamEvent {
  const text = asText(at(received, 'transcript')) ?? '';
  const end = asNumber(at(wordsIn(received).at(-1), 'end'));
  return { type: 'final', text, ...(end !== undefined && { upToSeconds: end / 1_000 }) };
}

function failure(code: unknown, text: unknown): SttStreamEvent {
  const named = String(asNumber(code) ?? 'without a code');
  // Some accounts get the code of a refusal for too many sessions at once.
  const refused = REFUSING_CODES.has(Number(code)) && !/too many/i.test(asText(text) ?? '');
  return refused
    ? { type: 'failed', kind: 'refused', message: `refuses the session (${named}): check its key, model and settings` }
    : { type: 'failed', kind: 'runtime', message: `reports an error (${named})` };
}
