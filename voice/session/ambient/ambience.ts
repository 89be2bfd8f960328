/** Sound behind the agent: a track of its own, as long as the call lasts. */
import { voice } from '@livekit/agents';
import { AudioFrame, type Room } from '@livekit/rtc-node';

import type { ConversationSettings } from '../settings.ts';
import { LOOP_SAMPLE_RATE, soundLoop } from './loops.ts';

/** Of one frame, in milliseconds. */
const FRAME_MS = 100;
/** The player mixes at this rate, and takes no other. */
const PLAYED_SAMPLE_RATE = 48_000;
const UPSAMPLING = PLAYED_SAMPLE_RATE / LOOP_SAMPLE_RATE;

export class Ambience {
  readonly #player: voice.BackgroundAudioPlayer;

  /** Computes the sound, which takes up to a fifth of a second of a processor: before the call begins. */
  constructor({ source, volume }: NonNullable<ConversationSettings['ambient']>) {
    this.#player = new voice.BackgroundAudioPlayer({ ambientSound: { source: endless(soundLoop(source)), volume } });
  }

  start(room: Room): Promise<void> {
    return this.#player.start({ room });
  }

  close(): Promise<void> {
    return this.#player.close();
  }
}

/** A loop has whole frames: it repeats without a gap. */
async function* endless(loop: Int16Array): AsyncGenerator<AudioFrame> {
  const length = (LOOP_SAMPLE_RATE * FRAME_MS) / 1000;
  for (let from = 0; ; from = (from + length) % loop.length) {
    const samples = new Int16Array(length * UPSAMPLING);
    for (let i = 0; i < length; i += 1) {
      const here = loop[from + i]!;
      const next = loop[(from + i + 1) % loop.length]!;
      for (let step = 0; step < UPSAMPLING; step += 1)
        samples[i * UPSAMPLING + step] = Math.round(here + ((next - here) * step) / UPSAMPLING);
    }
    yield new AudioFrame(samples, PLAYED_SAMPLE_RATE, 1, samples.length);
  }
}
