/** LiveKit's own events, from a real server, end calls whose job is gone, and are of no consequence otherwise. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { dispose, Room } from '@livekit/rtc-node';
import { AccessToken, ParticipantInfo_State, RoomServiceClient } from 'livekit-server-sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { MEDIA_EVENTS_PATH } from '../../../api/media-events/routes.ts';
import { accessTokenOf, TOKEN_TTL_MS } from '../../../calls/access-token.ts';
import { roomOf, userIdentityOf } from '../../../calls/names.ts';
import type { MediaServer } from '../../../calls/media-server.ts';
import { repositoryRoot } from '../../../local-stack/repository.ts';
import type { CallRecord } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { ownMediaServer } from '../../support/own-media-server.ts';
import { query } from '../../support/sql.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startFacade, type Facade } from '../api/facade.ts';
import { registerCall } from '../store/calls-support.ts';

const org = 'callers';
let facade: Facade;
afterAll(dispose);
const livekit = suiteFixture(ownMediaServer);
let server: MediaServer;
let rooms: RoomServiceClient;
const agents: ChildProcess[] = [];

beforeAll(async () => {
  server = livekit.address;
  rooms = new RoomServiceClient(server.url.replace(/^ws/, 'http'), server.apiKey, server.apiSecret);
  facade = await startFacade({ calls: { mediaServer: server } });
  await facade.store.organizations.create({ name: org });
  await livekit.start({ eventUrls: [facade.url + MEDIA_EVENTS_PATH], roomsByJoining: true });
});
afterAll(async () => {
  for (const agent of agents) agent.kill('SIGKILL');
  await facade.close();
});

/** Starts an agent in a process of its own, which knows nothing of any call and can be killed. */
async function agentIn(room: string): Promise<ChildProcess> {
  const token = new AccessToken(server.apiKey, server.apiSecret, { identity: `agent-${room}` });
  token.kind = 'agent';
  token.addGrant({ room, roomJoin: true, agent: true });
  const script = `
    import { Room } from '@livekit/rtc-node';
    const room = new Room();
    await room.connect(process.env.URL, process.env.TOKEN, {});
    console.log('in');
    process.on('SIGTERM', () => room.disconnect().then(() => process.exit()));
    setInterval(() => undefined, 1 << 30);`;
  const agent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: repositoryRoot(),
    env: { ...process.env, URL: server.url, TOKEN: await token.toJwt() },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  agents.push(agent);
  await once(agent.stdout, 'data');
  return agent;
}

async function callWithAgent(): Promise<{ readonly id: string; readonly room: string; readonly user: Room; readonly agent: ChildProcess }> {
  const { id } = await registerCall(facade.store, org);
  const room = id.replace('_', '-');
  const user = new Room();
  const token = await accessTokenOf(server, { callId: id, expiresAt: new Date(Date.now() + TOKEN_TTL_MS), now: Date.now() });
  await user.connect(server.url, token, { autoSubscribe: true, dynacast: false });
  const agent = await agentIn(room);
  await facade.store.calls.calls.start({ org, id, jobId: 'job', events: () => [] });
  return { id, room, user, agent };
}

const callOf = async (id: string): Promise<CallRecord> => (await facade.store.calls.calls.get({ org, id }))!;

