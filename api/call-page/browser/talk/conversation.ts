/** Runs one call in the browser: joins its room, plays the agent, sends the microphone, and leaves the room. */
import {
  ConnectionState,
  createAudioAnalyser,
  DisconnectReason,
  LogLevel,
  Room,
  RoomEvent,
  setLogLevel,
  Track,
  type LocalAudioTrack,
  type LocalTrack,
  type Participant,
  type RemoteAudioTrack,
  type RemoteTrack,
} from 'livekit-client';

import { followTranscript, type SpokenLine } from '../../../../calls/live-transcript.ts';
import { AGENT_HEARD_WITHIN_MS } from '../../../../calls/microphone.ts';
import { rms } from '../../session/level.ts';
import { pause } from '../shared/wait.ts';

// By default LiveKit's client logs each step of a call to the console, among them the request to join.
setLogLevel(LogLevel.warn);

/** LiveKit's agents report `listening`, `thinking` or `speaking` in this attribute. */
const STATE_ATTRIBUTE = 'lk.agent.state';

/** Measures how loud a track is now. */
export interface LevelSource {
  /** Returns the root mean square of the samples, 0 to 1. */
  volume(): number;
  close(): void;
}

export interface ConversationEvents {
  readonly onAgent: () => void;
  readonly onAgentState: (state: string) => void;
  readonly onLine: (line: SpokenLine) => void;
  readonly onMicrophone: (level: LevelSource) => void;
  /** Receives the element of the agent's voice, which the page has to add. */
  readonly onVoice: (element: HTMLMediaElement, level: LevelSource) => void;
  /** Reports whether the browser plays nothing until the user presses a button. */
  readonly onSilenced: (silenced: boolean) => void;
  /** Reports that the room is disconnected. */
  readonly onOver: (reason: string) => void;
}

export class PageConversation {
  readonly #room = new Room({ adaptiveStream: false, dynacast: false, disconnectOnPageLeave: true });
  readonly #events: ConversationEvents;
  readonly #agentHeard = Promise.withResolvers<void>();
  #tracks: readonly LocalTrack[] = [];
  #muted = false;
  #published: Promise<void> = Promise.resolve();

  constructor(events: ConversationEvents) {
    this.#events = events;
    this.#room
      .on(RoomEvent.ParticipantConnected, () => events.onAgent())
      .on(RoomEvent.ParticipantAttributesChanged, (_changed, participant) => this.#tellState(participant))
      .on(RoomEvent.TrackSubscribed, (track: RemoteTrack) => {
        if (track.kind !== Track.Kind.Audio) return;
        events.onVoice(track.attach(), trackLevel(track as RemoteAudioTrack));
        this.#agentHeard.resolve();
      })
      .on(RoomEvent.TrackUnsubscribed, (track: RemoteTrack) => {
        for (const element of track.detach()) element.remove();
      })
      .on(RoomEvent.AudioPlaybackStatusChanged, () => events.onSilenced(!this.#room.canPlaybackAudio))
      .on(RoomEvent.Disconnected, (reason) => events.onOver(reason === undefined ? 'unknown' : DisconnectReason[reason]));
  }

  /** Comes first: an unused call counts against the limit for minutes. @throws DOMException where there is no usable microphone */
  async openMicrophone(): Promise<void> {
    this.#tracks = await this.#room.localParticipant.createTracks({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
    });
    for (const track of this.#tracks) this.#events.onMicrophone(trackLevel(track as LocalAudioTrack));
  }

  /** @throws Error where the media server can't be reached, or refuses the token */
  async join(url: string, token: string, userIdentity: string): Promise<void> {
    followTranscript(this.#room, { userIdentity, onLine: (line) => this.#events.onLine(line) });
    await this.#room.connect(url, token);
    for (const participant of this.#room.remoteParticipants.values()) this.#tellState(participant);
    this.#events.onSilenced(!this.#room.canPlaybackAudio);
  }

  /** Publishes the microphone once the agent is heard, so that its welcome message is. */
  async publishMicrophone(): Promise<void> {
    await Promise.race([this.#agentHeard.promise, pause(AGENT_HEARD_WITHIN_MS)]);
    const publishing = this.#publish();
    this.#published = publishing.catch(() => undefined);
    await publishing;
  }

  /** Mutes the microphone, also before it is published. The server misses an unmuting during publication, so that waits. */
  async mute(muted: boolean): Promise<void> {
    this.#muted = muted;
    if (!muted) await this.#published;
    for (const track of this.#tracks) await (this.#muted ? track.mute() : track.unmute());
  }

  get hasAgent(): boolean {
    return this.#room.remoteParticipants.size > 0;
  }

  get connected(): boolean {
    return this.#room.state === ConnectionState.Connected;
  }

  /** Turns the sound on. Only a button may call this: browsers don't let a page begin by itself. */
  async turnSoundOn(): Promise<void> {
    await this.#room.startAudio();
  }

  /** Leaves the room, and releases the microphone. */
  async hangUp(): Promise<void> {
    await this.#room.disconnect();
    for (const track of this.#tracks) track.stop();
  }

  async #publish(): Promise<void> {
    for (const track of this.#tracks) if (this.connected) await this.#room.localParticipant.publishTrack(track);
  }

  #tellState(participant: Participant): void {
    const { [STATE_ATTRIBUTE]: state } = participant.attributes;
    if (!participant.isLocal && state !== undefined) this.#events.onAgentState(state);
  }
}

function trackLevel(track: LocalAudioTrack | RemoteAudioTrack): LevelSource {
  const { analyser, cleanup } = createAudioAnalyser(track);
  const samples = new Float32Array(analyser.fftSize);
  return {
    volume() {
      analyser.getFloatTimeDomainData(samples);
      return rms(samples);
    },
    close: () => void cleanup(),
  };
}
