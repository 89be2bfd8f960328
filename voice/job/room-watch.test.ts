import { EventEmitter } from 'node:events';

import { ConnectionState, DisconnectReason, RoomEvent, TrackKind, type Room } from '@livekit/rtc-node';
import { beforeEach, describe, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { finishReasonOfDisconnect } from '../finish-reason.ts';
import { RoomWatch } from './room-watch.ts';

/** A room of LiveKit's, as far as it is watched. */
class SomeRoom extends EventEmitter {
  readonly remoteParticipants = new Map<string, unknown>();

  comes(identity: string): void {
    const participant = { identity, trackPublications: new Map() };
    this.remoteParticipants.set(identity, participant);
    this.emit(RoomEvent.ParticipantConnected, participant);
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

  it('knows whether the user has a microphone', () => {
    const subject = watch();
    subject.entered();
    room.comes('user');
    expect(subject.heard).toBe(false);
    room.speaks('user');
    expect(subject.heard).toBe(true);
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
});
