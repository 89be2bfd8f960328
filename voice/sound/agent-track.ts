/** Publishes the agent's sound in a room. */
import { AudioSource, LocalAudioTrack, TrackPublishOptions, TrackSource, type Room } from '@livekit/rtc-node';

import { PLAYOUT_SAMPLE_RATE } from './playout.ts';

/** Queue of the media library, in milliseconds: more than is ever handed over. */
const QUEUE_MS = 1_000;

export class AgentTrack {
  readonly sink = new AudioSource(PLAYOUT_SAMPLE_RATE, 1, QUEUE_MS);

  /** Publishes the track. @returns resolves when somebody listens */
  async publish(room: Room): Promise<{ readonly heard: Promise<void> }> {
    const track = LocalAudioTrack.createAudioTrack('agent', this.sink);
    const publication = await room.localParticipant?.publishTrack(
      track,
      new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE }),
    );
    return { heard: publication?.waitForSubscription() ?? new Promise(() => undefined) };
  }

  async close(): Promise<void> {
    await this.sink.close();
  }
}
