/** Makes speech that says exactly which text it is: each character is 10 ms of one level, so that losses, repeats and cuts are heard. */
import type { AudioFrame } from '@livekit/rtc-node';

const SAMPLE_RATE = 24_000;
export const CHARACTER_MS = 10;
const SAMPLES = (SAMPLE_RATE * CHARACTER_MS) / 1_000;
const LEVEL = 100;

/** Returns the sound of a text in 16 bits, one channel, 24 kHz. */
export function soundOf(text: string): Buffer {
  const samples = new Int16Array(text.length * SAMPLES);
  for (let at = 0; at < text.length; at += 1) samples.fill(text.charCodeAt(at) * LEVEL, at * SAMPLES, (at + 1) * SAMPLES);
  return Buffer.from(samples.buffer);
}

/** Reads the text back; silence, which a stream may end with, is no text. */
export function textOf(frames: readonly Pick<AudioFrame, 'data'>[]): string {
  const samples = frames.flatMap(({ data }) => [...data]);
  const characters: string[] = [];
  for (let at = SAMPLES / 2; at < samples.length; at += SAMPLES)
    if (samples[at] !== 0) characters.push(String.fromCharCode(samples[at]! / LEVEL));
  return characters.join('').trim();
}
