/** Makes a call on the whole platform, as far as it goes without speech. */
import { AudioSource, dispose, LocalAudioTrack, Room, TrackPublishOptions, TrackSource } from '@livekit/rtc-node';
import { randomBytes } from 'node:crypto';

import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';

import { anAgent } from '../support/builders.ts';
import { eventually } from '../support/eventually.ts';
import { stackClient } from '../support/stack.ts';

const client = stackClient(inject('stack'));
const name = `calls-${randomBytes(4).toString('hex')}`;
let database: pg.Client;

beforeAll(async () => {
  await client.kubectl(['apply', '-f', '-'], {
    input: anAgent(name, undefined, { requiredDynamicData: ['who'], call: { maxDuration: '1m' } }),
  });
  await client.kubectl(['wait', '--for=condition=Ready', `agent/${name}`, '--timeout=100s']);
  database = new pg.Client({ connectionString: client.env.DATABASE_URL });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await dispose();
});

interface Call {
  readonly _id: string;
  readonly access_token: string;
  readonly media_url: string;
  readonly call_status: string;
}

async function create(): Promise<Call> {
  const body = { ai_agent_id: name, native_llm_dynamic_data: { who: 'Ada' } };
  const answer = await client.rest<Call & Record<string, unknown>>('POST', '/v1/calls/create-web-call', body);
  expect(answer.status, answer.text).toBe(201);
  // Few calls of a key may wait for their users.
  onTestFinished(async () => void (await client.rest('POST', `/v1/calls/${answer.body._id}/end`)));
  return answer.body;
}

async function rowOf(id: string): Promise<{ readonly revision: string; readonly max_duration_ms: number }> {
  const { rows } = await database.query<{ revision: string; max_duration_ms: number }>(
    'SELECT revision, max_duration_ms FROM parley.calls WHERE id = $1',
    [id],
  );
  return rows[0]!;
}

it('opens a room on the media server for the one who asked', async () => {
  const call = await create();
  const room = new Room();
  onTestFinished(() => room.disconnect());
  await room.connect(call.media_url, call.access_token, { autoSubscribe: true, dynacast: false });
  expect(room.name).toBe(call._id.replace('_', '-'));
});

it('begins with what is heard, and ends when the user leaves', async () => {
  const call = await create();
  const room = new Room();
  await room.connect(call.media_url, call.access_token, { autoSubscribe: true, dynacast: false });
  const options = new TrackPublishOptions();
  options.source = TrackSource.SOURCE_MICROPHONE;
  const source = new AudioSource(48_000, 1);
  await room.localParticipant!.publishTrack(LocalAudioTrack.createAudioTrack('microphone', source), options);
  const stateOf = async (expected: object): Promise<void> =>
    eventually(async () => expect((await client.rest('GET', `/v1/calls/${call._id}`)).body).toMatchObject(expected));
  await stateOf({ call_status: 'ongoing' });
  await room.disconnect();
  await stateOf({ call_status: 'ended', call_finish_reason: 'user_ended_call', call_duration_seconds: expect.any(Number) });
});

it('asks for what the agent requires', async () => {
  const { status, text } = await client.rest('POST', '/v1/calls/create-web-call', { ai_agent_id: name });
  expect([status, text]).toEqual([422, expect.stringContaining('who')]);
});

it('keeps the configuration that it began with; the call right after an edit has the new one', async () => {
  const before = await rowOf((await create())._id);
  const first = await create();
  const edited = await client.rest('PUT', `/v2/ai-agents/${name}?force=true`, { max_call_duration_seconds: 120 });
  expect(edited.status, edited.text).toBe(200);
  const after = await rowOf((await create())._id);
  expect([before.max_duration_ms, after.max_duration_ms]).toEqual([60_000, 120_000]);
  expect(after.revision).not.toBe(before.revision);
  expect(await rowOf(first._id)).toEqual(before);
});

it('is ended by the worker when no user joins', async () => {
  const { _id } = await create();
  // The call looks as if it had been made long ago.
  await database.query(`UPDATE parley.calls SET created_at = now() - interval '12 minutes' WHERE id = $1`, [_id]);
  await eventually(async () => {
    const { body } = await client.rest('GET', `/v1/calls/${_id}`);
    expect(body).toMatchObject({ call_status: 'error', call_finish_reason: 'user_connection_failure' });
  });
});
