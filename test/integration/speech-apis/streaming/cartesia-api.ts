/** Cartesia's speech to text with manual finalization, as its documentation and its client have it. */
import type { FakeApi, FakeConnection } from './streaming-server.ts';

const SAMPLE_RATE = 16_000;
/** The API answers so often while somebody speaks, in seconds of audio. */
const ANSWER_SECONDS = 0.2;
/** The API finalizes by itself after so much silence, in seconds. */
const SILENCE_SECONDS = 0.4;
/** This is the first version of the API with the command `close` and with the status of errors. */
const FIRST_VERSION = '2026-03-01';
const LANGUAGES: Readonly<Record<string, readonly string[]>> = {
  'ink-2': ['en'],
  'ink-whisper': ['en', 'de', 'fr'],
  'ink-whisper-2025-06-04': ['en', 'de', 'fr'],
};

export const ink: FakeApi = {
  sampleRate: SAMPLE_RATE,
  refuses: ({ path, query }, headers) => {
    if (path !== '/stt/websocket') return 404;
    const version = headers['cartesia-version'];
    if (typeof version !== 'string' || version < FIRST_VERSION) return 400;
    const known = LANGUAGES[query['model'] ?? '']?.includes(query['language'] ?? 'en') === true;
    return known && query['encoding'] === 'pcm_s16le' && query['sample_rate'] === String(SAMPLE_RATE) ? undefined : 400;
  },
  session: (connection) => inkSession(connection),
};

function inkSession({ listener, send, close }: FakeConnection) {
  let from = 0;
  let answered = 0;
  const about = { request_id: 'r' };
  const transcript = (text: string, final: boolean): void =>
    send({ type: 'transcript', is_final: final, text, duration: listener.seconds - from, language: 'en', words: [], ...about });
  /** Returns the new text with the space that separates it from what was final before. */
  const text = (): string =>
    listener.words
      .filter(({ seconds }) => seconds > from)
      .map(({ word }) => ` ${word}`)
      .join('');
  const finalize = (): void => {
    const whole = text();
    // The pieces end anywhere, also in the middle of a word.
    const middle = Math.floor(whole.length / 2);
    for (const piece of [whole.slice(0, middle), whole.slice(middle)]) if (piece !== '') transcript(piece, true);
    from = listener.seconds;
  };
  return {
    audio() {
      const last = listener.words.at(-1)?.seconds ?? 0;
      if (last > from && listener.seconds - last >= SILENCE_SECONDS) finalize();
      else if (listener.seconds - answered >= ANSWER_SECONDS) {
        answered = listener.seconds;
        transcript(text(), false);
      }
    },
    text(message: unknown) {
      if (message === 'finalize') {
        finalize();
        send({ type: 'flush_done', ...about });
      } else if (message === 'close') {
        finalize();
        send({ type: 'done', ...about });
        close(1000);
      } else {
        const error = { title: 'Invalid command', message: 'The command is not valid.', error_code: 'invalid_command', status_code: 400 };
        send({ type: 'error', ...error, ...about });
        close(1000);
      }
    },
  };
}
