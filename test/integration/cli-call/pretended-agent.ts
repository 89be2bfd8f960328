/** Plays an agent's part in a room for the test, which decides when the agent can be heard. */
import {
  AudioSource,
  LocalAudioTrack,
  Room,
  TrackPublishOptions,
  TrackSource,
  type RemoteParticipant,
  type RemoteTrackPublication,
} from '@livekit/rtc-node';
import { AccessToken } from 'livekit-server-sdk';
import { onTestFinished } from 'vitest';

import type { MediaServer } from '../../../calls/media-server.ts';

export interface PretendedAgent {
  readonly room: Room;
  /** Returns the only other participant. */
  readonly user: () => RemoteParticipant | undefined;
  /** Returns the user's microphone, once it is published. */
  readonly microphone: () => RemoteTrackPublication | undefined;
  /** Lets the user hear the agent from now on. */
  readonly publishVoice: () => Promise<void>;
}

/** Joins the room; the agent leaves at the end of the test. */
export async function joinAsAgent({ url, apiKey, apiSecret }: MediaServer, roomName: string): Promise<PretendedAgent> {
  const token = new AccessToken(apiKey, apiSecret, { identity: 'agent' });
  token.addGrant({ room: roomName, roomJoin: true });
  const room = new Room();
  await room.connect(url, await token.toJwt(), { autoSubscribe: true, dynacast: false });
  onTestFinished(() => room.disconnect());
  const user = (): RemoteParticipant | undefined => [...room.remoteParticipants.values()][0];
  return {
    room,
    user,
    microphone: () => [...(user()?.trackPublications.values() ?? [])][0],
    async publishVoice() {
      const track = LocalAudioTrack.createAudioTrack('voice', new AudioSource(24_000, 1));
      await room.localParticipant!.publishTrack(track, new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE }));
    },
  };
}
