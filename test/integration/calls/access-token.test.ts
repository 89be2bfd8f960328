/** Tests what a token opens and what not, with the official client on a real media server. */
import {
  AudioFrame,
  AudioSource,
  LocalAudioTrack,
  LocalVideoTrack,
  Room,
  RoomEvent,
  TrackPublishOptions,
  TrackSource,
  VideoSource,
} from '@livekit/rtc-node';
import { AgentDispatchClient, RoomServiceClient } from 'livekit-server-sdk';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { accessTokenOf, supervisorTokenOf } from '../../../calls/access-token.ts';
import type { MediaServer } from '../../../calls/media-server.ts';
import { listenerIdentityOf, roomOf, supervisorIdentityOf, userIdentityOf } from '../../../calls/names.ts';
import { createRooms } from '../../../calls/rooms.ts';
import { newCallId } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { mediaServer } from '../../support/media-server.ts';

let server: MediaServer;
let rooms: RoomServiceClient;

beforeAll(async () => {
  server = await mediaServer();
  rooms = new RoomServiceClient(httpUrl(), server.apiKey, server.apiSecret);
});
afterAll(async () => {
  const { dispose } = await import('@livekit/rtc-node');
  await dispose();
});

const httpUrl = (): string => server.url.replace(/^ws/, 'http');

function tokenOf(callId: string, secondsLeft = 600): Promise<string> {
  return accessTokenOf(server, { callId, expiresAt: new Date(Date.now() + secondsLeft * 1000), now: Date.now() });
}

async function join(callId: string): Promise<Room> {
  await createRooms(server).open(callId);
  const room = new Room();
  await room.connect(server.url, await tokenOf(callId), { autoSubscribe: true, dynacast: false });
  onTestFinished(() => room.disconnect());
  return room;
}

