/** An agent's part in a room, played by the test: it decides when the agent can be heard. */
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
  /** The only other participant. */
  readonly user: () => RemoteParticipant | undefined;
  /** Of the user, once it is published. */
  readonly microphone: () => RemoteTrackPublication | undefined;
  /** From now on the user can hear the agent. */
  readonly publishVoice: () => Promise<void>;
}

/** Leaves at the end of the test. */
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
