/** Runs the voice role as a process, with callers who use the official client: calls begin, and end for the right reason whatever dies. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

import { dispose, RoomEvent } from '@livekit/rtc-node';
import { RoomServiceClient } from 'livekit-server-sdk';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { roomOf, userIdentityOf } from '../../../calls/names.ts';
import { StaleCallSweeper } from '../../../calls/stale-call-sweeper.ts';
import { createRooms } from '../../../calls/rooms.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLogger } from '../../../platform/logging.ts';
import { CallEnding } from '../../../api/calls/call-ending.ts';
import { eventually } from '../../support/eventually.ts';
import { ownMediaServer } from '../../support/own-media-server.ts';
import { query } from '../../support/sql.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startProxyOf, type TcpProxy } from '../../support/tcp-proxy.ts';
import { session } from '../store/support.ts';
import { openStage, type VoiceStage, type StagedCall } from './stage.ts';

let stage: VoiceStage;
afterAll(dispose);
const livekit = suiteFixture(ownMediaServer);
let proxy: TcpProxy;
let rooms: RoomServiceClient;

beforeAll(async () => {
  await livekit.start();
  stage = await openStage(
    { PARLEY_VOICE_IDLE_PROCESSES: '3', PARLEY_VOICE_DRAIN_MS: '120000' },
    {
      server: livekit.address,
      async roleDatabase(url) {
        proxy = await startProxyOf(url);
        return Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(proxy.port) }).href;
      },
    },
  );
  rooms = new RoomServiceClient(livekit.address.url.replace(/^ws/, 'http'), livekit.address.apiKey, livekit.address.apiSecret);
});
afterAll(async () => {
  await stage.close();
  await proxy.close();
});

async function ongoing(): Promise<StagedCall> {
  const call = await stage.joined();
  await call.becomes({ status: 'ongoing' });
  return call;
}

async function leaves(call: StagedCall): Promise<void> {
  await call.caller.leave();
  await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
}

function jobProcesses(): readonly number[] {
  const pid = stage.role.process.pid!;
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Counts the threads that play a sound; each plays one into one room. */
function soundThreads(): number {
  const names = jobProcesses().flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8')),
  );
  return names.filter((name) => name.startsWith('AudioSource')).length;
}

/** Makes a sweeper that runs every five seconds, like a worker's, but with shorter timeouts. */
function sweeper(): StaleCallSweeper {
  return new StaleCallSweeper({
    store: stage.store.calls,
    lifecycle: new CallLifecycle({ calls: stage.store.calls.calls, clock: systemClock }),
    rooms: createRooms(livekit.address),
    clock: systemClock,
    random: Math.random,
    logger: createLogger({ role: 'worker', level: 'silent' }),
    registry: new Registry(),
    // No job that lives is silent for so long.
    limits: { joinMs: 300_000, silenceMs: 12_000, graceMs: 15_000 },
  });
}