/** Sends one of the server's own requests, with a user's token. */
async function ask(token: string, method: string, body: object): Promise<number> {
  const response = await fetch(`${httpUrl()}/twirp/livekit.RoomService/${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.body?.cancel();
  return response.status;
}

function publishAs(source: TrackSource): TrackPublishOptions {
  const options = new TrackPublishOptions();
  options.source = source;
  return options;
}

describe('the user of a call', () => {
  it('comes into the room of the call, as who the call says, and is heard there', async () => {
    const callId = newCallId();
    const room = await join(callId);
    expect(room.name).toBe(roomOf(callId));
    expect(room.localParticipant?.identity).toBe(userIdentityOf(callId));
    const source = new AudioSource(48_000, 1);
    const track = LocalAudioTrack.createAudioTrack('microphone', source);
    const published = await room.localParticipant!.publishTrack(track, publishAs(TrackSource.SOURCE_MICROPHONE));
    await source.captureFrame(AudioFrame.create(48_000, 1, 480));
    await eventually(async () => {
      const [participant] = await rooms.listParticipants(roomOf(callId));
      expect(participant?.tracks.map(({ sid }) => sid)).toEqual([published.sid]);
    });
    await track.close();
  });

  it('is not seen, and shows no screen', async () => {
    // The attempts run side by side: the client waits a while for a server that ignores what it may not do.
    await Promise.all(
      [TrackSource.SOURCE_CAMERA, TrackSource.SOURCE_SCREENSHARE].map(async (kind) => {
        const callId = newCallId();
        const room = await join(callId);
        const track = LocalVideoTrack.createVideoTrack('video', new VideoSource(64, 64));
        await expect(room.localParticipant!.publishTrack(track, publishAs(kind))).rejects.toBeInstanceOf(Error);
        // A client that was refused may be coming back at this moment.
        const participants = await rooms.listParticipants(roomOf(callId));
        expect(participants.flatMap(({ tracks }) => tracks)).toEqual([]);
        await track.close();
      }),
    );
  });

  it('can neither list rooms nor make, close or look into any, its own neither', async () => {
    const callId = newCallId();
    await join(callId);
    const token = await tokenOf(callId);
    const room = roomOf(callId);
    expect(await ask(token, 'ListRooms', {})).toBe(401);
    expect(await ask(token, 'CreateRoom', { name: 'mine' })).toBe(401);
    expect(await ask(token, 'DeleteRoom', { room })).toBe(401);
    expect(await ask(token, 'ListParticipants', { room })).toBe(401);
    const update = { room, identity: userIdentityOf(callId), permission: { canPublish: true, canPublishData: true } };
    expect(await ask(token, 'UpdateParticipant', update)).toBe(401);
    // The same requests succeed with the server's own key: it is the token that is in the way.
    expect((await rooms.listRooms([room])).map(({ name }) => name)).toEqual([room]);
  });

  it('enters no other room, whatever it asks for', async () => {
    const [callId, other] = [newCallId(), newCallId()];
    await join(other);
    await createRooms(server).open(callId);
    const room = new Room();
    onTestFinished(() => room.disconnect());
    // The client's own wish for a room doesn't count: the room is the token's.
    await room.connect(`${server.url}?room=${roomOf(other)}`, await tokenOf(callId), { autoSubscribe: true, dynacast: false });
    expect(room.name).toBe(roomOf(callId));
    expect((await rooms.listParticipants(roomOf(other))).map(({ identity }) => identity)).toEqual([userIdentityOf(other)]);
  });

  it('can not come with a token that is past its time, or that somebody has changed', async () => {
    const callId = newCallId();
    const { AccessToken } = await import('livekit-server-sdk');
    // The token was made long ago: servers allow for clocks that differ by a minute.
    const expired = new AccessToken(server.apiKey, server.apiSecret, { identity: userIdentityOf(callId) });
    expired.addGrant({ room: roomOf(callId), roomJoin: true });
    expired.ttl = Math.floor(Date.now() / 1000) - 300;
    await createRooms(server).open(callId);
    const good = await tokenOf(callId);
    const [header, payload = '', signature] = good.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { video: { room: string } };
    const elsewhere = Buffer.from(JSON.stringify({ ...claims, video: { ...claims.video, room: 'elsewhere' } })).toString('base64url');
    const validate = async (token: string): Promise<number> => {
      const response = await fetch(`${httpUrl()}/rtc/validate?access_token=${token}`);
      await response.body?.cancel();
      return response.status;
    };
    expect(await validate(good)).toBe(200);
    expect(await validate(await expired.toJwt())).toBe(401);
    expect(await validate(`${header}.${elsewhere}.${signature}`)).toBe(401);
    const joining = new Room().connect(server.url, await expired.toJwt(), { autoSubscribe: true, dynacast: false });
    await expect(joining).rejects.toBeInstanceOf(Error);
  });

  it('finds nothing in the room but the id of the call', async () => {
    const callId = newCallId();
    const room = await join(callId);
    const [stored] = await rooms.listRooms([roomOf(callId)]);
    expect([room.metadata ?? '', stored?.metadata]).toEqual(['', '']);
    expect([stored?.emptyTimeout, stored?.departureTimeout]).toEqual([360, 20]);
  });

  it('makes no room and calls no agent by joining: not before the call has its room, and not after its end', async () => {
    const callId = newCallId();
    const dispatches = new AgentDispatchClient(httpUrl(), server.apiKey, server.apiSecret);
    const token = await tokenOf(callId);
    const tryToJoin = async (): Promise<void> => {
      const room = new Room();
      onTestFinished(() => room.disconnect());
      await expect(room.connect(server.url, token, { autoSubscribe: true, dynacast: false })).rejects.toBeInstanceOf(Error);
    };
    await tryToJoin();
    await join(callId);
    await createRooms(server).close(roomOf(callId));
    await tryToJoin();
    expect(await rooms.listRooms([roomOf(callId)])).toEqual([]);
    expect(await dispatches.listDispatch(roomOf(callId)).catch(() => [])).toEqual([]);
  });

  it('is sent out when the room is closed, and a room that is gone is closed', async () => {
    const callId = newCallId();
    const room = await join(callId);
    const out = new Promise<void>((resolve) => void room.once(RoomEvent.Disconnected, () => resolve()));
    const closer = createRooms(server);
    await closer.close(roomOf(callId));
    await out;
    expect(await rooms.listRooms([roomOf(callId)])).toEqual([]);
    await closer.close(roomOf(callId));
    await closer.close(roomOf(newCallId()));
  });
});

describe('a token for somebody beside the user', () => {
  it('joins them to the room, where whoever only hears is seen by nobody and is no user', async () => {
    const callId = newCallId();
    const user = await join(callId);
    const options = { autoSubscribe: true, dynacast: false };
    const listener = new Room();
    const listening = { room: roomOf(callId), identity: listenerIdentityOf('cmd_1'), speaks: false };
    await listener.connect(server.url, await supervisorTokenOf(server, listening), options);
    onTestFinished(() => listener.disconnect());
    const supervisor = new Room();
    const speaking = { room: roomOf(callId), identity: supervisorIdentityOf('cmd_2'), speaks: true };
    await supervisor.connect(server.url, await supervisorTokenOf(server, speaking), options);
    onTestFinished(() => supervisor.disconnect());
    await eventually(() => expect([...user.remoteParticipants.keys()]).toEqual([speaking.identity]));
    await user.disconnect();
    await eventually(async () => expect(await createRooms(server).hasUser(roomOf(callId))).toBe(false));
    expect((await rooms.listParticipants(roomOf(callId))).map(({ identity }) => identity)).toContain(speaking.identity);
  });
});
