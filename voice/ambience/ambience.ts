/** Sound behind the agent: a track of its own, as long as the call lasts. */
import { AudioFrame, AudioSource, LocalAudioTrack, TrackPublishOptions, type Room } from '@livekit/rtc-node';

import { LOOP_SAMPLE_RATE, soundLoop, type Place } from './loops.ts';

export interface AmbientSound {
  readonly source: Place;
  /** Loudness; 1 is as loud as the place is meant to be. */
  readonly volume: number;
}

const TRACK_NAME = 'background_audio';
/** Length of a frame, in milliseconds: a loop has whole ones. Each costs a call into the media library. */
const FRAME_MS = 500;
/** The media library's queue, in milliseconds of sound: it plays on while this process is busy. */
const QUEUE_MS = 1_000;

export class Ambience {
  readonly #frames: readonly AudioFrame[];
  readonly #stop = new AbortController();
  #over: Promise<void> = Promise.resolve();

  /** Computes the sound before the call begins: that takes up to a fifth of a second of a processor. */
  constructor({ source, volume }: AmbientSound) {
    this.#frames = framesOf(soundLoop(source, volume));
  }

  /** Plays until it is closed. @throws Error where the room takes no track, or the media library no sound */
  start(room: Room): Promise<void> {
    this.#over = this.#play(room).catch((error: unknown) => {
      // The sound also ends with a room that is left.
      if (!this.#stop.signal.aborted) throw error;
    });
    return this.#over;
  }

  /** Silences the sound, and removes its track. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#over.catch(() => undefined);
  }

  async #play(room: Room): Promise<void> {
    const { localParticipant } = room;
    const { signal } = this.#stop;
    if (localParticipant === undefined || signal.aborted) return;
    const source = new AudioSource(LOOP_SAMPLE_RATE, 1, QUEUE_MS);
    try {
      const track = LocalAudioTrack.createAudioTrack(TRACK_NAME, source);
      const { sid } = await localParticipant.publishTrack(track, new TrackPublishOptions());
      await repeat(this.#frames, source, signal);
      if (sid !== undefined && room.isConnected) await localParticipant.unpublishTrack(sid);
    } finally {
      await source.close();
    }
  }
}

/** Copies the samples of each frame: of a view the media library would read the whole loop. */
function framesOf(loop: Int16Array): readonly AudioFrame[] {
  const length = (LOOP_SAMPLE_RATE * FRAME_MS) / 1_000;
  return Array.from({ length: loop.length / length }, (_, index) => {
    const samples = loop.slice(index * length, (index + 1) * length);
    return new AudioFrame(samples, LOOP_SAMPLE_RATE, 1, length);
  });
}

/**
 * Plays the frames again and again. The source takes a frame when it has room for it: whatever this process does meanwhile, the sound is
 * never faster than it is heard.
 */
export async function repeat(
  frames: readonly AudioFrame[],
  source: Pick<AudioSource, 'captureFrame' | 'clearQueue'>,
  signal: AbortSignal,
): Promise<void> {
  // The source takes the waiting frame at once when its queue is empty.
  signal.addEventListener('abort', () => source.clearQueue(), { once: true });
  for (let next = 0; !signal.aborted; next = (next + 1) % frames.length) await source.captureFrame(frames[next]!);
}
