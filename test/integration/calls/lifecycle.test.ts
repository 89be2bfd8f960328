import type { Room } from '@livekit/rtc-node';
import { Registry } from 'prom-client';
import { beforeAll, describe, expect, it } from 'vitest';

import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { StaleCallSweeper } from '../../../calls/stale-call-sweeper.ts';
import { CallEnd } from '../../../voice/job/call-end.ts';
import type { Transfers } from '../../../voice/phone/index.ts';
import { LogWriter } from '../../../voice/job/log-writer.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLogger } from '../../../platform/logging.ts';
import { type Store } from '../../../store/index.ts';
import { migratedDatabase } from '../../support/postgres.ts';
import { aCall, registerCall } from '../store/calls-support.ts';
import { session, storeAt } from '../store/support.ts';

let url: string;
beforeAll(async () => {
  ({ url } = await migratedDatabase());
});

let organizations = 0;
async function freshLifecycle() {
  const store = storeAt(url);
  const org = `org-${(organizations += 1)}`;
  await store.organizations.create({ name: org });
  return { store, org, lifecycle: new CallLifecycle({ calls: store.calls.calls, clock: systemClock }) };
}

interface EventBody {
  readonly eventName: string;
  readonly organizationId: string;
  readonly timestamp: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Returns the organisation's events in the outbox, in order. */
async function eventsOf(org: string): Promise<readonly (EventBody & { readonly agent: string; readonly workspace: string | null })[]> {
  const { rows } = await (
    await session(url)
  ).query<{ agent: string; workspace: string | null; body: Buffer }>(
    'SELECT e.agent, e.workspace, b.body FROM parley.outbox o JOIN parley.events e ON e.id = o.event_id JOIN parley.event_bodies b ON b.id = e.id WHERE e.org = $1 ORDER BY e.id',
    [org],
  );
  return rows.map(({ agent, workspace, body }) => Object.assign(JSON.parse(body.toString()) as EventBody, { agent, workspace }));
}

describe('what happens to a call', () => {
  it('is written once, with the change, for the agent that talks', async () => {
    const { org, lifecycle } = await freshLifecycle();
    const call = aCall(org, { overrideAgentName: 'stand-in', workspace: 'sales' });
    await lifecycle.register(call);
    const ref = { org, id: call.id };
    expect(await eventsOf(org)).toEqual([]);
    await lifecycle.start({ ...ref, jobId: 'j' });
    await lifecycle.start({ ...ref, jobId: 'j' });
    await lifecycle.end({ ...ref, reason: 'user_ended_call' });
    await lifecycle.end({ ...ref, reason: 'agent_ended_call' });
    await lifecycle.addRecording({ ...ref, key: 'recordings/x.ogg', bytes: 1, durationMs: 1500 });
    await lifecycle.addRecording({ ...ref, key: 'recordings/x.ogg', bytes: 1, durationMs: 1500 });
    const events = await eventsOf(org);
    const about = { call_id: call.id, agent_id: 'stand-in' };
    expect(events.map(({ eventName, payload }) => [eventName, payload])).toEqual([
      ['CallHandler.CallStarted', { ...about, status: 'ongoing', call_type: 'web_call' }],
      [
        'CallHandler.CallEnded',
        { ...about, status: 'ended', reason: 'user_ended_call', call_type: 'web_call', duration_seconds: expect.any(Number) },
      ],
      ['CallHandler.RecordingReady', { ...about, duration_seconds: 1.5 }],
    ]);
    expect(new Set(events.map(({ agent, workspace }) => `${agent} ${workspace}`))).toEqual(new Set(['stand-in sales']));
  });

  it('has a recording that is ready once the call is over', async () => {
    const { org, lifecycle } = await freshLifecycle();
    const call = aCall(org);
    await lifecycle.register(call);
    const ref = { org, id: call.id };
    const names = async () => (await eventsOf(org)).map(({ eventName }) => eventName).sort();
    await lifecycle.addRecording({ ...ref, key: 'recordings/x.ogg', bytes: 1, durationMs: 1500.5 });
    expect(await names()).toEqual([]);
    await lifecycle.end({ ...ref, reason: 'user_ended_call' });
    await lifecycle.end({ ...ref, reason: 'agent_ended_call' });
    expect(await names()).toEqual(['CallHandler.CallEnded', 'CallHandler.RecordingReady']);
  });

  it('is written with the time at which it happened, however late that is', async () => {
    const { store, org, lifecycle } = await freshLifecycle();
    const call = aCall(org);
    await lifecycle.register(call);
    const ref = { org, id: call.id };
    await (await session(url)).query(`UPDATE parley.calls SET created_at = now() - interval '1 min' WHERE id = $1`, [call.id]);
    await lifecycle.start({ ...ref, jobId: 'j', startedAgoMs: () => 30_000 });
    await lifecycle.end({ ...ref, reason: 'call_transferred', transferredTo: '+15550100', endedAgoMs: () => 10_000 });
    const record = await store.calls.calls.get(ref);
    const [startedAt, endedAt] = [record?.startedAt, record?.endedAt].map((time) => time!.getTime() / 1000);
    expect(new Map((await eventsOf(org)).map(({ eventName, timestamp }) => [eventName, timestamp]))).toEqual(
      new Map([
        ['CallHandler.CallStarted', startedAt],
        ['CallHandler.CallTransferred', endedAt],
        ['CallHandler.CallEnded', endedAt],
      ]),
    );
  });

  it('is written for a refused call, too', async () => {
    const { org, lifecycle } = await freshLifecycle();
    const phone = { callType: 'phone_call', direction: 'inbound', sipCallId: 'x', toNumber: '+15550100' } as const;
    const call = aCall(org, phone);
    await lifecycle.refuse(call, 'concurrent_call_limit_reached');
    await lifecycle.refuse(aCall(org, phone), 'concurrent_call_limit_reached');
    expect((await eventsOf(org)).map(({ payload }) => payload)).toEqual([
      expect.objectContaining({ call_id: call.id, status: 'error', reason: 'concurrent_call_limit_reached', duration_seconds: 0 }),
    ]);
  });

  it('has begun before it is over, however late its start is written', async () => {
    const { store, org, lifecycle } = await freshLifecycle();
    const ref = await registerCall(store, org);
    const call = (await store.calls.calls.get(ref))!;
    const [clock, log] = [systemClock, createLogger({ role: 'voice', level: 'silent' })];
    const writer = new LogWriter({ log: store.calls.log, call, clock, logger: log });
    const end = new CallEnd({
      services: { store, lifecycle, clock },
      rooms: { close: async () => undefined },
      stop: new AbortController().signal,
    });
    await end.record(
      { call, room: {} as Room, log, writer, recording: undefined },
      {
        finish: { reason: 'user_ended_call', farewell: undefined },
        over: clock.monotonic(),
        prepared: undefined,
        transfers: {} as Transfers,
        closing: { roomClosed: Promise.resolve() },
        // The event is not written before something waits for it.
        get starting() {
          return lifecycle.start({ ...ref, jobId: 'j' }).then(() => undefined);
        },
      },
    );
    expect((await eventsOf(org)).map(({ eventName }) => eventName)).toEqual(['CallHandler.CallStarted', 'CallHandler.CallEnded']);
  });

  it('has no events, no list, no limit and no analysis where a test makes the call', async () => {
    const { store, org, lifecycle } = await freshLifecycle();
    await store.organizations.limitLiveCalls(org, 1);
    await store.agentRevisions.put({
      org,
      agentName: 'receptionist',
      revision: 'a'.repeat(64),
      config: { agent: { postCallAnalysis: [{}] } },
    });
    const test = { runId: 'run_1', testName: 'uid-test', tools: [{ name: 'look_up', returns: { open: true } }] };
    const [first, second, real] = [aCall(org, { test }), aCall(org, { test }), aCall(org)];
    for (const call of [first, second, real]) expect((await lifecycle.register(call)).outcome).toBe('registered');
    expect((await lifecycle.register(aCall(org))).outcome).toBe('limit_reached');
    expect((await lifecycle.register(aCall(org, { test }))).outcome).toBe('registered');
    for (const { id } of [first, real]) {
      await lifecycle.start({ org, id, jobId: 'j' });
      await lifecycle.end({ org, id, reason: 'user_ended_call' });
      await lifecycle.addRecording({ org, id, key: `recordings/${id}.ogg`, bytes: 1, durationMs: 1500 });
    }
    await lifecycle.refuse(aCall(org, { test }), 'concurrent_call_limit_reached');

    expect((await store.calls.calls.get({ org, id: first.id }))?.test).toEqual(test);
    expect((await store.calls.calls.get({ org, id: real.id }))?.test).toBeNull();
    expect((await eventsOf(org)).map(({ payload }) => payload['call_id'])).toEqual([real.id, real.id, real.id]);
    const listed = await store.calls.list({ org, filter: {}, direction: 'ascending', pageSize: 100 });
    expect(listed.items.map(({ id }) => id)).toEqual([real.id]);
    expect(listed.total).toBe(1);
    expect(await store.calls.analyses.get({ org, id: first.id })).toBeUndefined();
    expect(await store.calls.analyses.get({ org, id: real.id })).toMatchObject({ status: 'processing' });
  });
});

describe('the stale-call sweeper', () => {
  const sweeperOf = (store: Store, lifecycle: CallLifecycle, closed: string[] = [], waiting: readonly string[] = []): StaleCallSweeper =>
    new StaleCallSweeper({
      store: store.calls,
      lifecycle,
      rooms: { close: async (room) => void closed.push(room), hasUser: async (room) => waiting.includes(room) },
      clock: systemClock,
      random: Math.random,
      logger: createLogger({ role: 'worker', level: 'silent' }),
      registry: new Registry(),
    });

  it('ends each overdue call once, with its reason, and closes its room', async () => {
    const { store, org, lifecycle } = await freshLifecycle();
    const owner = await session(url);
    const made = async (sql: string, start: boolean) => {
      const ref = await registerCall(store, org, { maxDurationMs: 60_000 });
      if (start) await lifecycle.start({ ...ref, jobId: 'j' });
      await owner.query(`UPDATE parley.calls SET ${sql} WHERE id = $1`, [ref.id]);
      return ref;
    };
    const fine = await made(`job_seen_at = now() + interval '10 minutes'`, true);
    const unjoined = await made(`created_at = now() - interval '61 s'`, false);
    const waits = await made(`created_at = now() - interval '100 s'`, false);
    const silent = await made(`job_seen_at = now() - interval '31 s'`, true);
    const long = await made(`started_at = now() - interval '76 s'`, true);
    const closed: string[] = [];
    const sweepers = Array.from({ length: 3 }, () => sweeperOf(store, lifecycle, closed, [waits.id.replace('_', '-')]));
    const counts = await Promise.all(sweepers.map((sweeper) => sweeper.once()));
    expect(counts.reduce((sum, count) => sum + count)).toBe(3);
    const stateOf = async (ref: { org: string; id: string }) => {
      const call = await store.calls.calls.get(ref);
      return [call?.status, call?.finishReason];
    };
    expect(await stateOf(fine)).toEqual(['ongoing', null]);
    expect(await stateOf(unjoined)).toEqual(['error', 'user_connection_failure']);
    expect(await stateOf(waits)).toEqual(['registered', null]);
    expect(await stateOf(silent)).toEqual(['error', 'native_platform_internal_error']);
    expect(await stateOf(long)).toEqual(['ended', 'maximum_duration_exceeded']);
    expect(closed.toSorted()).toEqual([unjoined, silent, long].map(({ id }) => id.replace('_', '-')).toSorted());
    expect((await eventsOf(org)).filter(({ eventName }) => eventName === 'CallHandler.CallEnded')).toHaveLength(3);
  });

  it('leaves a call alone whose job is back by the time it would end it', async () => {
    const { store, org, lifecycle } = await freshLifecycle();
    const ref = await registerCall(store, org);
    await lifecycle.start({ ...ref, jobId: 'j' });
    await (await session(url)).query(`UPDATE parley.calls SET job_seen_at = now() - interval '31 s' WHERE id = $1`, [ref.id]);
    const seen: string[] = [];
    const overdue: Store['calls']['overdue'] = async (limits) => {
      const found = await store.calls.overdue(limits);
      seen.push(...found.map(({ id }) => id));
      await store.calls.calls.heartbeat({ ...ref, jobId: 'j' });
      return found.filter(({ id }) => id === ref.id);
    };
    expect(await sweeperOf({ ...store, calls: { ...store.calls, overdue } }, lifecycle).once()).toBe(0);
    expect(seen).toContain(ref.id);
    expect((await store.calls.calls.get(ref))?.status).toBe('ongoing');
  });
});
