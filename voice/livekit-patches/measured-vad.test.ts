import { setImmediate } from 'node:timers/promises';

import { initializeLogger, VADEventType } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';

import { syntheticSpeech } from '../../test/support/synthetic-speech.ts';
import { MeasuredVad } from './measured-vad.ts';

const sampleRate = 16_000;
const window = 512;

beforeAll(() => initializeLogger({ pretty: false, level: 'silent' }));

it('reports the length of speech at its pause, once, however late it is looked at', async () => {
  const spoken: number[] = [];
  const vad = new MeasuredVad({ minSpeechDuration: 50, minSilenceDuration: 250, onPause: (ms) => spoken.push(ms) });
  const stream = vad.stream();
  // The clock knows nothing of the second that is spoken: each look at it finds a minute gone.
  let now = 0;
  for (const clock of [vi.spyOn(performance, 'now'), vi.spyOn(Date, 'now')]) {
    clock.mockImplementation(() => (now += 60_000));
    onTestFinished(() => clock.mockRestore());
  }
  const sound = new Int16Array(3 * sampleRate);
  sound.set(syntheticSpeech({ sampleRate, ms: 1_000 }), sampleRate / 2);
  for (let at = 0; at + window <= sound.length; at += window) {
    // At first as fast as the machine can, then one at a time.
    if (at > sampleRate) await setImmediate();
    stream.pushFrame(new AudioFrame(sound.slice(at, at + window), sampleRate, 1, window));
  }
  for await (const { type } of stream) if (type === VADEventType.END_OF_SPEECH) break;
  stream.close();
  expect(spoken).toHaveLength(1);
  expect(Math.abs(spoken[0]! - 1_000)).toBeLessThan(150);
});

const frameOf = (sound: Int16Array): AudioFrame => new AudioFrame(sound, sampleRate, 1, sound.length);

it('knows what has come and is not read yet', async () => {
  const vad = new MeasuredVad({ minSpeechDuration: 50, minSilenceDuration: 250, onPause: () => undefined });
  const stream = vad.stream();
  expect([vad.unreadMs, vad.reading()()]).toEqual([0, false]);
  for (let windows = 0; windows < 10; windows += 1) stream.pushFrame(frameOf(new Int16Array(window)));
  const isReading = vad.reading();
  expect([vad.unreadMs, isReading()]).toEqual([320, true]);
  const events = stream[Symbol.asyncIterator]();
  await events.next();
  expect(vad.unreadMs).toBeLessThan(320);
  for (let windows = 1; windows < 10; windows += 1) await events.next();
  // What comes later is not waited for.
  stream.pushFrame(frameOf(new Int16Array(2 * window)));
  expect([vad.unreadMs, isReading()]).toEqual([64, false]);
  stream.close();
});

it('says when speech began and ended by the sound, also of sound that came at once', async () => {
  // How long the model takes is no part of it.
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => now.mockRestore());
  const vad = new MeasuredVad({ minSpeechDuration: 50, minSilenceDuration: 250, onPause: () => undefined });
  const stream = vad.stream();
  const sound = new Int16Array(2 * sampleRate);
  sound.set(syntheticSpeech({ sampleRate, ms: 1_000 }), sampleRate / 2);
  stream.pushFrame(frameOf(sound));
  const at = new Map<VADEventType, number>();
  for await (const { type, speechDuration, silenceDuration, inferenceDuration } of stream) {
    // As the library does, which adds when it looks: for sound that comes at once the same.
    const before = type === VADEventType.START_OF_SPEECH ? speechDuration : silenceDuration;
    at.set(type, -before - inferenceDuration);
    if (type === VADEventType.END_OF_SPEECH) break;
  }
  stream.close();
  const spokenMs = at.get(VADEventType.END_OF_SPEECH)! - at.get(VADEventType.START_OF_SPEECH)!;
  expect(Math.abs(spokenMs - 1_000)).toBeLessThan(300);
});
