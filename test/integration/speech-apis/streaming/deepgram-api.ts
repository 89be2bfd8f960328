/** Deepgram's streaming APIs, as its documentation and its client have them. */
import { deepgramLanguages } from '../deepgram-languages.ts';
import type { FakeApi, FakeConnection } from './streaming-server.ts';

const SAMPLE_RATE = 16_000;
const metadata = { request_id: 'r', model_uuid: 'm', model_info: { name: 'n', version: 'v', arch: 'a' } };
/** The APIs answer so often while somebody speaks, in seconds of audio. */
const ANSWER_SECONDS = 0.2;

const rightAudio = (query: Readonly<Record<string, string>>): boolean =>
  query['encoding'] === 'linear16' && query['sample_rate'] === String(SAMPLE_RATE);

/** This API ends segments when they are finalized. */
export const nova: FakeApi = {
  sampleRate: SAMPLE_RATE,
  refuses: ({ path, query }) => {
    if (path !== '/v1/listen') return 404;
    const known = /^nova-[23]/.test(query['model'] ?? '') && deepgramLanguages.has(query['language'] ?? '');
    return known && rightAudio(query) ? undefined : 400;
  },
  session({ listener, send, close }) {
    let from = 0;
    let answered = 0;
    const results = (final: object): void => {
      const transcript = listener.words
        .filter(({ seconds }) => seconds > from)
        .map(({ word }) => word)
        .join(' ');
      const channel = { alternatives: [{ transcript, confidence: 1, words: [] }] };
      const duration = listener.seconds - from;
      send({
        type: 'Results',
        channel_index: [0, 1],
        start: from,
        duration,
        is_final: false,
        speech_final: false,
        channel,
        metadata,
        ...final,
      });
    };
    return {
      audio() {
        if (listener.seconds - answered < ANSWER_SECONDS) return;
        answered = listener.seconds;
        results({});
      },
      text({ type }: Readonly<Record<string, unknown>>) {
        if (type === 'Finalize') {
          results({ is_final: true, from_finalize: true });
          from = listener.seconds;
        } else if (type === 'CloseStream') {
          results({ is_final: true });
          send({
            type: 'Metadata',
            transaction_key: 'deprecated',
            request_id: 'r',
            sha256: '',
            created: '',
            duration: listener.seconds,
            channels: 1,
          });
          close(1000);
        }
      },
    };
  },
};

/** This API ends turns after silence: 300 ms of it here. */
export const flux: FakeApi = {
  sampleRate: SAMPLE_RATE,
  refuses: ({ path, query }) => {
    if (path !== '/v2/listen') return 404;
    return /^flux-general-(en|multi)$/.test(query['model'] ?? '') && query['language'] === undefined && rightAudio(query) ? undefined : 400;
  },
  session: (connection) => fluxSession(connection),
};

function fluxSession({ listener, send, close }: FakeConnection) {
  let sequence = 0;
  let turn = 0;
  let from = 0;
  let answered = 0;
  send({ type: 'Connected', request_id: 'r', sequence_id: (sequence += 1) });
  const info = (event: string): void => {
    const words = listener.words.filter(({ seconds }) => seconds > from).map(({ word }) => ({ word, confidence: 1 }));
    const transcript = words.map(({ word }) => word).join(' ');
    const about = { request_id: 'r', sequence_id: (sequence += 1), turn_index: turn, end_of_turn_confidence: 0.5 };
    send({ type: 'TurnInfo', event, ...about, audio_window_start: from, audio_window_end: listener.seconds, transcript, words });
  };
  const endTurn = (): void => {
    info('EndOfTurn');
    turn += 1;
    from = listener.seconds;
  };
  return {
    audio() {
      const last = listener.words.at(-1)?.seconds ?? 0;
      if (last > from && listener.seconds - last >= 0.3) endTurn();
      else if (listener.seconds - answered >= ANSWER_SECONDS) {
        answered = listener.seconds;
        info('Update');
      }
    },
    text({ type }: Readonly<Record<string, unknown>>) {
      if (type !== 'CloseStream') return;
      if (listener.words.some(({ seconds }) => seconds > from)) endTurn();
      close(1000);
    },
  };
}
