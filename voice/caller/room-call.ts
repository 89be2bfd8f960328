/** A call's room as its user has it: joined, heard, followed and left. */
import {
  AudioStream,
  DisconnectReason,
  LocalAudioTrack,
  Room,
  RoomEvent,
  TrackKind,
  TrackPublishOptions,
  TrackSource,
  type Participant,
  type RemoteTrack,
} from '@livekit/rtc-node';

import { followTranscript, type SpokenLine } from '../../calls/live-transcript.ts';
import { AGENT_HEARD_WITHIN_MS } from '../../calls/microphone.ts';
import { userIdentityOf, WELCOMED_ATTRIBUTE } from '../../calls/names.ts';
import { withTimeout, type Clock } from '../../platform/clock.ts';
import { errorMessageOf } from '../../platform/caught.ts';
import { UserError } from '../../platform/user-error.ts';
import { CALLER_RATE } from './caller-rate.ts';
import type { OutgoingAudio } from './outgoing-audio.ts';

/** The attribute in which LiveKit's agents report their state. */
const STATE_ATTRIBUTE = 'lk.agent.state';
/** Longest time to get into the room, in milliseconds. */
const JOIN_WITHIN_MS = 15_000;

export interface Speaker {
  play(samples: Int16Array): void;
  stop(): void;
}

export interface RoomCallEvents {
  readonly onAgent: () => void;
  readonly onVoice: () => void;
  readonly onAgentState: (state: string) => void;
  /** Called when the agent has said its welcome message, or has none. */
  readonly onWelcomed: () => void;
  readonly onLine: (line: SpokenLine) => void;
  readonly openSpeaker: () => Speaker | undefined;
}

export interface RoomCall {
  /** Resolves when the agent can hear the user, or the connection has ended. Rejects with a UserError where the microphone can't be published. */
  readonly audible: Promise<void>;
  /** Resolves when the connection has ended, with LiveKit's reason. */
  readonly over: Promise<string>;
  /** Presses a key of the keypad. @param code as RFC 4733 numbers it */
  press(code: number, key: string): Promise<void>;
  /** Leaves, so that the others see an intended end. */
  hangUp(): Promise<void>;
}

/** Joins the room of a call as its user. @throws UserError where the media server is unreachable, or refuses the token */
export async function joinCall(
  { id, url, token }: { readonly id: string; readonly url: string; readonly token: string },
  audio: OutgoingAudio,
  events: RoomCallEvents,
  clock: Clock,
): Promise<RoomCall> {
  const room = new Room();
  const agentHeard = Promise.withResolvers<void>();
  const { promise: over, resolve } = Promise.withResolvers<string>();
  const tellState = (participant: Participant): void => {
    const { [STATE_ATTRIBUTE]: state, [WELCOMED_ATTRIBUTE]: welcomed } = participant.attributes;
    if (participant.identity === userIdentityOf(id)) return;
    if (state !== undefined) events.onAgentState(state);
    if (welcomed !== undefined) events.onWelcomed();
  };
  room.on(RoomEvent.Disconnected, (reason) => {
    agentHeard.resolve();
    resolve(DisconnectReason[reason]);
  });
  room.on(RoomEvent.ParticipantConnected, (participant) => {
    events.onAgent();
    tellState(participant);
  });
  room.on(RoomEvent.ParticipantAttributesChanged, (_changed, participant) => tellState(participant));
  room.on(RoomEvent.TrackSubscribed, (track) => {
    if (track.kind !== TrackKind.KIND_AUDIO) return;
    events.onVoice();
    void listen(track, events.openSpeaker());
    agentHeard.resolve();
  });
  followTranscript(room, { userIdentity: userIdentityOf(id), onLine: events.onLine });
  const connected = room.connect(url, token, { autoSubscribe: true, dynacast: false });
  await within(clock, JOIN_WITHIN_MS, connected).catch((error: unknown) => {
    // The connection may still be made later.
    connected.then(() => room.disconnect()).catch(() => undefined);
    throw new UserError(`the media server at ${url} can't be joined: ${errorMessageOf(error)}`, {
      cure: 'is it running, and can this machine reach it? LIVEKIT_PUBLIC_URL of the api is the address that callers get',
      cause: error,
    });
  });
  const audible = withTimeout(clock, AGENT_HEARD_WITHIN_MS, agentHeard.promise).then(() => publishMicrophone(room, audio));
  // Whoever waits for it gets the error; a call that ends before has no use for it.
  audible.catch(() => undefined);
  for (const participant of room.remoteParticipants.values()) {
    events.onAgent();
    tellState(participant);
  }
  return {
    over,
    audible,
    press: async (code, key) => room.localParticipant?.publishDtmf(code, key),
    hangUp: () => room.disconnect(),
  };
}

async function publishMicrophone(room: Room, audio: OutgoingAudio): Promise<void> {
  if (!room.isConnected) return;
  const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
  try {
    await room.localParticipant?.publishTrack(LocalAudioTrack.createAudioTrack('microphone', audio.source), options);
  } catch (error) {
    if (room.isConnected)
      throw new UserError(`the agent can't hear you: the microphone was not published: ${errorMessageOf(error)}`, { cause: error });
  }
}

/** Audio that nobody takes is kept: so this takes it, even where there is no speaker. */
async function listen(track: RemoteTrack, speaker: Speaker | undefined): Promise<void> {
  try {
    for await (const { data } of new AudioStream(track, CALLER_RATE, 1)) speaker?.play(data);
  } catch {
    // The room is gone.
  }
  speaker?.stop();
}

async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const done = await withTimeout(
    clock,
    ms,
    work.then((value) => ({ value })),
  );
  if (done === undefined) throw new Error(`no answer within ${ms / 1_000} s`);
  return done.value;
}
