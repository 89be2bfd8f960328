import { spawn } from 'node:child_process';
import { once } from 'node:events';

import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';

import type { CallStatus } from '../../../store/calls/call-state.ts';
import {
  finishReasons,
  isTerminal,
  newCallId,
  openStore,
  terminalStatusOf,
  type CallRecord,
  type FinishReason,
  type Store,
} from '../../../store/index.ts';
import { migratedDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/eventually.ts';
import { aCall, registerCall } from './calls-support.ts';
import { failureOf, session, storeAt } from './support.ts';

/** Writes no events: those of calls have a test of their own. */
const untold = { events: () => [] };

let url: string;
let organizations = 0;

beforeAll(async () => {
  ({ url } = await migratedDatabase());
});

async function freshOrganization(store: Store, limit?: number): Promise<string> {
  const name = `org-${(organizations += 1)}`;
  await store.organizations.create({ name });
  if (limit !== undefined) await store.organizations.limitLiveCalls(name, limit);
  return name;
}

async function registeredCount(store: Store, org: string): Promise<number> {
  return (await store.calls.list({ org, filter: { status: 'registered' }, direction: 'ascending', pageSize: 1 })).total;
}

describe('the limit of live calls', () => {
  it('is 10 by default, and the eleventh leaves nothing behind', async () => {
    const store = storeAt(url);
    const org = await freshOrganization(store);
    for (let n = 0; n < 10; n += 1) {
      expect(await store.calls.calls.isAtLimit(org)).toBe(false);
      await registerCall(store, org);
    }
    expect(await store.calls.calls.isAtLimit(org)).toBe(true);
    expect(await store.calls.calls.register(aCall(org))).toEqual({ outcome: 'limit_reached' });
    expect(await store.calls.list({ org, filter: {}, direction: 'ascending', pageSize: 100 })).toMatchObject({ total: 10 });
  });

  it('holds among many that come at the same moment over many connections', async () => {
    const stores = Array.from({ length: 4 }, () => storeAt(url, { poolSize: 5 }));
    const org = await freshOrganization(stores[0]!, 7);
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, n) => stores[n % 4]!.calls.calls.register(aCall(org))));
    expect(outcomes.filter(({ outcome }) => outcome === 'registered')).toHaveLength(7);
    expect(await registeredCount(stores[0]!, org)).toBe(7);
  });

  it('lets one in for each that ends, and counts what another organisation has for nothing', async () => {
    const store = storeAt(url);
    const [org, other] = [await freshOrganization(store, 1), await freshOrganization(store, 1)];
    const first = await registerCall(store, org);
    await registerCall(store, other);
    expect((await store.calls.calls.register(aCall(org))).outcome).toBe('limit_reached');
    await store.calls.calls.end({ ...untold, ...first, reason: 'user_ended_call' });
    expect([await store.calls.calls.isAtLimit(org), await store.calls.calls.isAtLimit(other)]).toEqual([false, true]);
    await registerCall(store, org);
  });

  it('holds for web calls that wait for their users, of all keys and of each, among many that come at once', async () => {
    const store = storeAt(url, { poolSize: 10 });
    const org = await freshOrganization(store, 10);
    const made = (createdByKey: string) => ({ ...aCall(org), createdByKey, unjoinedPercent: 50 });
    const registered = async (keys: readonly string[]): Promise<CallRecord[]> => {
      const outcomes = await Promise.all(keys.map((key) => store.calls.calls.register(made(key))));
      return outcomes.flatMap((registration) => (registration.outcome === 'registered' ? [registration.call] : []));
    };
    const calls = await registered(Array.from({ length: 20 }, () => 'one'));
    expect(calls).toHaveLength(3);
    expect(await store.calls.calls.register(made('one'))).toEqual({ outcome: 'unjoined_limit_reached', limit: { of: 'key', most: 3 } });
    expect(await registered(Array.from({ length: 20 }, () => 'two'))).toHaveLength(2);
    expect(await store.calls.calls.register(made('three'))).toEqual({
      outcome: 'unjoined_limit_reached',
      limit: { of: 'organization', most: 5 },
    });
    expect(await store.calls.calls.unjoinedLimit(made('three'))).toEqual({ of: 'organization', most: 5 });
    expect(await registeredCount(store, org)).toBe(5);
    // Calls whose users have joined hold nobody up, nor do calls by phone.
    for (const call of calls) await store.calls.calls.start({ ...untold, ...call, jobId: 'j' });
    expect(await store.calls.calls.unjoinedLimit(made('one'))).toBeUndefined();
    for (let n = 0; n < 5; n += 1) await registerCall(store, org, { callType: 'phone_call', direction: 'outbound' });
    expect(await store.calls.calls.unjoinedLimit(made('one'))).toBeUndefined();
  });

  it('counts a call once that is registered twice after a lost answer, at the limit, too', async () => {
    const store = storeAt(url);
    const org = await freshOrganization(store, 1);
    const call = aCall(org);
    const [once_, twice] = [await store.calls.calls.register(call), await store.calls.calls.register(call)];
    expect(twice).toEqual(once_);
    expect(await registeredCount(store, org)).toBe(1);
  });

  it('takes an incoming call once, however often the gateway reports it', async () => {
    const store = storeAt(url);
    const org = await freshOrganization(store, 1);
    const incoming = { callType: 'phone_call', direction: 'inbound', sipCallId: 'abc@gateway', toNumber: '+15550100' } as const;
    const known = await registerCall(store, org, incoming);
    expect(await registerCall(store, org, incoming)).toEqual(known);
    // A call over the limit is recorded all the same, and counts for nothing.
    const refused = await store.calls.calls.refuse(aCall(org, { ...incoming, sipCallId: 'def@gateway' }), {
      ...untold,
      reason: 'concurrent_call_limit_reached',
    });
    expect(refused).toMatchObject({ status: 'error', finishReason: 'concurrent_call_limit_reached' });
    expect(await registeredCount(store, org)).toBe(1);
  });

  it('is right at once after kill -9 of processes that were registering calls', async () => {
    const store = storeAt(url);
    // The limit is higher than the number they register until they are killed.
    const org = await freshOrganization(store, 300);
    const program = new URL('calls-registrar.ts', import.meta.url).pathname;
    const children = Array.from({ length: 2 }, () =>
      spawn(process.execPath, [program, url, org], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    // Both are in the middle of registering.
    await eventually(async () => expect(await registeredCount(store, org)).toBeGreaterThan(5));
    await Promise.all(
      children.map((child) => {
        child.kill('SIGKILL');
        return once(child, 'exit');
      }),
    );
    const rest = await Promise.all(Array.from({ length: 310 }, () => store.calls.calls.register(aCall(org))));
    expect(await registeredCount(store, org)).toBe(300);
    expect(rest.filter(({ outcome }) => outcome === 'registered').length).toBeLessThan(300);
  });

  it('is no more than a whole number from 0 to 100,000, of an organisation that is there', async () => {
    const store = storeAt(url);
    const org = await freshOrganization(store, 0);
    expect((await store.calls.calls.register(aCall(org))).outcome).toBe('limit_reached');
    for (const bad of [-1, 1.5, 100_001])
      expect(await failureOf(store.organizations.limitLiveCalls(org, bad))).toMatchObject({ kind: 'invalid' });
    expect(await failureOf(store.organizations.limitLiveCalls('absent', 1))).toMatchObject({ kind: 'not_found' });
    expect(await failureOf(store.calls.calls.register(aCall('absent')))).toMatchObject({ kind: 'not_found' });
  });
});

