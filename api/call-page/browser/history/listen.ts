/** Joins the room of a call beside its user: to hear it, or to speak. A script of its own, because few who look at calls need LiveKit's client. */
import { LogLevel, Room, RoomEvent, setLogLevel, Track, type RemoteTrack } from 'livekit-client';

// By default LiveKit's client logs each step to the console, among them the request to join.
setLogLevel(LogLevel.warn);

export interface JoinOptions {
  readonly url: string;
  readonly token: string;
  /** Whether to speak; the browser asks for the microphone. */
  readonly microphone: boolean;
  /** Receives the element of each voice, which the page has to add. */
  readonly onVoice: (element: HTMLMediaElement) => void;
  readonly onOver: () => void;
}

/** @returns leaves the room */
export async function join({ url, token, microphone, onVoice, onOver }: JoinOptions): Promise<() => Promise<void>> {
  const room = new Room({ adaptiveStream: false, dynacast: false, disconnectOnPageLeave: true });
  room
    .on(RoomEvent.TrackSubscribed, (track: RemoteTrack) => {
      if (track.kind === Track.Kind.Audio) onVoice(track.attach());
    })
    .on(RoomEvent.TrackUnsubscribed, (track: RemoteTrack) => {
      for (const element of track.detach()) element.remove();
    })
    .on(RoomEvent.Disconnected, onOver);
  await room.connect(url, token);
  if (microphone) await room.localParticipant.setMicrophoneEnabled(true);
  return () => room.disconnect();
}
