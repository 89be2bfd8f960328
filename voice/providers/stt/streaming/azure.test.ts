import { expect, it } from 'vitest';

import { azureStreaming } from './azure.ts';
import type { SocketMessage, SttStreamSession } from './protocol.ts';

const SECOND = new Uint8Array(32_000);
const streaming = () =>
  azureStreaming({
    endpoint: {
      part: 'stt',
      provider: 'azure',
      protocol: 'own',
      guarded: false,
      apiKey: 'k',
      baseURL: 'https://westeurope.stt.speech.microsoft.com',
    },
    language: 'de-AT',
  });

const textOf = (message: SocketMessage | undefined): string => Buffer.from(message ?? '').toString('latin1');
const idIn = (message: SocketMessage | undefined): string => /X-RequestId: (\w+)/.exec(textOf(message))?.[1] ?? '';
const pathsOf = (messages: readonly SocketMessage[]): readonly string[] =>
  messages.map((message) => /Path: ([\w.]+)/.exec(textOf(message))?.[1] ?? '');

/** Answers as the service does about the turn with this id. */
const answer = (session: SttStreamSession, id: string, path: string, body: object = {}) =>
  session.read(`X-RequestId:${id}\r\nContent-Type:application/json; charset=utf-8\r\nPath:${path}\r\n\r\n${JSON.stringify(body)}`);
const phrase = (session: SttStreamSession, id: string, RecognitionStatus: string, Offset: number, Duration = 0, DisplayText?: string) =>
  answer(session, id, 'speech.phrase', { RecognitionStatus, Offset, Duration, DisplayText });

it('gives each connection an id of its own', () => {
  const { url, headers } = streaming();
  expect(url).toBe(
    'wss://westeurope.stt.speech.microsoft.com/speech/recognition/conversation/cognitiveservices/v1?language=de-AT&format=simple',
  );
  expect(headers).toEqual({ 'ocp-apim-subscription-key': 'k', 'x-connectionid': expect.stringMatching(/^[0-9a-f]{32}$/) as string });
  const both = streaming();
  expect(both.headers['x-connectionid']).not.toBe(both.headers['x-connectionid']);
});

it('begins each turn with a context, a header and a new id, and holds audio back until the last one is answered', () => {
  const session = streaming().session();
  expect(pathsOf(session.begin?.() ?? [])).toEqual(['speech.config']);
  const first = session.audio(SECOND);
  expect(pathsOf(first)).toEqual(['speech.context', 'audio', 'audio', 'audio', 'audio', 'audio']);
  expect(textOf(first[1])).toContain('RIFF');
  expect(Math.max(...first.map(({ length }) => length))).toBeLessThan(8_192 + 200);
  expect(pathsOf(session.audio(SECOND.subarray(0, 100)))).toEqual(['audio']);
  expect(pathsOf(session.flush?.() ?? [])).toEqual(['audio']);
  expect(session.audio(SECOND)).toEqual([]);
  expect(session.flush?.()).toEqual([]);
  expect(answer(session, idIn(first[0]), 'turn.end')).toEqual([{ type: 'flushed' }, { type: 'ready' }]);
  const second = session.audio(SECOND);
  expect(pathsOf(second).slice(0, 2)).toEqual(['speech.context', 'audio']);
  expect(idIn(second[0])).toMatch(/^[0-9a-f]{32}$/);
  expect(idIn(second[0])).not.toBe(idIn(first[0]));
});

it('asks for an answer to a flush before any audio', () => {
  const session = streaming().session();
  const messages = session.flush?.() ?? [];
  expect(pathsOf(messages)).toEqual(['speech.context', 'audio', 'audio']);
  expect(answer(session, idIn(messages[0]), 'speech.endDetected')).toEqual([]);
  expect(answer(session, idIn(messages[0]), 'turn.end')).toEqual([{ type: 'flushed' }, { type: 'ready' }]);
});

it.each([
  ['Success', { type: 'final', text: 'Grüß Gott.', upToSeconds: 1.5 }],
  ['NoMatch', { type: 'final', text: '', upToSeconds: 1.5 }],
  ['InitialSilenceTimeout', { type: 'final', text: '', upToSeconds: 1.5 }],
  ['BabbleTimeout', { type: 'final', text: '', upToSeconds: 1.5 }],
  ['EndOfDictation', { type: 'final', text: '', upToSeconds: 1.5 }],
  ['Error', { type: 'failed', kind: 'runtime' }],
  ['TooManyRequests', { type: 'failed', kind: 'runtime' }],
  ['BadRequest', { type: 'failed', kind: 'refused' }],
  ['Forbidden', { type: 'failed', kind: 'refused' }],
])('reads a phrase of status %s', (status, event) => {
  const session = streaming().session();
  const id = idIn(session.audio(SECOND)[0]);
  expect(phrase(session, id, status, 5_000_000, 10_000_000, 'Grüß Gott.')).toMatchObject([event]);
});

it('ignores messages about other turns, and unknown ones', () => {
  const session = streaming().session();
  const id = idIn(session.audio(SECOND)[0]);
  expect(answer(session, id.toUpperCase(), 'speech.hypothesis', { Text: 'grüß' })).toEqual([{ type: 'interim', text: 'grüß' }]);
  expect(answer(session, 'another', 'speech.hypothesis', { Text: 'grüß' })).toEqual([]);
  expect(answer(session, 'another', 'turn.end')).toEqual([]);
  for (const unknown of ['', 'no headers', `X-RequestId:${id}\r\nPath:speech.phrase\r\n\r\nno JSON`, {}, null, 7])
    expect(session.read(unknown)).toEqual([]);
});

it('asks for the audio after the last phrase again when the service ends a turn', () => {
  const session = streaming().session();
  const id = idIn(session.audio(SECOND)[0]);
  phrase(session, id, 'Success', 0, 4_000_000, 'Hallo.');
  expect(answer(session, id, 'turn.end')).toEqual([{ type: 'ready' }]);
});

it('recognises that the service ended a turn before it got the flush', () => {
  const session = streaming().session();
  const first = idIn(session.audio(SECOND)[0]);
  session.flush?.();
  phrase(session, first, 'InitialSilenceTimeout', 5_000_000);
  expect(answer(session, first, 'turn.end')).toEqual([{ type: 'ready' }]);
  const second = idIn(session.audio(SECOND.subarray(16_000))[0]);
  session.flush?.();
  phrase(session, second, 'Success', 0, 3_000_000, 'Hallo.');
  expect(answer(session, second, 'turn.end')).toEqual([{ type: 'flushed' }, { type: 'ready' }]);
});

it('does not send audio again in which the service recognised nothing', () => {
  const session = streaming().session();
  const id = idIn(session.audio(SECOND)[0]);
  expect(answer(session, id, 'turn.end')).toEqual([{ type: 'final', text: '', upToSeconds: 1 }, { type: 'ready' }]);
});
