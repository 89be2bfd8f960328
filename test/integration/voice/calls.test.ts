/** The voice role as a process, with callers who use the official client: a call begins, and ends for the right reason. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { AudioFrame, AudioSource, dispose, LocalAudioTrack, Room, TrackPublishOptions, TrackSource } from '@livekit/rtc-node';
import { RoomServiceClient } from 'livekit-server-sdk';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { accessTokenOf, tokenTtlMs } from '../../../calls/access-token.ts';
import { CallLifecycle } from '../../../calls/lifecycle.ts';
import type { MediaServer } from '../../../calls/media-server.ts';
import { roomOf } from '../../../calls/names.ts';
import { Reaper } from '../../../calls/reaper.ts';
import { createRooms } from '../../../calls/rooms.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLogger } from '../../../platform/logging.ts';
import { migrate, newCallId, openStore, type CallRecord, type Store } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { mediaServer } from '../../support/media-server.ts';
import { database } from '../../support/postgres.ts';
import { aCall } from '../store/calls-support.ts';

const org = 'callers';
let server: MediaServer;
let rooms: RoomServiceClient;
let store: Store;
let env: NodeJS.ProcessEnv;
const processes: ChildProcess[] = [];

interface Role {
  readonly process: ChildProcess;
  readonly output: () => string;
}

async function startRole(change: NodeJS.ProcessEnv = {}): Promise<Role> {
  const port = await freePort();
  const entry = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));
  const child = spawn(process.execPath, [entry, 'voice'], {
    env: { ...env, PARLEY_VOICE_PORT: String(port), ...change },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  processes.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`the role has ended: ${output}`);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });
  return { process: child, output: () => output };
}

let role: Role;

beforeAll(async () => {
  const { url } = await database();
  await migrate({ databaseUrl: url });
  store = openStore({ databaseUrl: url });
  await store.organizations.create({ name: org });
  server = await mediaServer();
  rooms = new RoomServiceClient(server.url.replace(/^ws/, 'http'), server.apiKey, server.apiSecret);
  env = {
    ...process.env,
    DATABASE_URL: url,
    LIVEKIT_URL: server.url,
    LIVEKIT_API_KEY: server.apiKey,
    LIVEKIT_API_SECRET: server.apiSecret,
    PARLEY_VOICE_DRAIN_MS: '30000',
  };
  role = await startRole();
});
afterAll(async () => {
  for (const each of processes.filter(({ exitCode }) => exitCode === null)) {
    each.kill('SIGTERM');
    await once(each, 'exit');
  }
  await store.close();
  await dispose();
});

async function register(): Promise<string> {
  const id = newCallId();
  await store.calls.calls.register(aCall(org, { id, room: roomOf(id), tokenTtlMs }));
  return id;
}

interface Caller {
  readonly room: Room;
  readonly speak: () => Promise<void>;
  readonly leave: () => Promise<void>;
}

async function join(callId: string): Promise<Caller> {
  const room = new Room();
  const token = await accessTokenOf(server, { callId, expiresAt: new Date(Date.now() + tokenTtlMs), now: Date.now() });
  await room.connect(server.url, token, { autoSubscribe: true, dynacast: false });
  const speak = async (): Promise<void> => {
    const source = new AudioSource(48_000, 1);
    const options = new TrackPublishOptions();
    options.source = TrackSource.SOURCE_MICROPHONE;
    await room.localParticipant!.publishTrack(LocalAudioTrack.createAudioTrack('microphone', source), options);
    await source.captureFrame(AudioFrame.create(48_000, 1, 480));
  };
  return { room, speak, leave: () => room.disconnect() };
}

/** Waits until the call is in this state. */
function stateOf(id: string, expected: Partial<CallRecord>): Promise<CallRecord> {
  return eventually(async () => {
    const call = await store.calls.calls.get({ org, id });
    expect(call, role.output().slice(-3000)).toMatchObject(expected);
    return call!;
  });
}

