/** Derives from the media server's events of a call's room that the user can be heard, and that the call is over. */
import {
  ConnectionState,
  ParticipantKind,
  RoomEvent,
  TrackKind,
  type DisconnectReason,
  type RemoteParticipant,
  type RemoteTrack,
  type Room,
} from '@livekit/rtc-node';

import { END_TOPIC } from '../../calls/names.ts';
import { withTimeout, type Clock, type Timer } from '../../platform/clock.ts';
import type { FinishReason } from '../../store/index.ts';

/** Longest time that a user may take to allow the microphone, in milliseconds. */
const NO_MICROPHONE_MS = 30_000;
/** Time after which the agent speaks to a user without a microphone, in milliseconds. */
const SILENT_USER_MS = 2_000;
/** Longest wait for a reconnect to the media server, in milliseconds: the library tries for minutes. */
const RECONNECT_MS = 20_000;
/** Longest time between the loss of a user and that of the media server, in milliseconds. */
const DOUBT_MS = 1_000;
/** Time without packets after which a microphone is gone, in milliseconds: it sends some at least every 400 ms, also while all is quiet. */
const NO_PACKETS_MS = 2_000;
/** Longest wait for the statistics of the connection, in milliseconds. */
const STATISTICS_MS = 1_000;

export interface RoomWatchOptions {
  readonly room: Room;
  readonly userIdentity: string;
  /** Longest wait for the user, in milliseconds. */
  readonly joinMs: number;
  readonly clock: Clock;
  /** Called once the user can be heard, or is there and waits to hear something. */
  readonly onMedia: () => void;
  readonly onEnd: (reason: FinishReason) => void;
  /** Returns the finish reason when the user has left; undefined where the call goes on. @param begun the agent has begun to speak */
  readonly reasonOf: (reason: DisconnectReason | undefined, begun: boolean) => FinishReason | undefined;
  /** True while the callee's phone rings: nothing counts before {@link RoomWatch.answered}. */
  readonly ringing: boolean;
}

export class RoomWatch {
  readonly #options: RoomWatchOptions;
  #gone = Promise.withResolvers<void>();
  readonly #come = Promise.withResolvers<void>();
  #timers: readonly Timer[] = [];
  #reconnecting: Timer | undefined;
  #leaving: Timer | undefined;
  #present = false;
  #heard = false;
  #media = false;
  #ringing: boolean;
  /** The callee, who left before the outcome of the dial was known. */
  #hungUp: RemoteParticipant | undefined;
  /** True while a callee who has answered has not been seen: the media server keeps back who comes and goes within a moment. */
  #unseen = false;

