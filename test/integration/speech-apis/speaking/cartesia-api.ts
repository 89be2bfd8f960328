/** Cartesia's text to speech on a WebSocket, as its documentation and its client have it. */
import { RACHEL } from '../speech-apis.ts';
import type { SpeakingConnection, SpeakingMessage, SpeakingApi } from './speaking-server.ts';

const LANGUAGES = new Set(['en', 'de', 'fr']);
/** A context expires so many milliseconds after its last sound. */
const EXPIRES_MS = 1_000;
/** Only these fields may change from one input of a context to the next. */
const CHANGING: ReadonlySet<string> = new Set(['transcript', 'continue', 'flush', 'duration']);

export const sonic: SpeakingApi = {
  refuses({ path }, headers) {
    if (path !== '/tts/websocket') return 404;
    return headers['cartesia-version'] === undefined ? 400 : undefined;
  },
  session,
};

interface Context {
  readonly settings: string;
  said: Promise<void>;
  flushes: number;
  cancelled: boolean;
  /** Moment since which there is nothing to say. */
  idleSince: number;
}

function session({ send, speak, now }: SpeakingConnection): (message: SpeakingMessage) => void {
  const contexts = new Map<string, Context>();
  const say = async (context: Context, id: string, text: string): Promise<void> => {
    const about = { context_id: id, flush_id: context.flushes, status_code: 206, done: false };
    await context.said;
    await speak(text, (_piece, pcm) => {
      if (!context.cancelled) send({ type: 'chunk', data: pcm.toString('base64'), step_time: 1, ...about });
    });
    context.idleSince = now();
  };
  return (message) => {
    const { context_id: id, cancel, transcript, flush } = message;
    const refuse = (title: string): void =>
      send({
        type: 'error',
        title,
        message: title,
        error_code: 'invalid_request',
        status_code: 400,
        done: true,
        request_id: 'r',
        context_id: id,
      });
    if (typeof id !== 'string') return refuse('Missing context_id');
    const known = contexts.get(id);
    if (cancel === true) return void (known !== undefined && (known.cancelled = true));
    const settings = settingsOf(message);
    if (settings === undefined || typeof transcript !== 'string') return refuse('Invalid request');
    if (known !== undefined && known.settings !== settings) return refuse('The fields of a context changed');
    if (known !== undefined && now() - known.idleSince > EXPIRES_MS) return refuse('The context has expired');
    if (transcript.trim() === '' && flush !== true && message['continue'] === true) return refuse('Empty transcript');
    const context = known ?? { settings, said: Promise.resolve(), flushes: 0, cancelled: false, idleSince: Number.POSITIVE_INFINITY };
    contexts.set(id, context);
    if (transcript !== '') {
      context.idleSince = Number.POSITIVE_INFINITY;
      context.said = say(context, id, transcript);
    }
    if (flush === true) {
      const flushed = context.flushes++;
      void context.said.then(() =>
        send({ type: 'flush_done', context_id: id, flush_id: flushed, flush_done: true, status_code: 206, done: false, data: '' }),
      );
    }
    if (message['continue'] !== true) void context.said.then(() => send({ type: 'done', context_id: id, status_code: 200, done: true }));
  };
}

/** @returns the settings of a message; undefined where the API refuses them */
function settingsOf(message: SpeakingMessage): string | undefined {
  const { model_id: model, voice, output_format: format, language, max_buffer_delay_ms: delay } = message;
  const { id } = (voice ?? {}) as { readonly id?: string };
  const { container, encoding, sample_rate: rate } = (format ?? {}) as SpeakingMessage;
  const right =
    String(model).startsWith('sonic-') &&
    id === RACHEL.cartesia &&
    (language === undefined || LANGUAGES.has(language as string)) &&
    container === 'raw' &&
    encoding === 'pcm_s16le' &&
    rate === 24_000 &&
    (delay === undefined || (Number(delay) >= 0 && Number(delay) <= 5_000));
  const kept = Object.entries(message).filter(([field]) => !CHANGING.has(field));
  return right ? JSON.stringify(kept.toSorted(([a], [b]) => (a < b ? -1 : 1))) : undefined;
}
