import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { get } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

import { beforeAll, describe, expect, it } from 'vitest';

import { recordingKey } from '../../../calls/names.ts';
import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { suiteFolder } from '../../support/folders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { realMediaServer, serveAgent } from './calls-support.ts';
import { organization, startFacade, type TestOrganization } from './facade.ts';

const folder = suiteFolder();
const files = suiteFixture(() => openFileStorage({ url: pathToFileURL(folder).href }));
const facade = suiteFixture(async () => startFacade({ calls: { mediaServer: await realMediaServer(), recordings: files } }));
const org = suiteFixture(() => organization(facade));
const untold = { events: () => [] };
const audio = randomBytes(300_000);

beforeAll(async () => {
  await facade.store.organizations.limitLiveCalls(org.name, 100);
  await serveAgent(facade.store, org.name, 'receptionist');
});

async function aCall(options: { readonly over: boolean; readonly recorded: boolean }): Promise<string> {
  const { body } = await org.call('POST', '/v1/calls/create-web-call', { ai_agent_id: 'receptionist' });
  const ref = { org: org.name, id: body._id as string };
  if (options.recorded) {
    const key = recordingKey(org.name, ref.id);
    const { bytes } = await files.put(key, Readable.from([audio]), { maxBytes: 1_000_000 });
    await facade.store.calls.calls.addRecording({ ...untold, ...ref, key, bytes, durationMs: 60_000 });
  }
  if (options.over) await facade.store.calls.calls.end({ ...untold, ...ref, reason: 'user_ended_call' });
  return ref.id;
}

/** Returns the bytes as they are. */
async function raw(
  path: string,
  init: { readonly key?: string; readonly body?: object; readonly range?: string; readonly method?: string },
) {
  const response = await fetch(path.startsWith('http') ? path : facade.url + path, {
    method: init.method ?? (init.body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(init.key !== undefined && { authorization: `Bearer ${init.key}` }),
      ...(init.body !== undefined && { 'content-type': 'application/json' }),
      ...(init.range !== undefined && { range: init.range }),
    },
    ...(init.body !== undefined && { body: JSON.stringify(init.body) }),
  });
  return { status: response.status, headers: response.headers, content: Buffer.from(await response.arrayBuffer()) };
}