  constructor(options: RoomWatchOptions) {
    this.#options = options;
    const { room, userIdentity, onEnd } = options;
    this.#ringing = options.ringing;
    const isUser = ({ identity }: RemoteParticipant): boolean => identity === userIdentity;
    room.on(RoomEvent.ParticipantConnected, (participant: RemoteParticipant) => {
      if (isUser(participant)) this.#joined();
    });
    room.on(RoomEvent.TrackSubscribed, (track: RemoteTrack, _publication: unknown, participant: RemoteParticipant) => {
      if (track.kind === TrackKind.KIND_AUDIO && isUser(participant)) this.#audible();
    });
    room.on(RoomEvent.ParticipantDisconnected, (participant: RemoteParticipant) => {
      if (!isUser(participant)) return;
      // The result of the dial has the reason, unless it is that the callee answered.
      if (this.#ringing) this.#hungUp = participant;
      else this.#left(participant);
    });
    room.on(RoomEvent.DataReceived, (_payload: Uint8Array, sender: RemoteParticipant | undefined, _kind: unknown, topic?: string) => {
      // Only the API, which is no participant, may send this; users may send none.
      if (sender === undefined && topic === END_TOPIC) onEnd('agent_ended_call');
    });
    room.on(RoomEvent.ConnectionStateChanged, (state: ConnectionState) => {
      this.#reconnecting?.cancel();
      this.#reconnecting = state === ConnectionState.CONN_RECONNECTING ? options.clock.after(RECONNECT_MS, lost) : undefined;
      // All participants seem to leave while the connection is restored: those who are there afterwards never left.
      if (state === ConnectionState.CONN_CONNECTED && this.#leaving !== undefined && !room.remoteParticipants.has(userIdentity))
        onEnd('user_connection_failure');
    });
    const lost = (): void => {
      this.#gone.resolve();
      // The media server closes empty rooms: then it is the user who is missing.
      const isOurs = this.#present || this.#leaving !== undefined;
      onEnd(isOurs ? 'native_platform_internal_error' : this.#unseen ? 'user_ended_call' : 'user_connection_failure');
    };
    room.on(RoomEvent.Disconnected, lost);
  }

  /** Watches the room that the agent has joined. @param caller the user, who was there before, and may have left since */
  entered(caller?: RemoteParticipant): void {
    const { room, userIdentity, joinMs, clock, onEnd } = this.#options;
    const user = [...room.remoteParticipants.values()].find(({ identity }) => identity === userIdentity);
    if (user === undefined) {
      if (caller !== undefined) this.#left(caller);
      else if (!this.#ringing) this.#after(clock.after(joinMs, () => this.#present || onEnd('user_connection_failure')));
      return;
    }
    this.#joined();
    if ([...user.trackPublications.values()].some(({ kind, track }) => kind === TrackKind.KIND_AUDIO && track !== undefined))
      this.#audible();
  }

  answered(): void {
    const { room, userIdentity, joinMs, clock, onEnd } = this.#options;
    this.#ringing = false;
    this.#present = false;
    if (room.remoteParticipants.has(userIdentity)) {
      this.#joined();
      this.#begin();
    } else if (this.#hungUp === undefined) {
      this.#unseen = true;
      this.#after(clock.after(joinMs, () => this.#unseen && onEnd('user_ended_call')));
    } else this.#left(this.#hungUp);
  }

  get present(): boolean {
    return this.#present;
  }

  /** Returns the finish reason of a call without speech for too long. */
  async reasonOfSilence(): Promise<FinishReason> {
    const user = this.#options.room.remoteParticipants.get(this.#options.userIdentity);
    // A microphone may have gone again.
    const silent = user !== undefined && ![...user.trackPublications.values()].some(({ kind }) => kind === TrackKind.KIND_AUDIO);
    if (!this.#heard || silent) return 'no_audio_input';
    return (await this.#vanished()) ? 'user_connection_failure' : 'inactivity_timeout';
  }

  /** Returns whether no packets come from the user any more: the media server reports a client that was killed after 20 s. */
  async #vanished(): Promise<boolean> {
    const { room, userIdentity, clock } = this.#options;
    const user = room.remoteParticipants.get(userIdentity);
    // Some phones send nothing while it is quiet.
    if (user?.kind !== ParticipantKind.STANDARD) return false;
    const tracks = [...user.trackPublications.values()];
    if (!tracks.some(({ kind, muted, track }) => kind === TrackKind.KIND_AUDIO && muted !== true && track !== undefined)) return false;
    const packetAgo = await withTimeout(clock, STATISTICS_MS, sinceLastPacket(room)).catch(() => undefined);
    return packetAgo !== undefined && packetAgo > NO_PACKETS_MS;
  }

  /** Resolves when the user is in the room. */
  come(): Promise<void> {
    return this.#come.promise;
  }

  /** Resolves when the user has left. */
  gone(): Promise<void> {
    return this.#gone.promise;
  }

  close(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#leaving?.cancel();
    this.#reconnecting?.cancel();
  }

  #joined(): void {
    if (this.#present) return;
    this.#present = true;
    this.#unseen = false;
    this.#come.resolve();
    if (this.#ringing) return;
    if (this.#leaving !== undefined) {
      this.#leaving.cancel();
      this.#leaving = undefined;
      this.#gone = Promise.withResolvers();
    }
    const { clock, onEnd } = this.#options;
    this.#after(clock.after(SILENT_USER_MS, () => this.#begin()));
    this.#after(clock.after(NO_MICROPHONE_MS, () => this.#heard || onEnd('no_audio_input')));
  }

  #left({ disconnectReason }: RemoteParticipant): void {
    const { clock, onEnd, reasonOf } = this.#options;
    const reason = reasonOf(disconnectReason, this.#media);
    if (reason === undefined) return;
    this.#present = false;
    this.#gone.resolve();
    if (reason !== 'user_connection_failure') onEnd(reason);
    // A stopping server drops its users before its own connection is lost: wait a moment to see whose fault it was.
    else this.#leaving = clock.after(DOUBT_MS, () => this.#reconnecting ?? onEnd(reason));
  }

  #audible(): void {
    this.#joined();
    this.#heard = true;
    this.#begin();
  }

  #begin(): void {
    if (this.#media || this.#ringing || !this.#present) return;
    this.#media = true;
    this.#options.onMedia();
  }

  #after(timer: Timer): void {
    this.#timers = [...this.#timers, timer];
  }
}

/** Returns the time since the user's last packet, in milliseconds; Infinity where no packet of sound has ever come. */
async function sinceLastPacket(room: Room): Promise<number> {
  const { publisherStats, subscriberStats } = await room.getRtcStats();
  const ago = [...publisherStats, ...subscriberStats].flatMap(({ stats }) => {
    if (stats.case !== 'inboundRtp' || stats.value.stream?.kind !== 'audio') return [];
    const { rtc, inbound } = stats.value;
    // The first is in microseconds, the second in milliseconds.
    return inbound?.lastPacketReceivedTimestamp ? Number(rtc?.timestamp) / 1_000 - inbound.lastPacketReceivedTimestamp : [];
  });
  return Math.min(...ago);
}
