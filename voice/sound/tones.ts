/** Plays three falling tones, for failures that cannot be said. */
import { AudioFrame, AudioSource, LocalAudioTrack, TrackPublishOptions, TrackSource, type Room } from '@livekit/rtc-node';

import { systemClock, withTimeout } from '../../platform/clock.ts';

const SAMPLE_RATE = 48_000;
/** Frequencies of the tones, in hertz. */
const MELODY = [660, 520, 390];
const TONE_MS = 260;
const LOUDNESS = 6_000;

/** Plays the tones, and returns when they have been heard. Does nothing in a room that is left. */
export async function playTones(room: Room): Promise<void> {
  const participant = room.localParticipant;
  if (!room.isConnected || participant === undefined) return;
  const source = new AudioSource(SAMPLE_RATE, 1, 2_000);
  const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
  const publication = await participant.publishTrack(LocalAudioTrack.createAudioTrack('notice', source), options);
  try {
    await withTimeout(systemClock, 2_000, publication.waitForSubscription());
    await source.captureFrame(tones());
    await source.waitForPlayout();
  } finally {
    await source.close();
  }
}

function tones(): AudioFrame {
  const each = (SAMPLE_RATE * TONE_MS) / 1000;
  const samples = new Int16Array(each * MELODY.length);
  for (const [index, frequency] of MELODY.entries())
    for (let i = 0; i < each; i += 1) {
      // The tone fades at both ends, so that nothing clicks.
      const envelope = Math.min(1, Math.min(i, each - i) / (SAMPLE_RATE / 100));
      samples[index * each + i] = Math.round(LOUDNESS * envelope * Math.sin((2 * Math.PI * frequency * i) / SAMPLE_RATE));
    }
  return new AudioFrame(samples, SAMPLE_RATE, 1, samples.length);
}