interface CallState {
  readonly status: CallStatus;
  readonly finishReason: FinishReason | null;
}

type CallChange = { readonly kind: 'start' } | { readonly kind: 'end'; readonly reason: FinishReason };

/** Returns the state after a change; the same object where the change is not possible any more. */
function afterChange(state: CallState, change: CallChange): CallState {
  if (isTerminal(state.status)) return state;
  if (change.kind === 'end') return { status: terminalStatusOf(change.reason), finishReason: change.reason };
  return state.status === 'registered' ? { status: 'ongoing', finishReason: null } : state;
}

describe('the states of a call in Postgres', () => {
  const change: fc.Arbitrary<CallChange> = fc.oneof(
    fc.constant<CallChange>({ kind: 'start' }),
    fc.constantFrom(...finishReasons).map((reason): CallChange => ({ kind: 'end', reason })),
  );
  const apply = (store: Store, ref: { org: string; id: string }, each: CallChange) =>
    each.kind === 'start'
      ? store.calls.calls.start({ ...untold, ...ref, jobId: 'job' })
      : store.calls.calls.end({ ...untold, ...ref, reason: each.reason });

  it('are those of the model after any changes', async () => {
    const store = storeAt(url);
    const org = await freshOrganization(store, 100_000);
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 5 }), async (changes) => {
        const ref = await registerCall(store, org);
        let state: CallState = { status: 'registered', finishReason: null };
        for (const each of changes) {
          const next = afterChange(state, each);
          const { changed, call } = await apply(store, ref, each);
          expect(changed).toBe(next !== state);
          expect({ status: call.status, finishReason: call.finishReason }).toEqual(next);
          state = next;
        }
      }),
      { numRuns: 40 },
    );
  });

  it('have one winner among reasons that come at the same moment', async () => {
    const store = storeAt(url, { poolSize: 10 });
    const org = await freshOrganization(store);
    for (let round = 0; round < 5; round += 1) {
      const ref = await registerCall(store, org);
      const reasons: FinishReason[] = ['user_ended_call', 'agent_ended_call', 'inactivity_timeout', 'native_platform_internal_error'];
      const results = await Promise.all(reasons.map((reason) => store.calls.calls.end({ ...untold, ...ref, reason })));
      const winners = results.filter(({ changed }) => changed);
      expect(winners).toHaveLength(1);
      expect((await store.calls.calls.get(ref))?.finishReason).toBe(winners[0]?.call.finishReason);
      expect(new Set(results.map(({ call }) => call.finishReason)).size).toBe(1);
    }
  });

  it('are kept against statements that forget about them', async () => {
    const store = storeAt(url);
    const ref = await registerCall(store, await freshOrganization(store));
    await store.calls.calls.end({ ...untold, ...ref, reason: 'no_answer' });
    const owner = await session(url);
    for (const sql of [
      `UPDATE parley.calls SET status = 'ongoing', finish_reason = NULL, ended_at = NULL, started_at = now() WHERE id = $1`,
      `UPDATE parley.calls SET finish_reason = 'line_busy' WHERE id = $1`,
    ])
      expect(await failureOf(owner.query(sql, [ref.id]))).toMatchObject({ code: '55000' });
  });

  it('have times that go with them', async () => {
    const store = storeAt(url);
    const ref = await registerCall(store, await freshOrganization(store));
    expect(await store.calls.calls.get(ref)).toMatchObject({ status: 'registered', startedAt: null, endedAt: null, jobId: null });
    const { call: ongoing } = await store.calls.calls.start({ ...untold, ...ref, jobId: 'job' });
    expect(ongoing.startedAt).not.toBeNull();
    const { call: over } = await store.calls.calls.end({ ...untold, ...ref, reason: 'user_ended_call' });
    expect(over.startedAt).toEqual(ongoing.startedAt);
    expect(over.endedAt!.getTime()).toBeGreaterThanOrEqual(over.startedAt!.getTime());
    expect(await store.calls.calls.start({ ...untold, ...ref, jobId: 'late' })).toEqual({ changed: false, call: over });
    expect(await failureOf(store.calls.calls.end({ ...untold, org: ref.org, id: newCallId(), reason: 'no_answer' }))).toMatchObject({
      kind: 'not_found',
    });
  });

  it('count the time in which their begin could not be recorded, and none before they were created', async () => {
    const store = storeAt(url);
    const org = await freshOrganization(store);
    const started = async (startedAgoMs: number) => {
      const ref = await registerCall(store, org);
      return (await store.calls.calls.start({ ...untold, ...ref, jobId: 'job', startedAgoMs: () => startedAgoMs })).call;
    };
    const late = await started(3_600_000);
    expect(late.startedAt).toEqual(late.createdAt);
    const prompt = await started(0);
    expect(prompt.startedAt).toEqual(prompt.jobSeenAt);
  });

  it('begin when they began, however long the database had no connection for that', async () => {
    const store = storeAt(url, { poolSize: 1 });
    const org = await freshOrganization(store);
    const [held, waiting] = [await registerCall(store, org), await registerCall(store, org)];
    const blocker = await session(url);
    await blocker.query('BEGIN');
    await blocker.query('SELECT 1 FROM parley.calls WHERE id = $1 FOR UPDATE', [held.id]);
    const ending = store.calls.calls.end({ ...untold, ...held, reason: 'no_answer' });
    let agoMs = 0;
    const starting = store.calls.calls.start({ ...untold, ...waiting, jobId: 'job', startedAgoMs: () => agoMs });
    // Half an hour goes by before the only connection is free.
    await blocker.query(`UPDATE parley.calls SET created_at = now() - interval '1 hour' WHERE id = $1`, [waiting.id]);
    agoMs = 1_800_000;
    await blocker.query('COMMIT');
    const { call } = await starting;
    expect(call.startedAt!.getTime()).toBe(call.jobSeenAt!.getTime() - agoMs);
    await ending;
  });

  it('let one job serve a call, and let it know when the call is over', async () => {
    const store = storeAt(url);
    const ref = await registerCall(store, await freshOrganization(store));
    expect(await store.calls.calls.heartbeat({ ...ref, jobId: 'one' })).toBe(true);
    expect(await store.calls.calls.heartbeat({ ...ref, jobId: 'two' })).toBe(false);
    await store.calls.calls.end({ ...untold, ...ref, reason: 'user_ended_call' });
    expect(await store.calls.calls.heartbeat({ ...ref, jobId: 'one' })).toBe(false);
  });
});