async function metric(name: string): Promise<number> {
  const text = await facade.registry.getSingleMetricAsString(name);
  return [...text.matchAll(/^\w+(?:\{[^}]*\})? (\d+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
}

it.concurrent('ends a call whose user leaves before it begins, also one whose agent comes later', async () => {
  for (const comes of [false, true]) {
    const { id } = await registerCall(facade.store, org);
    const user = new Room();
    const token = await accessTokenOf(server, { callId: id, expiresAt: new Date(Date.now() + TOKEN_TTL_MS), now: Date.now() });
    await user.connect(server.url, token, { autoSubscribe: true, dynacast: false });
    // A client that leaves before that has aborted the connection, as one does that tries another way.
    await eventually(async () =>
      expect(await rooms.getParticipant(roomOf(id), userIdentityOf(id))).toMatchObject({ state: ParticipantInfo_State.ACTIVE }),
    );
    if (comes) await facade.store.calls.calls.heartbeat({ org, id, jobId: 'job' });
    await user.disconnect();
    await eventually(async () => expect(await callOf(id)).toMatchObject({ status: 'error', finishReason: 'user_connection_failure' }));
  }
});

it.concurrent('ends a call whose agent was killed, for a reason that is ours, and none whose job is alive or whose agent is back', async () => {
  const alive = await callWithAgent();
  const back = await callWithAgent();
  // The call's job has just sent a heartbeat, however long the test takes.
  const inAnHour = "UPDATE parley.calls SET job_seen_at = now() + interval '1 hour' WHERE id = $1";
  await query(facade.database.url, inAnHour, [alive.id]);
  const looked = await metric('parley_media_events_total');
  alive.agent.kill('SIGTERM');
  back.agent.kill('SIGTERM');
  await agentIn(back.room);
  await eventually(async () => expect(await metric('parley_media_events_total')).toBeGreaterThanOrEqual(looked + 3));
  // It is suspected after the others, and for as long.
  const lost = await callWithAgent();
  lost.agent.kill('SIGKILL');
  const ours = { status: 'error', finishReason: 'native_platform_internal_error' };
  await eventually(async () => expect(await callOf(lost.id)).toMatchObject(ours));
  await eventually(() => expect(lost.user.isConnected).toBe(false));
  expect(await metric('parley_calls_lost_total')).toBeGreaterThanOrEqual(1);
  for (const { id } of [alive, back]) expect((await callOf(id)).status).toBe('ongoing');
  await facade.store.calls.calls.end({ org, id: alive.id, reason: 'user_ended_call', events: () => [] });
  // The event comes again late, after the call is over: its reason stays.
  await alive.user.disconnect();
  await back.user.disconnect();
  expect((await callOf(alive.id)).finishReason).toBe('user_ended_call');
});

it.concurrent('removes participants who join after the end of a call, where the media server creates rooms on join', async () => {
  const { id } = await registerCall(facade.store, org);
  const token = await accessTokenOf(server, { callId: id, expiresAt: new Date(Date.now() + TOKEN_TTL_MS), now: Date.now() });
  await facade.store.calls.calls.end({ org, id, reason: 'user_connection_failure', events: () => [] });
  const user = new Room();
  // It may be sent out before it is in.
  await user.connect(server.url, token, { autoSubscribe: true, dynacast: false }).catch(() => undefined);
  await eventually(() => expect(user.isConnected).toBe(false));
});

it('takes events from the media server only, and no long ones', async () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(facade.url + MEDIA_EVENTS_PATH, { method: 'POST', headers: { 'content-type': 'application/webhook+json', ...headers }, body });
  const event = JSON.stringify({ event: 'room_finished', room: { name: 'call-x' } });
  const sign = async (secret: string, body: string): Promise<string> => {
    const token = new AccessToken(server.apiKey, secret, { ttl: 60 });
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body));
    token.sha256 = Buffer.from(digest).toString('base64');
    return token.toJwt();
  };
  expect((await post(event)).status).toBe(401);
  expect((await post(event, { authorization: await sign('another secret of thirty-two characters', event) })).status).toBe(401);
  expect((await post(`${event} `, { authorization: await sign(server.apiSecret, event) })).status).toBe(401);
  const user = await accessTokenOf(server, { callId: 'call_x', expiresAt: new Date(Date.now() + 60_000), now: Date.now() });
  expect((await post(event, { authorization: user })).status).toBe(401);
  expect((await post(event, { authorization: await sign(server.apiSecret, event) })).status).toBe(200);
  expect((await post('[', { authorization: await sign(server.apiSecret, '[') })).status).toBe(400);
  expect((await post('x'.repeat(300_000))).status).toBe(413);
});
