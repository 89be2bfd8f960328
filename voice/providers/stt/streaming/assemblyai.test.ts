import { describe, expect, it } from 'vitest';

import type { ProviderEndpoint } from '../../../../calls/provider-access/index.ts';
import { sttProtocolOf, ttsProtocolOf } from '../../provider-table.ts';
import { assemblyAiStreaming } from './assemblyai.ts';
import type { SocketMessage } from './protocol.ts';

const endpoint = (more: Partial<ProviderEndpoint> = {}): ProviderEndpoint => ({
  part: 'stt',
  provider: 'assemblyai',
  protocol: 'own',
  guarded: false,
  apiKey: 'k',
  ...more,
});
const streamingOf = (language = 'en-US', more?: Partial<ProviderEndpoint>) => assemblyAiStreaming({ endpoint: endpoint(more), language });
const sessionOf = () => streamingOf().session();

/** Bytes of sound in a millisecond: 16 bits at 16 kHz. */
const BYTES_PER_MS = 32;
const audio = (ms: number): Uint8Array => new Uint8Array(ms * BYTES_PER_MS).fill(1);
/** Shows milliseconds of audio, or the type of a message. */
const shown = (messages: readonly SocketMessage[] = []): readonly unknown[] =>
  messages.map((message) =>
    typeof message === 'string' ? (JSON.parse(message) as { readonly type: string }).type : message.length / BYTES_PER_MS,
  );

describe('the session', () => {
  it('is asked for with the key itself', () => {
    const { url, headers } = streamingOf();
    expect(url).toBe('wss://streaming.assemblyai.com/v3/ws?sample_rate=16000&encoding=pcm_s16le&speech_model=universal-streaming-english');
    expect(headers).toMatchObject({ authorization: 'k' });
    expect(streamingOf('en-US', { baseURL: 'https://streaming.eu.assemblyai.com' }).url).toMatch(
      /^wss:\/\/streaming\.eu\.assemblyai\.com\/v3\/ws\?/,
    );
  });

  it.each([
    ['en-GB', 'universal-streaming-english'],
    ['de-AT', 'universal-streaming-multilingual'],
    ['pt-BR', 'universal-streaming-multilingual'],
    ['pl-PL', 'whisper-rt'],
  ])('is for a model that knows %s', (language, model) => {
    expect(streamingOf(language).model).toBe(model);
  });

  it('names the language to the models that take one', () => {
    const { searchParams } = new URL(streamingOf('de-AT', { model: 'universal-3-5-pro' }).url);
    expect(Object.fromEntries(searchParams)).toMatchObject({ speech_model: 'universal-3-5-pro', language_codes: '["de"]' });
  });

  it('is the only thing that it has', () => {
    expect(() => sttProtocolOf({ endpoint: endpoint(), language: 'en' })).toThrow(/does not stream/);
    expect(() => ttsProtocolOf({ endpoint: endpoint({ part: 'tts' }), language: 'en', temperature: 0 })).toThrow(
      'assemblyai (text to speech) does not exist: choose another textToSpeech.provider',
    );
  });
});

describe('audio', () => {
  it('is sent in messages of at least 50 ms, however it comes, and whole at a pause', () => {
    const session = sessionOf();
    expect(shown(session.audio(audio(30)))).toEqual([]);
    expect(shown(session.audio(audio(60)))).toEqual([]);
    expect(shown(session.audio(audio(200)))).toEqual([50, 50, 50, 50]);
    expect(shown(session.flush?.())).toEqual([90, 'ForceEndpoint']);
    expect(shown(session.audio(audio(20)))).toEqual([]);
    // The audio is too short to be sent, and too short for a word.
    expect(shown(session.flush?.())).toEqual(['ForceEndpoint']);
    expect(shown(session.audio(audio(100)))).toEqual([50]);
  });

  it('is filled up with silence at the end', () => {
    const session = sessionOf();
    session.audio(audio(20));
    const messages = session.end();
    expect(shown(messages)).toEqual([50, 'Terminate']);
    expect([...(messages[0] as Uint8Array)].filter((byte) => byte !== 0)).toHaveLength(20 * BYTES_PER_MS);
    expect(shown(sessionOf().end())).toEqual(['Terminate']);
  });
});

describe('a turn', () => {
  const turn = (order: number, more: object) => ({
    type: 'Turn',
    turn_order: order,
    end_of_turn: false,
    transcript: '',
    words: [],
    ...more,
  });
  const word = (text: string, end: number) => ({ text, start: end - 100, end, confidence: 1, word_is_final: true });

  it('grows word by word, and is settled up to the last one', () => {
    const session = sessionOf();
    const words = [word('guten', 1_230), word('tag', 1_570)];
    expect(session.read({ type: 'Begin', id: 'i', expires_at: 1 })).toEqual([]);
    expect(session.read(turn(0, { transcript: 'guten', words }))).toEqual([{ type: 'interim', text: 'guten tag' }]);
    const end = turn(0, { transcript: 'guten tag', words, end_of_turn: true });
    expect(session.read(end)).toEqual([{ type: 'final', text: 'guten tag', upToSeconds: 1.57 }]);
    expect(session.read({ ...end, transcript: 'Guten Tag.', turn_is_formatted: true })).toEqual([]);
    expect(session.read(turn(1, { words: [word('ich', 2_000)] }))).toEqual([{ type: 'interim', text: 'ich' }]);
  });

  it.each([
    [1008, 'Unauthorized Connection: Missing Authorization header', 'refused'],
    [1008, 'Unauthorized connection: Too many concurrent sessions', 'runtime'],
    [3006, 'Invalid Message Type: secret', 'refused'],
    [3005, 'Session Cancelled: An error occurred', 'runtime'],
    [undefined, undefined, 'runtime'],
  ])('ends with the error %s', (code, error, kind) => {
    const events = sessionOf().read({ type: 'Error', error_code: code, error });
    expect(events).toMatchObject([{ type: 'failed', kind }]);
    expect(JSON.stringify(events)).not.toContain('secret');
  });
});