describe('what belongs to a call', () => {
  it('is stored once, however often it is sent', async () => {
    const store = storeAt(url);
    const ref = await registerCall(store, await freshOrganization(store));
    const message = {
      seq: 1,
      role: 'agent',
      agent: 'receptionist',
      content: 'Hello',
      spokenAt: new Date(0),
      interrupted: false,
      sources: null,
    } as const;
    const answer = { ...message, seq: 2, role: 'user', agent: null, content: 'a\u0000b', sources: [{ chunkId: 'x' }] } as const;
    const toolCall = {
      seq: 3,
      agent: 'receptionist',
      name: 'look_up',
      arguments: { 'a\u0000b': ['\ud800', '\\u0000', '😀'] },
      result: 'o\u0000k',
      failed: false,
      beganAt: new Date(0),
      durationMs: 12,
    } as const;
    const turn = { seq: 1, agent: 'receptionist', eou: 500, stt: 120.5, llmTtft: 300, ttsTtfb: 75, v2v: null };
    await store.calls.log.add(ref, { messages: [answer], turns: [turn], toolCalls: [toolCall] });
    await store.calls.log.add(ref, {
      messages: [message, { ...answer, content: 'something else' }],
      turns: [{ ...turn, eou: 1 }],
      toolCalls: [{ ...toolCall, name: 'other' }],
    });
    expect(await store.calls.log.read(ref)).toEqual({
      messages: [message, { ...answer, content: 'ab' }],
      turns: [turn],
      toolCalls: [{ ...toolCall, arguments: { 'a\ufffdb': ['\ufffd', '\\u0000', '😀'] }, result: 'ok' }],
    });
  });

  it('has no arguments of a tool that are too large, and no more of its result than fits', async () => {
    const store = storeAt(url);
    const ref = await registerCall(store, await freshOrganization(store));
    const call = { name: 'look_up', failed: true, beganAt: new Date(0), durationMs: 3 } as const;
    await store.calls.log.add(ref, {
      toolCalls: [
        { ...call, seq: 0, arguments: { text: 'x'.repeat(65_536) }, result: 'y'.repeat(70_000) },
        { ...call, seq: 1, arguments: { text: 'x'.repeat(65_000) }, result: '' },
      ],
    });
    const { toolCalls } = await store.calls.log.read(ref);
    expect(toolCalls.map(({ arguments: given, result }) => [given === null, result.length])).toEqual([
      [true, 65_536],
      [false, 0],
    ]);
  });

  it('is cut at the limit, between two characters', async () => {
    const store = storeAt(url);
    const ref = await registerCall(store, await freshOrganization(store));
    const content = 'é'.repeat(40_000);
    await store.calls.log.add(ref, {
      messages: [{ seq: 0, role: 'user', content: `x${content}`, spokenAt: new Date(0), interrupted: false, sources: null }],
    });
    const { messages } = await store.calls.log.read(ref);
    expect(messages[0]?.content).toBe(`x${'é'.repeat(32_767)}`);
  });

  it('is one recording: the first', async () => {
    const store = storeAt(url);
    const ref = await registerCall(store, await freshOrganization(store));
    const recording = { key: 'recordings/a.ogg', bytes: 5_000_000_000, durationMs: 1234 };
    expect(await store.calls.calls.addRecording({ ...untold, ...ref, ...recording })).toBe(true);
    expect(await store.calls.calls.addRecording({ ...untold, ...ref, ...recording, key: 'recordings/b.ogg' })).toBe(false);
    expect((await store.calls.calls.get(ref))?.recording).toEqual(recording);
  });

  it('is an organisation, found by the id alone', async () => {
    const store = storeAt(url);
    const ref = await registerCall(store, await freshOrganization(store));
    expect(await store.calls.calls.organizationOf(ref.id)).toBe(ref.org);
    expect(await store.calls.calls.organizationOf(newCallId())).toBeUndefined();
    expect(await store.calls.calls.organizationOf("' OR true --")).toBeUndefined();
  });
});

