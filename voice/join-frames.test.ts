import { AudioFrame } from '@livekit/rtc-node';
import { expect, it } from 'vitest';

import { joinFrames } from './join-frames.ts';

const stereo = (samples: readonly number[], rate = 16_000): AudioFrame =>
  new AudioFrame(Int16Array.from(samples), rate, 2, samples.length / 2);

it('joins frames in their order, and leaves one as it is', () => {
  const { data, sampleRate, channels, samplesPerChannel } = joinFrames([stereo([1, 2, 3, 4]), stereo([5, 6])]);
  expect([[...data], sampleRate, channels, samplesPerChannel]).toEqual([[1, 2, 3, 4, 5, 6], 16_000, 2, 3]);
  const one = stereo([1, 2]);
  expect([joinFrames(one), joinFrames([one])]).toEqual([one, one]);
});

it('refuses what is no sound, and what does not go together', () => {
  expect(() => joinFrames([])).toThrow(TypeError);
  expect(() => joinFrames([stereo([1, 2]), stereo([3, 4], 24_000)])).toThrow(TypeError);
  expect(() => joinFrames([stereo([1, 2]), new AudioFrame(Int16Array.of(1), 16_000, 1, 1)])).toThrow(TypeError);
});