describe('the recording of a call', () => {
  it('is sent whole, and in parts', async () => {
    const call_id = await aCall({ over: true, recorded: true });
    const download = (range?: string) =>
      raw('/v1/call-recording/download', { key: org.key, body: { call_id }, ...(range !== undefined && { range }) });
    const whole = await download();
    expect(whole.status).toBe(200);
    expect(whole.content.equals(audio)).toBe(true);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'audio/ogg',
      'content-length': '300000',
      'accept-ranges': 'bytes',
      'content-disposition': `attachment; filename="${call_id}.ogg"`,
    });
    const part = await download('bytes=1000-1999');
    expect([part.status, part.headers.get('content-range'), part.headers.get('content-length')]).toEqual([
      206,
      'bytes 1000-1999/300000',
      '1000',
    ]);
    expect(part.content.equals(audio.subarray(1000, 2000))).toBe(true);
    const end = await download('bytes=-5');
    expect(end.content.equals(audio.subarray(-5))).toBe(true);
    const beyond = await download('bytes=300000-');
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */300000']);
    expect(JSON.parse(beyond.content.toString())).toMatchObject({ error: 'range_not_satisfiable' });
  });

  it('is not there before the call is over, for a call without one, for a stranger, or where the file is gone', async () => {
    const [ongoing, bare, gone] = [
      await aCall({ over: false, recorded: true }),
      await aCall({ over: true, recorded: false }),
      await aCall({ over: true, recorded: true }),
    ];
    const ask = (call_id: string, of: TestOrganization = org) => of.call('POST', '/v1/call-recording/download', { call_id });
    expect(await ask(ongoing)).toMatchObject({ status: 409, body: { error: 'recording_not_ready' } });
    expect(await ask(bare)).toMatchObject({ status: 404, body: { error: 'recording_not_found' } });
    await files.delete(recordingKey(org.name, gone));
    expect(await ask(gone)).toMatchObject({ status: 404, body: { error: 'recording_not_found' } });
    const other = await organization(facade);
    expect((await ask(await aCall({ over: true, recorded: true }), other)).text).toBe((await ask('nothing', other)).text);
    expect((await org.call('POST', '/v1/call-recording/download', { call_id: bare, expiration_url_in_minutes: 1441 })).status).toBe(422);
  });

  it('has an address that opens it for a while without a key', async () => {
    const call_id = await aCall({ over: true, recorded: true });
    const { status, body, headers } = await org.call('POST', '/v1/call-recording/signed-url', { call_id, expiration_url_in_minutes: 60 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ file_name: `${call_id}.ogg`, expiration_minutes: 60 });
    expect(Math.round((Date.parse(body.expires_at) - Date.parse(headers.get('date')!)) / 60_000)).toBe(60);
    expect(body.signed_url.startsWith(facade.url)).toBe(true);
    expect((await raw(body.signed_url, {})).content.equals(audio)).toBe(true);
    expect((await raw(body.signed_url, { range: 'bytes=0-9' })).content.equals(audio.subarray(0, 10))).toBe(true);
    const head = await raw(body.signed_url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), head.content.length]).toEqual([200, '300000', 0]);
    const forged = await facade.call('GET', `${new URL(body.signed_url).pathname.slice(0, -1)}_`);
    expect([forged.status, forged.body.error]).toEqual([404, 'recording_not_found']);
  });

  it('has its address in the call, for keys that may hear it', async () => {
    const id = await aCall({ over: true, recorded: true });
    const { body } = await org.call('GET', `/v1/calls/${id}`);
    expect((await raw(body.recorded_call_audio_url, {})).content.equals(audio)).toBe(true);
    const deaf = await org.keyWith('calls:read');
    expect((await facade.call('GET', `/v1/calls/${id}`, { key: deaf })).body.recorded_call_audio_url).toBeUndefined();
    expect((await facade.call('POST', '/v1/call-recording/download', { key: deaf, body: { call_id: id } })).status).toBe(403);
  });

  it('has an address of our own making, whatever host a request names', async () => {
    const call_id = await aCall({ over: true, recorded: true });
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    const { body } = await org.call('POST', '/v1/call-recording/signed-url', { call_id }, { headers });
    expect(body.signed_url.startsWith(facade.url)).toBe(true);
    const answer = await new Promise<string>((resolve, reject) => {
      const options = { headers: { host: 'evil.example', authorization: `Bearer ${org.key}` } };
      get(`${facade.url}/v1/calls/${call_id}`, options, (response) => void text(response).then(resolve, reject)).on('error', reject);
    });
    expect(JSON.parse(answer).recorded_call_audio_url).toContain(facade.url);
    expect(answer).not.toContain('evil');
  });

  it('can not be opened by an address that somebody signs who knows the address of the database', async () => {
    const id = await aCall({ over: true, recorded: true });
    const key = hkdfSync('sha256', facade.database.url, '', 'parley recording links', 32);
    const payload = Buffer.from(JSON.stringify([org.name, id, Date.now() + 60_000]));
    const mac = createHmac('sha256', new Uint8Array(key)).update(payload).digest();
    const token = Buffer.concat([mac, payload]).toString('base64url');
    expect((await raw(`/v1/call-recording/signed/${token}`, {})).status).toBe(404);
  });

  it('has the address that clients know the API by', async () => {
    const behind = await startFacade({
      database: facade.database,
      calls: {
        publicUrl: 'https://api.example.com/',
        recordings: files,
      },
    });
    try {
      const call_id = await aCall({ over: true, recorded: true });
      const { body } = await behind.call('POST', '/v1/call-recording/signed-url', { key: org.key, body: { call_id } });
      expect(body.signed_url).toMatch(/^https:\/\/api\.example\.com\/v1\/call-recording\/signed\/[\w-]+$/);
      expect(body.expiration_minutes).toBe(10);
    } finally {
      await behind.close();
    }
  });
});
