/** AssemblyAI's streaming API, as its documentation and its client have it. */
import type { FakeApi, FakeConnection, FakeSession } from './streaming-server.ts';

const SAMPLE_RATE = 16_000;
const WORD_SECONDS = 0.1;
/** Bounds of the audio in one message, in milliseconds. */
const AUDIO_MS = { least: 50, most: 1_000 } as const;
/** The API ends a turn by itself after so much silence. */
const TURN_SILENCE_SECONDS = 0.4;

const ENGLISH = 'universal-streaming-english';
const MODELS = new Set([ENGLISH, 'universal-streaming-multilingual', 'whisper-rt', 'u3-rt-pro', 'universal-3-5-pro']);
const PARAMETERS = new Set([
  'sample_rate',
  'encoding',
  'speech_model',
  'format_turns',
  'language_codes',
  'keyterms_prompt',
  'inactivity_timeout',
]);

export const universalStreaming: FakeApi = {
  sampleRate: SAMPLE_RATE,
  refuses: ({ path, query, key }) => {
    if (path !== '/v3/ws') return 404;
    // The header has the key itself, without a scheme.
    if (!/^authorization: \S+$/.test(key)) return 401;
    const known = Object.keys(query).every((parameter) => PARAMETERS.has(parameter)) && MODELS.has(query['speech_model'] ?? '');
    return known && query['sample_rate'] === String(SAMPLE_RATE) && query['encoding'] === 'pcm_s16le' ? undefined : 400;
  },
  session: (connection) => turnSession(connection),
};

function turnSession({ listener, send, close }: FakeConnection): FakeSession {
  let turn = 0;
  /** Seconds of audio that were heard, and from which the turn goes. */
  let [heard, from] = [0, 0];
  let told = 0;
  send({ type: 'Begin', id: 'de5d9927-73a6-4be8-b52d-b4c07be37e6b', expires_at: 1_900_000_000 });

  const words = () => listener.words.filter(({ seconds }) => seconds > from);
  const fail = (code: number, error: string): void => {
    send({ type: 'Error', error_code: code, error });
    close(code);
  };

  function report(end: boolean): void {
    const all = words().map(({ word, seconds }, n, { length }) => ({
      text: word,
      start: Math.round((seconds - WORD_SECONDS) * 1_000),
      end: Math.round(seconds * 1_000),
      confidence: 1,
      word_is_final: end || n < length - 1,
    }));
    const transcript = all
      .filter(({ word_is_final: final }) => final)
      .map(({ text }) => text)
      .join(' ');
    const about = { turn_order: turn, turn_is_formatted: false, end_of_turn: end, end_of_turn_confidence: end ? 1 : 0.1 };
    send({ type: 'Turn', ...about, transcript, utterance: end ? transcript : '', words: all });
  }

  /** Ends a turn; without a word there is none, and nothing to answer. */
  function endTurn(): void {
    if (words().length === 0) return;
    report(true);
    turn += 1;
    from = listener.seconds;
    told = 0;
  }

  return {
    audio() {
      const ms = Math.round((listener.seconds - heard) * 1_000);
      heard = listener.seconds;
      if (ms < AUDIO_MS.least || ms > AUDIO_MS.most)
        return fail(3007, `Input Duration Error: Input Duration Violation: ${ms} ms. Expected between 50 and 1000 ms`);
      const last = words().at(-1);
      if (last !== undefined && heard - last.seconds >= TURN_SILENCE_SECONDS) return endTurn();
      if (words().length === told) return undefined;
      told = words().length;
      return report(false);
    },
    text({ type }: Readonly<Record<string, unknown>>) {
      switch (type) {
        case 'ForceEndpoint':
          return endTurn();
        case 'KeepAlive':
          return undefined;
        case 'Terminate':
          endTurn();
          send({ type: 'Termination', audio_duration_seconds: Math.round(heard), session_duration_seconds: Math.round(heard) });
          return close(1000);
        default:
          return fail(3006, `Invalid Message Type: ${String(type)}`);
      }
    },
  };
}
