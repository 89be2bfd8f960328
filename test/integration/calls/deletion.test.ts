/** Nothing of a deleted call is left in Postgres and in the storage, whatever fails on the way. */
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { buildEvent } from '../../../events/emit.ts';
import { StorageError } from '../../../knowledge/storage/file-storage.ts';
import type { OpenedFileStorage } from '../../../knowledge/storage/file-storage.ts';
import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { systemClock } from '../../../platform/clock.ts';
import { newCallId, openDispatchStore } from '../../../store/index.ts';
import { createLogger } from '../../../platform/logging.ts';
import { CallDeletion } from '../../../calls/call-deletion.ts';
import { PersonErasure } from '../../../calls/person-erasure.ts';
import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { recordingKey } from '../../../calls/names.ts';
import { suiteFolder } from '../../support/folders.ts';
import { organization, startFacade, type Facade, type TestOrganization } from '../api/facade.ts';
import { aCall, registerCall } from '../store/calls-support.ts';
import { session } from '../store/support.ts';

const folder = suiteFolder();
let files: OpenedFileStorage;
let storageIsAway: boolean;
let facade: Facade;
let lifecycle: CallLifecycle;
let org: TestOrganization;
let deletion: CallDeletion;

beforeAll(async () => {
  files = openFileStorage({ url: pathToFileURL(folder).href });
  const recordings = {
    read: (key: string) => files.read(key),
    delete: async (key: string) => {
      if (storageIsAway) throw new StorageError('unavailable', 'the storage is away');
      await files.delete(key);
    },
  };
  facade = await startFacade({ calls: { recordings } });
  const { calls } = facade.store;
  lifecycle = new CallLifecycle({ calls: calls.calls, clock: systemClock });
  deletion = new CallDeletion({ store: calls, files: recordings });
});
afterAll(() => facade.close());
beforeEach(async () => {
  storageIsAway = false;
  org = await organization(facade);
});

const secret = 'Ada Lovelace';
type Ref = Awaited<ReturnType<typeof registerCall>>;

/** Makes a call that is over, with all that there can be of one, each part with a canary. */
const DAY_MS = 86_400_000;

async function talked(change: Parameters<typeof registerCall>[2] & { readonly daysAgo?: number } = {}): Promise<Ref> {
  const { daysAgo = 0, ...call } = change;
  const { store } = facade;
  const ref = await registerCall(store, org.name, { metadata: { who: secret }, ...call });
  await lifecycle.start({ ...ref, jobId: 'job' });
  const message = { seq: 0, role: 'user', content: secret, spokenAt: new Date(), interrupted: false, sources: null } as const;
  const toolCall = {
    seq: 0,
    name: 'look_up',
    arguments: { who: secret },
    result: secret,
    failed: false,
    beganAt: new Date(),
    durationMs: 1,
  };
  const turn = { seq: 0, eou: 1, stt: 1, llmTtft: 1, ttsTtfb: 1, v2v: 1 };
  await store.calls.log.add(ref, { messages: [message], turns: [turn], toolCalls: [toolCall] });
  await lifecycle.end({ ...ref, reason: 'call_transferred', transferredTo: `sip:${secret}@example.com` });
  const key = recordingKey(org.name, ref.id);
  const { bytes } = await files.put(key, Readable.from([secret]), { maxBytes: 1_000 });
  await lifecycle.addRecording({ ...ref, key, bytes, durationMs: 1_000 });
  const admin = await session(facade.database.url);
  await admin.query('INSERT INTO parley.call_analyses (org, call_id) VALUES ($1, $2)', [org.name, ref.id]);
  await analysed(ref);
  // The end of a call is final, for the owner of the tables as well; only as a replica does the server let it be aged.
  await admin.query('SET session_replication_role = replica');
  const ages = ['created_at', 'started_at', 'ended_at'].map((time) => `${time} = ${time} - make_interval(days => $2)`).join(', ');
  await admin.query(`UPDATE parley.calls SET ${ages} WHERE id = $1`, [ref.id, daysAgo]);
  return ref;
}

