import { describe, expect, it } from 'vitest';

import type { ProviderEndpoint } from '../../../../calls/provider-access/index.ts';
import { openAiStreaming } from './openai.ts';
import type { SttStreamEvent, SttStreamSession } from './protocol.ts';

const endpoint = (more: Partial<ProviderEndpoint> = {}): ProviderEndpoint => ({
  part: 'stt',
  provider: 'openai',
  protocol: 'openai',
  guarded: false,
  apiKey: 'k',
  baseURL: 'https://api.openai.com/v1',
  ...more,
});
const streamingOf = (more?: Partial<ProviderEndpoint>) => openAiStreaming({ endpoint: endpoint(more), language: 'de-AT' });

const UPDATED = { type: 'session.updated', session: { type: 'transcription', audio: { input: { turn_detection: null } } } };
const committed = (id: string) => ({ type: 'input_audio_buffer.committed', item_id: id });
const transcription = (event: string, id: string, more: object) => ({
  type: `conversation.item.input_audio_transcription.${event}`,
  item_id: id,
  ...more,
});
const delta = (id: string, text: string) => transcription('delta', id, { delta: text });
const completed = (id: string, text: string) => transcription('completed', id, { transcript: text });
const error = (fields: object) => ({ type: 'error', error: fields });
const EMPTY_COMMIT = error({ type: 'invalid_request_error', code: 'input_audio_buffer_commit_empty', message: 'Error' });

/** Reads messages after the session is confirmed. */
function readAll(...messages: readonly unknown[]): readonly SttStreamEvent[] {
  const session = confirmed();
  return messages.flatMap((message) => session.read(message));
}

function confirmed(): SttStreamSession {
  const session = streamingOf()!.session();
  expect(session.read(UPDATED)).toEqual([{ type: 'ready' }]);
  return session;
}

describe('the session', () => {
  it("is OpenAI's own, or that of a server that may have none and chooses by the model", () => {
    expect(streamingOf()).toMatchObject({
      model: 'gpt-4o-mini-transcribe',
      url: 'wss://api.openai.com/v1/realtime?intent=transcription',
      headers: { authorization: 'Bearer k' },
    });
    expect(streamingOf()).not.toHaveProperty('optional');
    expect(streamingOf({ baseURL: 'http://whisper:8000/v1' })).toMatchObject({
      model: 'whisper-1',
      url: 'ws://whisper:8000/v1/realtime?intent=transcription&model=whisper-1',
      optional: true,
    });
  });

  it.each([
    ['gpt-4o-transcribe', { language: 'de' }],
    ['gpt-realtime-whisper', { language: 'de' }],
    ['gpt-transcribe', { languages: ['de'] }],
    ['gpt-live-transcribe', { languages: ['de'] }],
  ])('asks %s for the language as it takes it', (model, spoken) => {
    const [message] = streamingOf({ model })?.session().begin?.() ?? [];
    expect(JSON.parse(String(message))).toMatchObject({ session: { audio: { input: { transcription: { model, ...spoken } } } } });
  });

  it('is not for a model that recognises recordings only', () => {
    expect(streamingOf({ model: 'gpt-4o-transcribe-diarize' })).toBeUndefined();
  });

  it('is confirmed once', () => {
    const session = confirmed();
    expect(session.read(UPDATED)).toEqual([]);
    expect(session.read({ type: 'transcription_session.updated' })).toEqual([]);
  });

  it.each([
    ['the present fields', { type: 'transcription', audio: { input: { turn_detection: { type: 'server_vad' } } } }],
    ['the former fields', { turn_detection: { type: 'server_vad' } }],
  ])('is refused where the server detects turns, by %s', (_which, session) => {
    expect(streamingOf()!.session().read({ type: 'session.updated', session })).toMatchObject([{ type: 'failed', kind: 'refused' }]);
  });

  it.each([
    [{ type: 'invalid_request_error', code: 'model_not_found' }, 'refused'],
    ['Session must have a model', 'refused'],
    [{ type: 'server_error' }, 'runtime'],
  ])('that is answered with the error %j has failed', (fields, kind) => {
    expect(
      streamingOf()!
        .session()
        .read(error(fields as object)),
    ).toMatchObject([{ type: 'failed', kind }]);
  });
});

describe('what is heard', () => {
  it('grows by deltas, and is final once', () => {
    expect(readAll(committed('a'), delta('a', 'Guten'), delta('a', ' Tag'), completed('a', 'Guten Tag.'), delta('b', 'Ich'))).toEqual([
      { type: 'interim', text: 'Guten' },
      { type: 'interim', text: 'Guten Tag' },
      { type: 'final', text: 'Guten Tag.' },
      { type: 'flushed' },
      { type: 'interim', text: 'Ich' },
    ]);
  });

  it('keeps its order when transcripts change places', () => {
    expect(readAll(committed('a'), committed('b'), completed('b', 'two'), delta('a', 'on'))).toEqual([{ type: 'interim', text: 'on' }]);
    expect(readAll(committed('a'), committed('b'), completed('b', 'two'), completed('a', 'one'))).toEqual([
      { type: 'final', text: 'one' },
      { type: 'flushed' },
      { type: 'final', text: 'two' },
      { type: 'flushed' },
    ]);
  });

  it('is final also where the server reports no commits', () => {
    expect(readAll(completed('a', 'one'))).toEqual([{ type: 'final', text: 'one' }, { type: 'flushed' }]);
  });

  it.each([
    ['its code', EMPTY_COMMIT],
    ['its message', error({ type: 'invalid_request_error', message: 'Error committing input audio buffer: the buffer is empty.' })],
  ])('may be nothing, by %s: the answer comes after those of earlier commits', (_by, empty) => {
    const session = confirmed();
    expect([committed('a'), empty].flatMap((message) => session.read(message))).toEqual([]);
    expect(session.read(completed('a', 'one')).filter(({ type }) => type === 'flushed')).toHaveLength(2);
    expect(session.read(empty)).toContainEqual({ type: 'flushed' });
  });

  it('fails with an error, whose text is kept back', () => {
    for (const message of [error({ type: 'invalid_request_error', message: 'secret' }), transcription('failed', 'a', { error: {} })]) {
      const events = readAll(message);
      expect(events).toMatchObject([{ type: 'failed', kind: 'runtime' }]);
      expect(JSON.stringify(events)).not.toContain('secret');
    }
  });
});
