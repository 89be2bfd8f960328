import type { AudioBuffer } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';

/** How long it lasts, in milliseconds. */
export const msOf = ({ samplesPerChannel, sampleRate }: AudioFrame): number => (samplesPerChannel / sampleRate) * 1_000;

/**
 * Sound in one frame, copied as a whole: the library's `mergeFrames` copies all that came before again for each frame, and `combineAudioFrames`
 * copies sample by sample.
 * @throws TypeError for none, and for frames of different rates or channels
 */
export function joinFrames(buffer: AudioBuffer): AudioFrame {
  const frames = Array.isArray(buffer) ? buffer : [buffer];
  const [first] = frames;
  if (first === undefined) throw new TypeError('there is no frame to join');
  if (frames.length === 1) return first;
  const { sampleRate, channels } = first;
  const data = new Int16Array(frames.reduce((sum, frame) => sum + frame.data.length, 0));
  let at = 0;
  for (const frame of frames) {
    if (frame.sampleRate !== sampleRate || frame.channels !== channels) throw new TypeError('frames to join differ in rate or channels');
    data.set(frame.data, at);
    at += frame.data.length;
  }
  return new AudioFrame(data, sampleRate, channels, data.length / channels);
}