async function analysed(ref: Ref): Promise<boolean> {
  const payload = { call_id: ref.id, agent_id: 'receptionist', items: [{ name: 'who', result: secret }] };
  const event = buildEvent({ name: 'CallAnalysis.Completed', org: org.name, agent: 'receptionist', payload, now: Date.now() });
  const items = [{ name: 'who', type: 'string', result: secret, error: null }] as const;
  return facade.store.calls.analyses.finish({ ...ref, items, error: null, events: [event] });
}

const remove = (id: string, key = org.key) => facade.call('DELETE', `/v1/calls/${id}`, { key });

/** Finds all rows that hold the text, in any table. */
async function rowsWith(admin: Client, text: string): Promise<readonly string[]> {
  const { rows: tables } = await admin.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'parley'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const where = name === 'event_bodies' ? `position($1::text::bytea IN body) > 0` : `position($1 IN t::text) > 0`;
    const { rowCount } = await admin.query(`SELECT FROM parley.${name} t WHERE ${where}`, [text]);
    if ((rowCount ?? 0) > 0) found.push(name);
  }
  return found.toSorted();
}

describe('DELETE of a call', () => {
  it('leaves nothing of it, and its events to deliver', async () => {
    const ref = await talked();
    const other = await talked({ metadata: { who: 'somebody else' } });
    const admin = await session(facade.database.url);
    expect(await rowsWith(admin, ref.id)).toEqual([
      'call_analyses',
      'call_messages',
      'call_tool_calls',
      'call_turns',
      'calls',
      'event_bodies',
      'events',
    ]);
    expect(await remove(ref.id)).toMatchObject({ status: 204, text: '' });
    expect(await rowsWith(admin, ref.id)).toEqual(['deleted_calls', 'event_bodies', 'events']);
    expect(await files.list(`recordings/${org.name}/`, { limit: 5 })).toEqual([recordingKey(org.name, other.id)]);
    expect((await org.call('GET', `/v1/calls/${ref.id}`)).status).toBe(404);
    expect((await remove(ref.id)).status).toBe(404);
    expect((await org.call('GET', `/v1/calls/${other.id}`)).body.messages).toHaveLength(1);

    const dispatch = openDispatchStore({ databaseUrl: facade.database.url, poolSize: 1 });
    const bodies: { readonly eventName: string; readonly payload: { readonly call_id: string } }[] = [];
    await dispatch.takeOutbox(50, (events) => {
      bodies.push(...events.map(({ body }) => JSON.parse(body.toString())));
      return { deliveries: [] };
    });
    await dispatch.close();
    const due = bodies.filter(({ payload }) => payload.call_id === ref.id);
    expect(due.map(({ eventName }) => eventName).toSorted()).toEqual([
      'CallAnalysis.Completed',
      'CallHandler.CallEnded',
      'CallHandler.CallStarted',
      'CallHandler.CallTransferred',
      'CallHandler.RecordingReady',
    ]);
    expect(JSON.stringify(due)).not.toContain(secret);
    expect(JSON.stringify(bodies)).toContain(secret);
  });

  it('is refused while the call is going on, and says what to do', async () => {
    const registered = await registerCall(facade.store, org.name);
    const ongoing = await registerCall(facade.store, org.name);
    await lifecycle.start({ ...ongoing, jobId: 'job' });
    for (const { id } of [registered, ongoing]) {
      const { status, body } = await remove(id);
      expect([status, body.error]).toEqual([409, 'conflict']);
      expect(body.message).toContain(`POST /v1/calls/${id}/end`);
      expect((await org.call('GET', `/v1/calls/${id}`)).status).toBe(200);
    }
  });

  it('is for keys that may, of the same organisation', async () => {
    const { id } = await talked();
    for (const permission of ['calls:read', 'calls:create', 'recordings:write'] as const)
      expect((await remove(id, await org.keyWith(permission))).status).toBe(403);
    const stranger = await organization(facade);
    expect((await remove(id, stranger.key)).text).toBe((await remove(newCallId(), stranger.key)).text);
    expect((await remove(id, stranger.key)).status).toBe(404);
    expect((await org.call('GET', `/v1/calls/${id}`)).status).toBe(200);
    expect((await remove(id, await org.keyWith('calls:write'))).status).toBe(204);
  });

  it('deletes no row while the storage is away, and all of it when it is asked again', async () => {
    const { id } = await talked();
    storageIsAway = true;
    expect(await remove(id)).toMatchObject({ status: 503, body: { error: 'unavailable' } });
    expect((await org.call('GET', `/v1/calls/${id}`)).body.recorded_call_audio_url).toBeDefined();
    storageIsAway = false;
    expect((await remove(id)).status).toBe(204);
    expect(await files.list(`recordings/${org.name}/`, { limit: 5 })).toEqual([]);
  });

  it('is done once by several at the same time', async () => {
    const { id } = await talked();
    const answers = await Promise.all(Array.from({ length: 5 }, () => remove(id)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toContain(204);
    expect(statuses.filter((status) => status !== 204 && status !== 404)).toEqual([]);
    const { rowCount } = await (await session(facade.database.url)).query('SELECT FROM parley.deleted_calls WHERE call_id = $1', [id]);
    expect(rowCount).toBe(1);
  });

  it('is not undone by what comes late', async () => {
    const ref = await talked();
    await remove(ref.id);
    const { calls } = facade.store;
    expect(await analysed(ref)).toBe(false);
    expect(await lifecycle.addRecording({ ...ref, key: 'recordings/late.ogg', bytes: 1, durationMs: 1 })).toBe(false);
    const message = { seq: 1, role: 'user', content: secret, spokenAt: new Date(), interrupted: false, sources: null } as const;
    await expect(calls.log.add(ref, { messages: [message] })).rejects.toMatchObject({ kind: 'conflict' });
    await expect(lifecycle.end({ ...ref, reason: 'user_ended_call' })).rejects.toMatchObject({ kind: 'not_found' });
    expect(await rowsWith(await session(facade.database.url), ref.id)).toEqual(['deleted_calls', 'event_bodies', 'events']);
  });
});

describe('a call', () => {
  it('is recorded if its agent and its organisation want it, as when it was registered', async () => {
    const enabled = async (recordingEnabled?: boolean) => {
      const ref = await registerCall(facade.store, org.name, recordingEnabled === undefined ? {} : { recordingEnabled });
      return async () => (await facade.store.calls.calls.get(ref))?.recordingEnabled;
    };
    const [byDefault, without] = [await enabled(), await enabled(false)];
    await facade.store.organizations.setCallRetention(org.name, { recordingEnabled: false });
    const off = await enabled(true);
    await facade.store.organizations.setCallRetention(org.name, { recordingEnabled: true });
    expect([await byDefault(), await without(), await off()]).toEqual([true, false, false]);
  });
});

describe('what is past its time', () => {
  const batch = () => ({ org: org.name, limit: 10 });

  it('is nothing by default', async () => {
    await talked({ daysAgo: 10_000 });
    expect([await deletion.dueRecordings(batch()), await deletion.dueCalls(batch())]).toEqual([0, 0]);
  });

  it('is a recording after the time of its agent, or else of its organisation', async () => {
    const { organizations, calls } = facade.store;
    await organizations.setCallRetention(org.name, { recordingRetentionDays: 30 });
    const [old, young] = [await talked({ daysAgo: 31 }), await talked({ daysAgo: 29 })];
    const [shorter, longer] = [
      await talked({ daysAgo: 8, recordingRetentionMs: 7 * DAY_MS }),
      await talked({ daysAgo: 31, recordingRetentionMs: 60 * DAY_MS }),
    ];
    storageIsAway = true;
    await expect(deletion.dueRecordings(batch())).rejects.toThrow('away');
    storageIsAway = false;
    expect((await Promise.all([deletion.dueRecordings(batch()), deletion.dueRecordings(batch())])).some((count) => count === 2)).toBe(true);
    const left = [young, longer].map(({ id }) => recordingKey(org.name, id));
    expect(await files.list(`recordings/${org.name}/`, { limit: 5 })).toEqual(left.toSorted());
    for (const [ref, recorded] of [
      [old, false],
      [shorter, false],
      [young, true],
      [longer, true],
    ] as const)
      expect([(await calls.calls.get(ref))?.recording !== null, (await calls.log.read(ref)).messages.length]).toEqual([recorded, 1]);
    expect(await deletion.dueRecordings(batch())).toBe(0);
  });

  it('is a whole call after the days of its organisation, and never one that is going on', async () => {
    await facade.store.organizations.setCallRetention(org.name, { callRetentionDays: 90 });
    const [old, young] = [await talked({ daysAgo: 91 }), await talked({ daysAgo: 89 })];
    const live = aCall(org.name);
    await facade.store.calls.calls.register(live);
    const admin = await session(facade.database.url);
    await admin.query("UPDATE parley.calls SET created_at = now() - interval '91 days' WHERE id = $1", [live.id]);
    expect(await deletion.dueCalls({ org: org.name, limit: 1 })).toBe(1);
    expect(await deletion.dueCalls({ org: org.name, limit: 1 })).toBe(0);
    const left = async (id: string) => (await org.call('GET', `/v1/calls/${id}`)).status;
    expect([await left(old.id), await left(young.id), await left(live.id)]).toEqual([404, 200, 200]);
    expect(await rowsWith(admin, old.id)).toEqual(['deleted_calls', 'event_bodies', 'events']);
  });

  it('is, of a deleted call, what an upload left whose process and spool are lost', async () => {
    const { id } = await talked();
    await remove(id);
    const key = recordingKey(org.name, id);
    await files.put(key, Readable.from([secret]), { maxBytes: 1_000 });
    expect(await deletion.settledDeletions(batch())).toBe(0);
    const admin = await session(facade.database.url);
    await admin.query("UPDATE parley.deleted_calls SET deleted_at = now() - interval '9 days' WHERE call_id = $1", [id]);
    expect(await deletion.settledDeletions(batch())).toBe(1);
    expect(await files.list(`recordings/${org.name}/`, { limit: 5 })).toEqual([]);
    expect(await rowsWith(admin, id)).toEqual(['event_bodies', 'events']);
  });
});

describe('the erasure of a person', () => {
  const phone = '+12025550199';
  const theirs = { callType: 'phone_call', direction: 'inbound', fromNumber: phone, toNumber: '+15550100' } as const;
  const erase = (query: string, key = org.key) => facade.call('DELETE', `/v1/people?${query}`, { key });
  const worker = () =>
    new PersonErasure({
      erasures: facade.store.calls.erasures,
      deletion,
      clock: systemClock,
      logger: createLogger({ role: 'worker', level: 'silent' }),
    });
  const reportOf = async (id: string) => (await facade.call('GET', `/v1/people/erasures/${id}`, { key: org.key })).body;

  it('finds all that is theirs, by number, and leaves what is of others', async () => {
    const admin = await session(facade.database.url);
    const [one, two] = [await talked(theirs), await talked({ ...theirs, direction: 'outbound', fromNumber: '+15550100', toNumber: phone })];
    const other = await talked({ ...theirs, fromNumber: '+12025550198', metadata: { who: 'somebody else' } });
    const elsewhere = await organization(facade);
    const foreign = await registerCall(facade.store, elsewhere.name, { ...theirs, metadata: { who: 'foreign' } });
    const request = { org: org.name, apiKeyId: 'key', key: 'a' };
    const fingerprint = Buffer.alloc(32);
    await facade.store.idempotentRequests.claim(request, { fingerprint, forMs: 0 });
    await facade.store.idempotentRequests.answered(request, Buffer.from('sealed'), [one.id]);
    await facade.store.dynamicDataCache.put(org.name, 'ab'.repeat(32), JSON.stringify({ phone }), { forMs: 60_000 });

    const begun = await erase(`phone=${encodeURIComponent(phone)}`);
    expect([begun.status, begun.body.status]).toEqual([202, 'running']);
    const { erasure_id: id } = begun.body;
    expect((await erase(`phone=${encodeURIComponent(phone)}`)).body.erasure_id).toBe(id);
    await worker().eraseDue();

    expect(await reportOf(id)).toMatchObject({
      erasure_id: id,
      status: 'finished',
      waiting_calls: 0,
      counts: {
        calls: 2,
        messages: 2,
        document_hits: 0,
        tool_calls: 2,
        analyses: 2,
        recordings: 2,
        events: 4,
        idempotent_answers: 1,
        cached_lookups: 1,
      },
    });
    expect(await rowsWith(admin, phone)).toEqual(['calls']);
    expect((await admin.query('SELECT org FROM parley.calls WHERE from_number = $1', [phone])).rows).toEqual([{ org: elsewhere.name }]);
    expect(await facade.store.calls.calls.get({ org: elsewhere.name, id: foreign.id })).toBeDefined();
    for (const { id: call } of [one, two]) {
      expect(await facade.store.calls.calls.get({ org: org.name, id: call })).toBeUndefined();
      await expect(files.read(recordingKey(org.name, call))).rejects.toMatchObject({ name: 'StorageError' });
    }
    expect((await facade.store.calls.log.read(other)).messages).toHaveLength(1);
    // A request that is sent again makes nothing twice.
    expect(await facade.store.idempotentRequests.claim(request, { fingerprint, forMs: 0 })).toEqual({ outcome: 'running' });
  });

  it('finds them by metadata, and waits for calls that go on', async () => {
    const ref = await talked({ metadata: { customer: 'c-17' } });
    const other = await talked({ metadata: { customer: 'c-18' } });
    const live = await registerCall(facade.store, org.name, { metadata: { customer: 'c-17' } });
    const { erasure_id: id } = (await erase('metadata_key=customer&metadata_value=c-17')).body;
    await worker().eraseDue();
    expect(await reportOf(id)).toMatchObject({ status: 'running', waiting_calls: 1, counts: { calls: 1 } });
    expect(await facade.store.calls.calls.get(ref)).toBeUndefined();
    expect(await facade.store.calls.calls.get(other)).toBeDefined();
    await lifecycle.end({ ...live, reason: 'user_ended_call' });
    // It is due again half a minute later.
    await (await session(facade.database.url)).query('UPDATE parley.erasures SET due_at = now() WHERE id = $1', [id]);
    await worker().eraseDue();
    expect(await reportOf(id)).toMatchObject({ status: 'finished', waiting_calls: 0, counts: { calls: 2 } });
    expect(await facade.store.calls.calls.get(live)).toBeUndefined();
  });

  it('goes on where a worker has died, and counts nothing twice', async () => {
    const refs = [await talked(theirs), await talked(theirs)];
    const { erasure_id: id } = (await erase(`phone=${encodeURIComponent(phone)}`)).body;
    storageIsAway = true;
    await expect(worker().eraseDue()).rejects.toThrow('the storage is away');
    await deletion.delete({ ...refs[0]!, erasure: id }).catch(() => undefined);
    storageIsAway = false;
    await deletion.delete({ ...refs[0]!, erasure: id });
    // Another worker has it for a minute.
    await worker().eraseDue();
    expect(await reportOf(id)).toMatchObject({ status: 'running', counts: { calls: 1 } });
    await (await session(facade.database.url)).query('UPDATE parley.erasures SET due_at = now() WHERE id = $1', [id]);
    await worker().eraseDue();
    expect(await reportOf(id)).toMatchObject({ status: 'finished', counts: { calls: 2, recordings: 2 } });
  });

  it('names exactly one person, and none that is everybody', async () => {
    const messageOf = async (query: string): Promise<unknown> => JSON.stringify((await erase(query)).body);
    expect(await messageOf('')).toContain('give phone, or metadata_key and metadata_value');
    expect(await messageOf('metadata_key=a')).toContain('metadata_value');
    expect(await messageOf('phone=123&metadata_key=a')).toContain('make two requests for both');
    expect(await messageOf('phone=+12025550199')).toContain('write + as %2B');
    await facade.store.phoneRoutes.put({
      org: org.name,
      uid: 'uid',
      name: 'main',
      number: '+15550177',
      type: 'SIP',
      inboundAgent: null,
      outboundAgent: null,
      outboundTrunk: null,
    });
    expect(await messageOf('phone=%2B15550177')).toContain('is a number of your organisation');
  });

  it('needs a permission of its own, and is nobody else’s to see', async () => {
    for (const permission of ['calls:write', 'recordings:write'] as const)
      expect((await erase('phone=%2B1202', await org.keyWith(permission))).status).toBe(403);
    const { erasure_id: id } = (await erase('phone=%2B1202', await org.keyWith('people:erase'))).body;
    const elsewhere = await organization(facade);
    expect((await facade.call('GET', `/v1/people/erasures/${id}`, { key: elsewhere.key })).status).toBe(404);
    expect((await facade.call('GET', '/v1/people/erasures/x', { key: org.key })).status).toBe(404);
  });
});
