import { EventEmitter } from 'node:events';

import {
  ConnectionState,
  DisconnectReason,
  ParticipantKind,
  RoomEvent,
  TrackKind,
  type RemoteParticipant,
  type Room,
} from '@livekit/rtc-node';
import { beforeEach, describe, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { finishReasonOfDisconnect } from './disconnect-reason.ts';
import { RoomWatch } from './room-watch.ts';

/** Stands for a room of LiveKit's, as far as it is watched. */
class SomeRoom extends EventEmitter {
  readonly remoteParticipants = new Map<string, unknown>();
  getRtcStats = (): Promise<object> => Promise.reject(new Error('not connected'));

  comes(identity: string, { kind = ParticipantKind.STANDARD, muted = false, microphone = true } = {}): void {
    const tracks = microphone ? [{ kind: TrackKind.KIND_AUDIO, muted, track: {} }] : [];
    const participant = { identity, kind, trackPublications: new Map(tracks.map((track) => ['microphone', track])) };
    this.remoteParticipants.set(identity, participant);
    this.emit(RoomEvent.ParticipantConnected, participant);
  }

  /** Sets the statistics of the user's packets. @param packetAgo time since the last packet of the user, in milliseconds */
  receives(packetAgo: number): void {
    const value = {
      rtc: { timestamp: 50_000_000n },
      stream: { kind: 'audio' },
      inbound: { lastPacketReceivedTimestamp: 50_000 - packetAgo },
    };
    const others = { case: 'inboundRtp', value: { ...value, stream: { kind: 'video' }, inbound: { lastPacketReceivedTimestamp: 50_000 } } };
    this.getRtcStats = () =>
      Promise.resolve({ publisherStats: [{ stats: { case: 'inboundRtp', value } }, { stats: others }], subscriberStats: [] });
  }

  speaks(identity: string): void {
    this.emit(RoomEvent.TrackSubscribed, { kind: TrackKind.KIND_AUDIO }, {}, { identity });
  }

  leaves(identity: string, disconnectReason: DisconnectReason): void {
    this.remoteParticipants.delete(identity);
    this.emit(RoomEvent.ParticipantDisconnected, { identity, disconnectReason });
  }
}

let clock: FakeClock;
let room: SomeRoom;
let reported: string[];

function watch(ringing = false): RoomWatch {
  return new RoomWatch({
    room: room as unknown as Room,
    userIdentity: 'user',
    joinMs: 60_000,
    clock,
    onMedia: () => reported.push('media'),
    onEnd: (reason) => reported.push(reason),
    reasonOf: (left, begun) => finishReasonOfDisconnect(left, { callType: 'web_call', begun }),
    ringing,
  });
}

beforeEach(() => {
  clock = new FakeClock();
  room = new SomeRoom();
  reported = [];
});

describe('the room of a call', () => {
  it('has media as soon as the user is heard, once', () => {
    watch().entered();
    room.comes('user');
    room.speaks('somebody');
    expect(reported).toEqual([]);
    room.speaks('user');
    room.speaks('user');
    clock.tick(120_000);
    expect(reported).toEqual(['media']);
  });

  it('speaks to a user without a microphone, and waits for it', () => {
    watch().entered();
    room.comes('user');
    clock.tick(1_999);
    expect(reported).toEqual([]);
    clock.tick(1);
    expect(reported).toEqual(['media']);
    clock.tick(28_000);
    expect(reported).toEqual(['media', 'no_audio_input']);
  });

  it('knows why it is silent', async () => {
    const subject = watch();
    subject.entered();
    room.comes('user');
    expect(await subject.reasonOfSilence()).toBe('no_audio_input');
    room.speaks('user');
    // The user is not in doubt without statistics.
    expect(await subject.reasonOfSilence()).toBe('inactivity_timeout');
    room.receives(500);
    expect(await subject.reasonOfSilence()).toBe('inactivity_timeout');
    room.receives(2_500);
    expect(await subject.reasonOfSilence()).toBe('user_connection_failure');
    // No packet has ever come.
    room.receives(50_000);
    expect(await subject.reasonOfSilence()).toBe('user_connection_failure');
    // The media server forwards nothing of a muted microphone, and a phone may send nothing.
    room.comes('user', { muted: true });
    expect(await subject.reasonOfSilence()).toBe('inactivity_timeout');
    room.comes('user', { kind: ParticipantKind.SIP });
    expect(await subject.reasonOfSilence()).toBe('inactivity_timeout');
    room.comes('user');
    room.getRtcStats = () => new Promise(() => undefined);
    const reason = subject.reasonOfSilence();
    clock.tick(1_000);
    expect(await reason).toBe('inactivity_timeout');
    // The next client of the user has no microphone.
    room.comes('user', { microphone: false });
    expect(await subject.reasonOfSilence()).toBe('no_audio_input');
  });

  it('knows who was there before it was entered, and who never came', () => {
    const first = watch();
    room.comes('user');
    first.entered();
    clock.tick(25_000);
    expect(reported).toEqual(['media']);
    first.close();
    room = new SomeRoom();
    reported = [];
    watch().entered();
    clock.tick(59_000);
    expect(reported).toEqual([]);
    clock.tick(1_000);
    expect(reported).toEqual(['user_connection_failure']);
  });

  it('is over when the caller by phone has left before it is watched', () => {
    watch().entered({ identity: 'user', disconnectReason: DisconnectReason.CLIENT_INITIATED } as RemoteParticipant);
    clock.tick(1_000);
    expect(reported).toEqual(['user_connection_failure']);
  });

  it('reports why the user has left, and that the user is gone', async () => {
    const subject = watch();
    subject.entered();
    room.comes('user');
    room.speaks('user');
    expect(subject.present).toBe(true);
    room.leaves('user', DisconnectReason.DUPLICATE_IDENTITY);
    expect(subject.present).toBe(true);
    room.leaves('user', DisconnectReason.CLIENT_INITIATED);
    expect(reported).toEqual(['media', 'user_ended_call']);
    expect(subject.present).toBe(false);
    await subject.gone();
  });

  it.each([
    [true, 'native_platform_internal_error'],
    [false, 'user_connection_failure'],
  ])('that is lost with somebody in it (%s) ends the call: %s', (present, reason) => {
    watch().entered();
    if (present) room.comes('user');
    room.emit(RoomEvent.Disconnected, DisconnectReason.UNKNOWN_REASON);
    expect(reported).toEqual([reason]);
  });

  it('distinguishes a lost user from a lost server', () => {
    watch().entered();
    room.comes('user');
    room.leaves('user', DisconnectReason.SIGNAL_CLOSE);
    expect(reported).toEqual([]);
    clock.tick(1_000);
    expect(reported).toEqual(['user_connection_failure']);
    room = new SomeRoom();
    reported = [];
    watch().entered();
    room.comes('user');
    room.leaves('user', DisconnectReason.SIGNAL_CLOSE);
    room.emit(RoomEvent.Disconnected, DisconnectReason.SERVER_SHUTDOWN);
    expect(reported).toEqual(['native_platform_internal_error']);
  });

  it('waits for a lost connection, and not for ever', () => {
    watch().entered();
    room.comes('user');
    room.emit(RoomEvent.ConnectionStateChanged, ConnectionState.CONN_RECONNECTING);
    clock.tick(19_000);
    room.emit(RoomEvent.ConnectionStateChanged, ConnectionState.CONN_CONNECTED);
    room.speaks('user');
    clock.tick(60_000);
    room.emit(RoomEvent.ConnectionStateChanged, ConnectionState.CONN_RECONNECTING);
    clock.tick(20_000);
    expect(reported.at(-1)).toBe('native_platform_internal_error');
  });

  it('goes on with a user who was away for a moment, as all are during a reconnect', async () => {
    const subject = watch();
    subject.entered();
    room.comes('user');
    room.speaks('user');
    room.emit(RoomEvent.ConnectionStateChanged, ConnectionState.CONN_RECONNECTING);
    room.leaves('user', DisconnectReason.STATE_MISMATCH);
    expect(subject.present).toBe(false);
    await subject.gone();
    clock.tick(400);
    room.comes('user');
    room.emit(RoomEvent.ConnectionStateChanged, ConnectionState.CONN_CONNECTED);
    clock.tick(60_000);
    expect(reported).toEqual(['media']);
    expect(subject.present).toBe(true);
    let gone = false;
    void subject.gone().then(() => (gone = true));
    await Promise.resolve();
    expect(gone).toBe(false);
  });

  it('waits for a phone that rings: nothing counts before it is answered', () => {
    const subject = watch(true);
    subject.entered();
    clock.tick(30_000);
    room.comes('user');
    room.speaks('user');
    room.leaves('user', DisconnectReason.USER_REJECTED);
    expect(reported).toEqual([]);
    room.comes('user');
    subject.answered();
    expect(reported).toEqual(['media']);
    room.leaves('user', DisconnectReason.CLIENT_INITIATED);
    expect(reported).toEqual(['media', 'user_ended_call']);
  });

  it('is over when the callee hung up before the answer was known', () => {
    const subject = watch(true);
    subject.entered();
    room.comes('user');
    room.speaks('user');
    room.leaves('user', DisconnectReason.SIGNAL_CLOSE);
    subject.answered();
    clock.tick(60_000);
    expect(reported).toEqual(['user_connection_failure']);
  });

  it.each([
    ['the room is closed', () => room.emit(RoomEvent.Disconnected)],
    ['nobody comes', () => clock.tick(60_000)],
  ])('is over when the callee came and went unseen: %s', (_what, end) => {
    const subject = watch(true);
    subject.entered();
    subject.answered();
    end();
    expect(reported).toEqual(['user_ended_call']);
  });

  it('begins with a callee who is seen after the answer', () => {
    const subject = watch(true);
    subject.entered();
    subject.answered();
    room.comes('user');
    room.speaks('user');
    clock.tick(60_000);
    expect(reported).toEqual(['media']);
  });
});
