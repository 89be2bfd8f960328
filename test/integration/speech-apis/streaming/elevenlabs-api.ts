/** ElevenLabs' realtime speech to text, as its documentation and its client have it; it repeats partial transcripts as the service does. */
import type { FakeApi } from './streaming-server.ts';

const SAMPLE_RATE = 16_000;
/** The API answers so often while audio comes, in seconds of audio. */
const ANSWER_SECONDS = 0.2;
/** The least audio that can be committed, in seconds. */
const COMMIT_SECONDS = 0.3;
const LANGUAGES = new Set(['en', 'eng', 'de', 'deu']);

export const scribe: FakeApi = {
  sampleRate: SAMPLE_RATE,
  refuses: ({ path, query }) => {
    if (path !== '/v1/speech-to-text/realtime') return 404;
    const { model_id: model, audio_format: format, commit_strategy: strategy, language_code: language } = query;
    const known = model === 'scribe_v2_realtime' && LANGUAGES.has(language ?? 'en');
    return known && format === `pcm_${SAMPLE_RATE}` && strategy === 'manual' ? undefined : 400;
  },
  session({ listener, send, close }) {
    let from = 0;
    let answered = 0;
    let last = '';
    const partial = (text: string): void => {
      last = text;
      send({ message_type: 'partial_transcript', text });
    };
    const words = (): string =>
      listener.words
        .filter(({ seconds }) => seconds > from)
        .map(({ word }) => word)
        .join(' ');
    const end = (type: string, error: string): void => {
      send({ message_type: type, error });
      close(1000);
    };
    const commit = (): void => {
      const seconds = listener.seconds - from;
      if (seconds < COMMIT_SECONDS)
        return end('commit_throttled', `Commit request ignored: only ${seconds.toFixed(2)}s of uncommitted audio.`);
      partial(last);
      send({ message_type: 'committed_transcript', text: words() });
      partial(words());
      from = listener.seconds;
    };
    send({
      message_type: 'session_started',
      session_id: 's',
      config: { sample_rate: SAMPLE_RATE, audio_format: `pcm_${SAMPLE_RATE}`, model_id: 'scribe_v2_realtime', commit_strategy: 'manual' },
    });
    return {
      audio() {
        if (listener.seconds - answered < ANSWER_SECONDS) return;
        answered = listener.seconds;
        partial(words() === '' ? last : words());
      },
      text(message: Readonly<Record<string, unknown>>) {
        const { message_type: type, audio_base_64: audio, commit: commits, sample_rate: rate } = message;
        const right = type === 'input_audio_chunk' && typeof audio === 'string' && typeof commits === 'boolean' && rate === SAMPLE_RATE;
        if (!right) return end('input_error', 'The message is not valid.');
        if (commits) commit();
        return audio === '' ? undefined : Buffer.from(audio, 'base64');
      },
    };
  },
};