describe('lists of calls', () => {
  it('are walked page by page while calls come and end, with the number of all', async () => {
    const store = storeAt(url);
    const org = await freshOrganization(store, 100);
    const ids: string[] = [];
    for (let n = 0; n < 25; n += 1) ids.push((await registerCall(store, org)).id);
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.calls.list({ org, filter: {}, direction: 'descending', pageSize: 10, after });
      expect(page.total).toBe(25 + Math.ceil(seen.length / 10));
      seen.push(...page.items.map(({ id }) => id));
      after = page.next;
      await registerCall(store, org);
      await store.calls.calls.end({ ...untold, org, id: ids[seen.length - 1]!, reason: 'no_answer' });
    } while (after !== undefined);
    expect(seen).toEqual(ids.toReversed());
  });

  it('are of those that every filter lets through', async () => {
    const store = storeAt(url);
    const org = await freshOrganization(store, 100);
    const plain = await registerCall(store, org);
    const overridden = await registerCall(store, org, { overrideAgentName: 'stand-in' });
    const talking = await registerCall(store, org, { agentName: 'other' });
    await store.calls.calls.start({ ...untold, ...talking, jobId: 'j' });
    const over = await registerCall(store, org);
    await store.calls.calls.end({ ...untold, ...over, reason: 'user_connection_failure' });
    const owner = await session(url);
    await owner.query(`UPDATE parley.calls SET created_at = now() - interval '2 days' WHERE id = $1`, [plain.id]);
    const find = async (filter: Parameters<typeof store.calls.list>[0]['filter']) => {
      const { items, total } = await store.calls.list({ org, filter, direction: 'ascending', pageSize: 100 });
      expect(items).toHaveLength(total);
      return items.map(({ id }) => id);
    };
    const [past, now] = [new Date(Date.now() - 86_400_000), new Date(Date.now() + 60_000)];
    expect(await find({})).toEqual([plain.id, overridden.id, talking.id, over.id]);
    expect(await find({ agentNames: ['stand-in', 'other', 'absent'] })).toEqual([overridden.id, talking.id]);
    expect(await find({ agentNames: [] })).toEqual([]);
    expect(await find({ status: 'ongoing' })).toEqual([talking.id]);
    expect(await find({ startedFrom: past })).toEqual([overridden.id, talking.id, over.id]);
    expect(await find({ startedTo: past })).toEqual([plain.id]);
    expect(await find({ endedFrom: past, endedTo: now })).toEqual([over.id]);
    expect(await find({ endedFrom: past, status: 'ongoing' })).toEqual([]);
  });
});

