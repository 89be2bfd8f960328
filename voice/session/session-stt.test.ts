import { initializeLogger, stt as stts } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';
import { beforeAll, expect, it, vi } from 'vitest';

import type { Recognition, RecognitionEvent } from '../providers/index.ts';
import { SessionStt, type SessionSttOptions } from './session-stt.ts';

const { SpeechEventType } = stts;

beforeAll(() => initializeLogger({ pretty: false, level: 'silent' }));

/** Of a session that listens. */
function listening() {
  let onEvent: (event: RecognitionEvent) => void = () => undefined;
  let recognizes = false;
  const recognition = {
    push: vi.fn<Recognition['push']>(),
    speaks: vi.fn<Recognition['speaks']>(),
    pauses: vi.fn<Recognition['pauses']>(),
    close: vi.fn<Recognition['close']>(),
    get recognizes() {
      return recognizes;
    },
  };
  const inner: SessionSttOptions['inner'] = {
    provider: 'acme',
    model: 'ears',
    listen: (listener) => {
      onEvent = listener;
      return recognition;
    },
    close: async () => undefined,
  };
  const onFailure = vi.fn<SessionSttOptions['onFailure']>();
  const stt = new SessionStt({ inner, language: 'en-US', onFailure });
  return {
    recognition,
    onFailure,
    stt,
    stream: stt.stream(),
    report: (event: RecognitionEvent) => onEvent(event),
    owe: () => (recognizes = true),
  };
}

it('hears the frames of the session at once, and when the user speaks', () => {
  const { stt, stream, recognition } = listening();
  stt.userSpeaks(40);
  const samples = new Int16Array(512);
  stream.pushFrame(new AudioFrame(samples, 16_000, 1, samples.length));
  expect(recognition.push).toHaveBeenCalledExactlyOnceWith(samples);
  stt.userPaused();
  expect(recognition.speaks).toHaveBeenCalledExactlyOnceWith(40);
  expect(recognition.pauses).toHaveBeenCalledOnce();
  stream.close();
});

it('passes words and ends of turns on', async () => {
  const { stream, report } = listening();
  report({ type: 'interim', text: 'I wo' });
  report({ type: 'final', text: 'I would' });
  report({ type: 'settled' });
  report({ type: 'endOfTurn' });
  const heard: unknown[] = [];
  for await (const { type, alternatives } of stream) {
    heard.push([type, alternatives?.[0].text]);
    if (heard.length === 3) break;
  }
  expect(heard).toEqual([
    [SpeechEventType.INTERIM_TRANSCRIPT, 'I wo'],
    [SpeechEventType.FINAL_TRANSCRIPT, 'I would'],
    [SpeechEventType.END_OF_SPEECH, undefined],
  ]);
  stream.close();
});

it('reports what fails, and its stream ends', async () => {
  const { stream, report, onFailure } = listening();
  const error = new Error('no answer');
  report({ type: 'failed', error });
  expect(onFailure).toHaveBeenCalledExactlyOnceWith(error);
  expect(await stream.next()).toMatchObject({ done: true });
});

it('owes words as long as its stream is open', () => {
  const { stt, stream, owe, recognition } = listening();
  expect(stt.recognizes).toBe(false);
  owe();
  expect(stt.recognizes).toBe(true);
  stream.close();
  expect(stt.recognizes).toBe(false);
  expect(recognition.close).toHaveBeenCalledOnce();
});