describe('the voice role', () => {
  it('takes the call, begins with the first media, and ends when the user leaves', async () => {
    const id = await register();
    const caller = await join(id);
    // An agent is there, and nothing has been said.
    await eventually(async () => expect(await rooms.listParticipants(roomOf(id))).toHaveLength(2));
    expect((await store.calls.calls.get({ org, id }))?.status).toBe('registered');
    await caller.speak();
    const ongoing = await stateOf(id, { status: 'ongoing', finishReason: null });
    expect(ongoing.jobId).not.toBeNull();
    await caller.leave();
    const over = await stateOf(id, { status: 'ended', finishReason: 'user_ended_call' });
    expect(over.endedAt!.getTime()).toBeGreaterThanOrEqual(over.startedAt!.getTime());
    await eventually(async () => expect(await rooms.listRooms([roomOf(id)])).toEqual([]));
  });

  it('shows participants nothing but the id of the call', async () => {
    const id = await register();
    const caller = await join(id);
    await eventually(() => expect(caller.room.remoteParticipants.size).toBe(1));
    const [agent] = caller.room.remoteParticipants.values();
    expect([agent?.metadata ?? '', caller.room.metadata ?? '']).toEqual(['', '']);
    expect(JSON.stringify(agent?.attributes)).not.toContain(org);
    await caller.leave();
    await stateOf(id, { finishReason: 'user_ended_call' });
  });

  it('sends out whoever comes into the room of a call that is over', async () => {
    const id = await register();
    await store.calls.calls.end({ org, id, reason: 'user_connection_failure', events: () => [] });
    const caller = await join(id);
    await eventually(() => expect(caller.room.isConnected).toBe(false));
    expect((await store.calls.calls.get({ org, id }))?.startedAt).toBeNull();
  });

  it('leaves a call that somebody else has ended', async () => {
    const id = await register();
    const caller = await join(id);
    await caller.speak();
    await stateOf(id, { status: 'ongoing' });
    await store.calls.calls.end({ org, id, reason: 'maximum_duration_exceeded', events: () => [] });
    await eventually(() => expect(caller.room.isConnected).toBe(false));
    await stateOf(id, { status: 'ended', finishReason: 'maximum_duration_exceeded' });
  });

  it('leaves its call to the reaper when the job is killed', async () => {
    const id = await register();
    const caller = await join(id);
    await caller.speak();
    await stateOf(id, { status: 'ongoing' });
    const pid = role.process.pid!;
    for (const child of readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean))
      process.kill(Number(child), 'SIGKILL');
    const reaper = new Reaper({
      store: store.calls,
      lifecycle: new CallLifecycle({ calls: store.calls.calls, clock: systemClock }),
      rooms: createRooms(server),
      clock: systemClock,
      random: Math.random,
      logger: createLogger({ role: 'worker', level: 'silent' }),
      registry: new Registry(),
      // Longer than a job that lives is ever silent.
      limits: { joinMs: 300_000, silenceMs: 12_000, graceMs: 15_000 },
    });
    await eventually(async () => {
      await reaper.once();
      expect((await store.calls.calls.get({ org, id }))?.finishReason).toBe('native_platform_internal_error');
    });
    await eventually(() => expect(caller.room.isConnected).toBe(false));
    // The next call has a job again.
    const next = await register();
    const other = await join(next);
    await other.speak();
    await stateOf(next, { status: 'ongoing' });
    await other.leave();
    await stateOf(next, { finishReason: 'user_ended_call' });
  });

  it('that is told to stop takes no new call, and drops none that it has', async () => {
    const id = await register();
    const caller = await join(id);
    await caller.speak();
    await stateOf(id, { status: 'ongoing' });
    role.process.kill('SIGTERM');
    role = await startRole();
    const later = await register();
    const other = await join(later);
    await other.speak();
    await stateOf(later, { status: 'ongoing' });
    expect(caller.room.isConnected).toBe(true);
    expect((await store.calls.calls.get({ org, id }))?.status).toBe('ongoing');
    await caller.leave();
    await stateOf(id, { status: 'ended', finishReason: 'user_ended_call' });
    const [first] = processes;
    await eventually(() => expect(first?.exitCode).toBe(0));
    await other.leave();
    await stateOf(later, { status: 'ended', finishReason: 'user_ended_call' });
  });
});