describe('the voice role', () => {
  it('takes the call, begins with the first media, and ends when the user leaves', async () => {
    const call = await stage.call();
    expect(await call.record()).toMatchObject({ status: 'registered', startedAt: null });
    await call.join();
    const begun = await call.becomes({ status: 'ongoing', finishReason: null });
    expect(begun.jobId).not.toBeNull();
    await leaves(call);
    const over = await call.record();
    expect(over.endedAt!.getTime()).toBeGreaterThanOrEqual(over.startedAt!.getTime());
    await eventually(async () => expect(await rooms.listRooms([roomOf(call.id)])).toEqual([]));
    const line = await eventually(() => call.lines().find(({ msg }) => msg === 'the call is over') ?? Promise.reject(new Error('no line')));
    expect(line).toMatchObject({ org: stage.org, agent: 'receptionist', reason: 'user_ended_call', revision: over.revision, turns: 0 });
  });

  it('shows participants nothing but the id of the call', async () => {
    const call = await stage.call({ systemPrompt: 'Top secret.', spec: { welcomeMessage: 'Hello there.' } });
    const topics: string[] = [];
    for (const topic of ['lk.agent.session', 'lk.agent.events'])
      call.caller.room.registerByteStreamHandler(topic, () => topics.push(topic));
    call.caller.room.on(RoomEvent.DataReceived, () => topics.push('data'));
    await call.join();
    await call.caller.hears('Hello there.');
    await call.caller.speak(700);
    await call.caller.hears('I heard: hello');
    const [agent] = call.caller.room.remoteParticipants.values();
    expect([agent?.metadata ?? '', call.caller.room.metadata ?? '']).toEqual(['', '']);
    const attributes = JSON.stringify(agent?.attributes);
    for (const secret of [stage.org, 'secret', call.provider.url]) expect(attributes).not.toContain(secret);
    expect(topics).toEqual([]);
    await leaves(call);
  });

  it('removes participants who join the room of a call that is over', async () => {
    const call = await stage.call();
    await stage.store.calls.calls.end({ org: stage.org, id: call.id, reason: 'user_connection_failure', events: () => [] });
    // It may be sent out before it is in, and its client then believes that it is connected: the server says who is in a room.
    await call.join().catch(() => undefined);
    await eventually(async () => expect(await rooms.listRooms([roomOf(call.id)])).toEqual([]));
    expect((await call.record()).startedAt).toBeNull();
  });

  it('leaves a call that somebody else has ended', async () => {
    const call = await ongoing();
    await stage.store.calls.calls.end({ org: stage.org, id: call.id, reason: 'maximum_duration_exceeded', events: () => [] });
    await eventually(() => expect(call.caller.room.isConnected).toBe(false));
    await call.becomes({ status: 'ended', finishReason: 'maximum_duration_exceeded' });
  });

  it('ends a call on request, with its recording, as it ends by itself', async () => {
    const call = await stage.joined({ spec: { welcomeMessage: 'Hello there.' } });
    await eventually(async () => expect(await call.messages()).toMatchObject([{ role: 'agent', content: 'Hello there.' }]));
    const { calls } = stage.store.calls;
    const ending = new CallEnding({
      calls,
      lifecycle: new CallLifecycle({ calls, clock: systemClock }),
      rooms: createRooms(livekit.address),
      clock: systemClock,
    });
    expect(await ending.end(await call.record())).toMatchObject({ status: 'ended', finishReason: 'agent_ended_call' });
    await eventually(() => expect(call.caller.room.isConnected).toBe(false));
    await eventually(async () => expect((await call.record()).recording).not.toBeNull());
  });

  it('keeps no thread of a call that is over', async () => {
    // The threads of the calls before go first.
    await eventually(() => expect(soundThreads()).toBe(0));
    const call = await ongoing();
    await eventually(() => expect(soundThreads()).toBe(1));
    await leaves(call);
    await eventually(() => expect(soundThreads()).toBe(0));
  });

  it('names it when the server sends the user out', async () => {
    const call = await ongoing();
    await rooms.removeParticipant(roomOf(call.id), userIdentityOf(call.id));
    await call.becomes({ status: 'error', finishReason: 'native_platform_internal_error' });
    expect(call.caller.room.isConnected).toBe(false);
  });

  it('loses nothing of what is said while Postgres is away', async () => {
    const call = await ongoing();
    proxy.cut();
    for (const words of ['one', 'two']) {
      await call.says(words);
      await call.caller.hears(`I heard: ${words}`);
    }
    expect(await call.messages()).toEqual([]);
    proxy.restore();
    await eventually(async () =>
      expect((await call.messages()).map(({ content }) => content)).toEqual(['one', 'I heard: one', 'two', 'I heard: two']),
    );
    await leaves(call);
    expect(await call.turns()).toHaveLength(2);
  });

  it('ends a call although Postgres is away at its end', async () => {
    const call = await ongoing();
    proxy.cut();
    await call.caller.leave();
    const attempts = await eventually(() => {
      const lines = call.lines().filter(({ msg }) => String(msg).startsWith('failed to record the end of the call; retrying'));
      // The pauses between them are three seconds together.
      expect(lines.length).toBeGreaterThanOrEqual(5);
      return lines;
    });
    proxy.restore();
    const over = await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
    // The call ended at the moment that the user left, not at the one that it could be written down.
    expect(over.endedAt!.getTime()).toBeLessThan(Date.parse(String(attempts.at(-1)!['time'])));
  });

  it('begins a call although Postgres gives no answer when its revision is read', async () => {
    const database = stage.env['DATABASE_URL']!;
    const call = await stage.call();
    const holder = await session(database);
    await holder.query('BEGIN; LOCK TABLE parley.agent_revisions IN ACCESS EXCLUSIVE MODE');
    // The caller joins until the agent is heard.
    const joining = call.join();
    await eventually(async () => {
      await query(
        database,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%parley.agent_revisions%'`,
      );
      expect(call.lines().map(({ msg }) => msg)).toContain('failed to read the revision of the call; retrying');
    });
    await holder.query('ROLLBACK');
    await joining;
    await call.becomes({ status: 'ongoing' });
    await leaves(call);
  });

  it('has the last words at the time at which they were said', async () => {
    const call = await ongoing();
    const left = Promise.withResolvers<void>();
    call.provider.heard(() => ({ text: 'good bye', holdHead: left.promise }));
    await call.caller.speak(700);
    await eventually(() => expect(call.provider.requests('transcriptions').length).toBeGreaterThan(0));
    await call.caller.leave();
    left.resolve();
    const over = await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
    const last = (await call.messages()).at(-1);
    expect(last).toMatchObject({ role: 'user', content: 'good bye' });
    expect(last!.spokenAt.getTime()).toBeLessThan(over.endedAt!.getTime());
  });

  it('leaves its call to the stale-call sweeper when the job is killed', async () => {
    const call = await ongoing();
    for (const pid of jobProcesses()) process.kill(pid, 'SIGKILL');
    const judge = sweeper();
    await eventually(async () => {
      await judge.once();
      expect((await call.record()).finishReason).toBe('native_platform_internal_error');
    });
    await eventually(() => expect(call.caller.room.isConnected).toBe(false));
    // The next call has a job again.
    await leaves(await ongoing());
  });

  it('that stops takes no new call, and drops none of the five that it has', async () => {
    const calls = await Promise.all(Array.from({ length: 5 }, () => ongoing()));
    const before = stage.role;
    before.process.kill('SIGTERM');
    stage.role = await stage.startRole();
    const later = await ongoing();
    // They go on, and are heard.
    await Promise.all(
      calls.map(async (call) => {
        await call.caller.speak(700);
        await call.caller.hears('I heard: hello');
      }),
    );
    expect(before.process.exitCode).toBeNull();
    await Promise.all(calls.map((call) => leaves(call)));
    await eventually(() => expect(before.process.exitCode).toBe(0));
    await leaves(later);
  });

  it('takes no more calls than it may, however many come at once', async () => {
    await stage.role.stop();
    const few = { PARLEY_VOICE_CALLS: '2', PARLEY_VOICE_IDLE_PROCESSES: '1' };
    const roles = [await stage.startRole(few), await stage.startRole(few)];
    const calls = await Promise.all(Array.from({ length: 4 }, () => ongoing()));
    const metrics = await Promise.all(roles.map(async ({ port }) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()));
    expect(metrics.map((text) => /^parley_voice_calls (\d+)$/m.exec(text)?.[1])).toEqual(['2', '2']);
    await Promise.all(calls.map((call) => leaves(call)));
    await Promise.all(roles.map((role) => role.stop()));
    stage.role = await stage.startRole();
  });

  it('that is killed: its calls end at once, each with its reason', async () => {
    const calls = await Promise.all([ongoing(), ongoing()]);
    stage.role.process.kill('SIGKILL');
    await once(stage.role.process, 'exit');
    for (const call of calls) {
      await call.becomes({ status: 'error', finishReason: 'native_platform_internal_error' });
      await eventually(() => expect(call.caller.room.isConnected).toBe(false));
    }
    stage.role = await stage.startRole();
  });

  it('ends its calls when the media server is gone', async () => {
    const calls = await Promise.all([ongoing(), ongoing()]);
    await livekit.stop();
    for (const call of calls) {
      const over = await call.becomes({ status: 'error', finishReason: 'native_platform_internal_error' });
      expect(over.startedAt).not.toBeNull();
    }
    // The role says that it can take none, and lives on to take some when the server is back.
    await eventually(async () => {
      const answer = await fetch(`http://127.0.0.1:${stage.role.port}/readyz`);
      expect([answer.status, await answer.text()]).toEqual([503, 'media server: connection lost; reconnecting\n']);
    });
  });
});
