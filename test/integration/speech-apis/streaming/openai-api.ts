/** OpenAI's realtime transcription, as its documentation and its client have it. */
import { isDeepStrictEqual } from 'node:util';

import type { FakeApi, FakeConnection, FakeSession } from './streaming-server.ts';

const SAMPLE_RATE = 24_000;
const BYTES_PER_SECOND = SAMPLE_RATE * 2;
/** Less than this cannot be committed. */
const SHORTEST_COMMIT_SECONDS = 0.1;
const SERVER_VAD = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 200, idle_timeout_ms: null };

type Fields = Readonly<Record<string, unknown>>;

/** Returns what a session of Parley's may ask for; anything else is refused, and nothing is taken back. */
const settingsFor = (transcription: Fields): Fields => ({
  type: 'transcription',
  audio: { input: { format: { type: 'audio/pcm', rate: SAMPLE_RATE }, transcription, turn_detection: null } },
});

/** This API sends words once their audio is committed. */
export const realtime = apiOf({ model: 'whisper-1', language: 'en' }, { live: false });
/** This API sends words while they are said. */
export const realtimeLive = apiOf({ model: 'gpt-live-transcribe', languages: ['en'] }, { live: true });

/** Leaves out the words to expect, in which sessions differ: one model takes a list of them, the other a prompt. */
function withoutHints(session: unknown): unknown {
  const { audio, ...others } = session as { readonly audio?: { readonly input?: { readonly transcription?: Fields } } };
  const { prompt, keywords, ...transcription } = audio?.input?.transcription ?? {};
  const isRight = transcription['model'] === 'gpt-live-transcribe' ? prompt === undefined : keywords === undefined;
  return isRight ? { ...others, audio: { ...audio, input: { ...audio?.input, transcription } } } : session;
}

function apiOf(transcription: Fields, { live }: { readonly live: boolean }): FakeApi {
  return {
    sampleRate: SAMPLE_RATE,
    refuses: ({ path, query, key }) => {
      if (path !== '/v1/realtime') return 404;
      if (!key.startsWith('authorization: Bearer ')) return 401;
      return query['intent'] === 'transcription' ? undefined : 400;
    },
    session: (connection) => transcriptionSession(connection, { settings: settingsFor(transcription), live }),
  };
}

function transcriptionSession(
  { listener, send, close }: FakeConnection,
  { settings, live }: { readonly settings: Fields; readonly live: boolean },
): FakeSession {
  let events = 0;
  let items = 0;
  /** Bytes since the last commit. */
  let bytes = 0;
  let said = 0;
  let streamed = 0;
  let accepted = false;
  const event = (type: string, fields: object): void => send({ type, event_id: `event_${(events += 1)}`, ...fields });
  const refuse = (code: string, message: string): void =>
    event('error', { error: { type: 'invalid_request_error', code, message, param: null, event_id: null } });
  const session = { id: 'sess_1', object: 'realtime.transcription_session', expires_at: 1_800_000_000, include: null };
  event('session.created', { session: { ...session, ...settings, audio: { input: { turn_detection: SERVER_VAD, transcription: null } } } });

  const item = (): string => `item_${items}`;
  const part = { content_index: 0 };
  const stream = (): void => {
    for (const { word } of listener.words.slice(streamed)) {
      const delta = streamed === said ? word : ` ${word}`;
      event('conversation.item.input_audio_transcription.delta', { item_id: item(), ...part, delta });
      streamed += 1;
    }
  };

  function commit(): void {
    if (bytes < SHORTEST_COMMIT_SECONDS * BYTES_PER_SECOND)
      return refuse('input_audio_buffer_commit_empty', 'Error committing input audio buffer: buffer too small. Expected at least 100ms.');
    const previous = items === 0 ? null : `item_${items - 1}`;
    event('input_audio_buffer.committed', { previous_item_id: previous, item_id: item() });
    stream();
    const transcript = listener.words
      .slice(said)
      .map(({ word }) => word)
      .join(' ');
    const usage = { type: 'duration', seconds: bytes / BYTES_PER_SECOND };
    event('conversation.item.input_audio_transcription.completed', { item_id: item(), ...part, transcript, usage, logprobs: null });
    items += 1;
    bytes = 0;
    said = listener.words.length;
  }

  return {
    audio() {
      if (live) stream();
    },
    text({ type, audio, session: wanted }: Readonly<Record<string, unknown>>) {
      switch (type) {
        case 'session.update':
          accepted = isDeepStrictEqual(withoutHints(wanted), settings);
          if (accepted) event('session.updated', { session: { ...session, ...settings } });
          else refuse('unknown_parameter', 'Unknown parameter.');
          return undefined;
        case 'input_audio_buffer.append': {
          if (!accepted) return close(1011);
          const pcm = Buffer.from(String(audio), 'base64');
          bytes += pcm.length;
          return pcm;
        }
        case 'input_audio_buffer.commit':
          return commit();
        default:
          return refuse('invalid_value', 'Invalid value.');
      }
    },
  };
}