describe('calls that no job ends', () => {
  const limits = { joinMs: 600_000, silenceMs: 600_000, graceMs: 600_000 };

  it('are found by what went wrong, in every organisation, and ended only as they were seen', async () => {
    const { url: own } = await migratedDatabase();
    const store = storeAt(own);
    const [left, right] = ['left', 'right'];
    await store.organizations.create({ name: left });
    await store.organizations.create({ name: right });
    const owner = await session(own);
    const made = async (org: string, sql: string, start: boolean) => {
      const ref = await registerCall(store, org, { maxDurationMs: 60_000 });
      if (start) await store.calls.calls.start({ ...untold, ...ref, jobId: 'j' });
      await owner.query(`UPDATE parley.calls SET ${sql} WHERE id = $1`, [ref.id]);
      return ref;
    };
    await made(left, `created_at = now() - interval '300 s'`, false);
    await made(left, `created_at = now() - interval '360 s', job_seen_at = now()`, false);
    await made(right, `job_seen_at = now() - interval '300 s'`, true);
    await made(right, `started_at = now() - interval '360 s'`, true);
    const unjoined = await made(left, `created_at = now() - interval '661 s', job_seen_at = now()`, false);
    const absent = await made(left, `created_at = now() - interval '601 s'`, false);
    const silent = await made(right, `job_seen_at = now() - interval '601 s'`, true);
    // No phone rings any more for a call whose job is lost.
    const ringing = await made(right, `job_seen_at = now() - interval '601 s'`, false);
    const long = await made(left, `started_at = now() - interval '661 s'`, true);
    const found = await store.calls.overdue(limits);
    expect(new Map(found.map(({ id, cause }) => [id, cause]))).toEqual(
      new Map([
        [unjoined.id, 'not_joined'],
        [absent.id, 'not_joined'],
        [silent.id, 'job_silent'],
        [ringing.id, 'job_silent'],
        [long.id, 'too_long'],
      ]),
    );
    expect(found.map(({ org }) => org).toSorted()).toEqual([left, left, left, right, right]);
    // The job was only slow.
    const seen = found.find(({ id }) => id === silent.id)!;
    await store.calls.calls.heartbeat({ ...silent, jobId: 'j' });
    const { changed, call } = await store.calls.calls.end({ ...untold, ...silent, reason: 'native_platform_internal_error', only: seen });
    expect([changed, call.status]).toEqual([false, 'ongoing']);
    const other = found.find(({ id }) => id === long.id)!;
    expect((await store.calls.calls.end({ ...untold, ...long, reason: 'maximum_duration_exceeded', only: other })).changed).toBe(true);
    expect((await store.calls.overdue(limits)).map(({ id }) => id)).toEqual([unjoined.id, absent.id, ringing.id]);
  });
});

it('connects when it is first used', async () => {
  const store = openStore({ databaseUrl: 'postgres://absent@127.0.0.1:1/none', retryForMs: 0 });
  expect(await failureOf(store.calls.overdue({ joinMs: 1, silenceMs: 1, graceMs: 1 }))).toMatchObject({ kind: 'unavailable' });
  await store.close();
});
