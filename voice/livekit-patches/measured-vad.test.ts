import { setTimeout as pause } from 'node:timers/promises';

import { initializeLogger, VADEventType } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';
import { beforeAll, expect, it } from 'vitest';

import { syntheticSpeech } from '../../test/support/synthetic-speech.ts';
import { MeasuredVad, TurnCutter } from './measured-vad.ts';

const sampleRate = 16_000;
const window = 512;

beforeAll(() => initializeLogger({ pretty: false, level: 'silent' }));

it('reports the length of speech at its pause, once, however late it is looked at', async () => {
  const spoken: number[] = [];
  const vad = new MeasuredVad({ minSpeechDuration: 50, minSilenceDuration: 250, onPause: (ms) => spoken.push(ms) });
  let turns = 0;
  const streams = [vad.stream(), new TurnCutter(vad, () => (turns += 1)).stream()];
  const sound = new Int16Array(3 * sampleRate);
  sound.set(syntheticSpeech({ sampleRate, ms: 1_000 }), sampleRate / 2);
  for (let at = 0; at + window <= sound.length; at += window) {
    // At first as fast as the machine can, then in no hurry: the clock knows nothing of the second that was spoken.
    if (at > sampleRate) await pause(5);
    for (const stream of streams) stream.pushFrame(new AudioFrame(sound.slice(at, at + window), sampleRate, 1, window));
  }
  for (const stream of streams) {
    for await (const { type } of stream) if (type === VADEventType.END_OF_SPEECH) break;
    stream.close();
  }
  expect(turns).toBe(1);
  expect(spoken).toHaveLength(1);
  expect(Math.abs(spoken[0]! - 1_000)).toBeLessThan(150);
});

it('knows what has come and is not read yet', async () => {
  const vad = new MeasuredVad({ minSpeechDuration: 50, minSilenceDuration: 250, onPause: () => undefined });
  const stream = vad.stream();
  expect([vad.unreadMs, vad.isBehind]).toEqual([0, false]);
  for (let windows = 0; windows < 10; windows += 1) stream.pushFrame(new AudioFrame(new Int16Array(window), sampleRate, 1, window));
  expect([vad.unreadMs, vad.isBehind]).toEqual([320, true]);
  const events = stream[Symbol.asyncIterator]();
  await events.next();
  expect(vad.unreadMs).toBeLessThan(320);
  for (let windows = 1; windows < 10; windows += 1) await events.next();
  expect([vad.unreadMs, vad.isBehind]).toEqual([0, false]);
  stream.close();
});
