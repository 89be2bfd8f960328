/** Tests what one API key may do to others, whom keys act for, and the key that may make calls and nothing else. */
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

import { describe, expect, it } from 'vitest';

import { recordingKey } from '../../../calls/names.ts';
import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import type { Permission } from '../../../store/index.ts';
import { suiteFolder } from '../../support/folders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { realMediaServer, serveAgent } from './calls-support.ts';
import { organization, startFacade, type RestAnswer } from './facade.ts';

const agent = {
  agent_name: 'Desk',
  llm: { model_name: 'm', system_prompt: 'canary-prompt' },
  stt: { provider: 'openai' },
  tts: { provider: 'openai' },
};
const files = suiteFixture(() => openFileStorage({ url: pathToFileURL(folder).href }));
const facade = suiteFixture(async () => startFacade({ calls: { mediaServer: await realMediaServer(), recordings: files, page: true } }));
const org = suiteFixture(() => organization(facade));
const folder = suiteFolder();

const as =
  (key: string) =>
  (method: string, path: string, body?: unknown): Promise<RestAnswer> =>
    facade.call(method, path, { key, ...(body !== undefined && { body }) });

async function keyFor(expirationDays: number, permissions: readonly Permission[], userId?: string): Promise<string> {
  const { apiKey } = await facade.store.apiKeys.create({ org: org.name, name: 'maker', permissions, expirationDays, userId });
  return apiKey;
}

describe('a key that makes others', () => {
  it('is outlived by none of them', async () => {
    const make = as(await keyFor(1, ['api_keys:write']));
    const refused = await make('POST', '/v1/api-keys', { name: 'x', permissions: ['api_keys:write'], expiration_days: 365 });
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'expiration_days']]);
    for (const expiration_days of [undefined, 1]) {
      const { status, body } = await make('POST', '/v1/api-keys', { name: 'x', permissions: ['api_keys:write'], expiration_days });
      expect(status).toBe(201);
      expect(Date.parse(body.expiration_date)).toBeLessThanOrEqual(Date.parse(body.created_at) + 86_400_000);
      // Keys that these make live no longer, either.
      const deeper = await as(body.api_key)('POST', '/v1/api-keys', { name: 'y', permissions: ['api_keys:read'] });
      expect(Date.parse(deeper.body.expiration_date)).toBeLessThanOrEqual(Date.parse(body.expiration_date));
    }
    const long = await as(await keyFor(365, ['api_keys:write']))('POST', '/v1/api-keys', { name: 'z', permissions: ['api_keys:read'] });
    expect(Date.parse(long.body.expiration_date) - Date.parse(long.body.created_at)).toBe(30 * 86_400_000);
  });

  it('revokes those that may do no more than itself, and no others', async () => {
    const revoke = as(await org.keyWith('api_keys:write', 'agents:read'));
    const idOf = async (...permissions: Permission[]): Promise<string> =>
      (await org.call('POST', '/v1/api-keys', { name: 'x', permissions })).body.key_id as string;
    for (const beyond of ['*', 'agents:write', 'secrets:read'] as const) {
      const id = await idOf('agents:read', beyond);
      const refused = await revoke('POST', `/v1/api-keys/${id}/revoke`);
      expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining(beyond)]);
      expect((await org.call('GET', `/v1/api-keys/${id}`)).body.revoked).toBe(false);
    }
    expect((await revoke('POST', `/v1/api-keys/${await idOf('agents:read', 'api_keys:read')}/revoke`)).body.revoked).toBe(true);
  });
});

describe('a leaked key', () => {
  it('is found in the keys that it made, and revoked with them', async () => {
    const make = { name: 'x', permissions: ['api_keys:write'] };
    const { body: leaked } = await org.call('POST', '/v1/api-keys', make);
    const { body: child } = await as(leaked.api_key)('POST', '/v1/api-keys', make);
    const { body: grandchild } = await as(child.api_key)('POST', '/v1/api-keys', make);
    expect([child.created_by_key, grandchild.created_by_key]).toEqual([leaked.key_id, child.key_id]);
    const { body: listed } = await org.call('GET', '/v1/api-keys?page_size=100');
    expect(listed.data).toContainEqual(expect.objectContaining({ key_id: grandchild.key_id, created_by_key: child.key_id }));

    const alone = await org.call('POST', `/v1/api-keys/${grandchild.key_id}/revoke`);
    expect(alone.body).toMatchObject({ revoked: true });
    expect(alone.body).not.toHaveProperty('revoked_descendants');
    const { status, body } = await org.call('POST', `/v1/api-keys/${leaked.key_id}/revoke?descendants=true`);
    expect([status, body]).toEqual([200, expect.objectContaining({ key_id: leaked.key_id, revoked: true, revoked_descendants: 1 })]);
    expect((await org.call('GET', `/v1/api-keys/${child.key_id}`)).body.revoked).toBe(true);
    for (const { api_key: key } of [leaked, child, grandchild]) expect((await as(key)('POST', '/v1/api-keys', make)).status).toBe(401);
    expect((await org.call('POST', `/v1/api-keys/key_absent/revoke?descendants=true`)).status).toBe(404);
  });
});

describe('the user of a key', () => {
  it('is recorded on everything that is made with it, and is that of the keys that it makes unless they name another', async () => {
    const alice = as(await keyFor(30, ['*'], 'alice'));
    const made = async (path: string, body: unknown, field: string): Promise<unknown> => {
      const { status, body: answer } = await alice('POST', path, body);
      expect(status, JSON.stringify(answer)).toBe(201);
      return answer[field];
    };
    expect(await made('/v2/ai-agents', agent, 'created_by_user_id')).toBe('alice');
    expect(await made('/api/v1/knowledge-bases', { name: 'Manuals' }, 'user_id')).toBe('alice');
    const subscription = {
      name: 's',
      url: 'https://127.0.0.1/hook',
      events: ['CallHandler.CallEnded'],
      enable_signed_webhooks: false,
    };
    expect(await made('/v1/public/webhook/subscription', subscription, 'created_user_id')).toBe('alice');
    const key = { name: 'k', permissions: ['*'] };
    const own = await alice('POST', '/v1/api-keys', key);
    expect(own.body).toMatchObject({ user_id: 'alice', created_by_user_id: 'alice' });
    const bob = await alice('POST', '/v1/api-keys', { ...key, user_id: 'bob' });
    expect(bob.body).toMatchObject({ user_id: 'bob', created_by_user_id: 'alice' });
    expect((await as(bob.body.api_key)('POST', '/v2/ai-agents', agent)).body.created_by_user_id).toBe('bob');
    for (const unset of [null, '']) {
      const none = await alice('POST', '/v1/api-keys', { ...key, user_id: unset });
      expect(none.body.created_by_user_id).toBe('alice');
      expect(none.body).not.toHaveProperty('user_id');
    }
    for (const user_id of ['x'.repeat(201), 'a\nb']) {
      const refused = await alice('POST', '/v1/api-keys', { ...key, user_id });
      expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'user_id']]);
    }
  });
});

describe('calls:create', () => {
  it('makes calls, sees those of its own key with their recording, and nothing else', async () => {
    const { body: stored } = await org.call('POST', '/v2/ai-agents', { ...agent, llm: { ...agent.llm, required_dynamic_data: ['who'] } });
    await serveAgent(facade.store, org.name, 'desk');
    const [page, other] = [as(await org.keyWith('calls:create')), as(await org.keyWith('calls:create'))];

    const agents = await page('GET', '/call/agents');
    expect(agents.body.data).toContainEqual({ ai_agent_id: stored.ai_agent_id, agent_name: 'Desk', required_dynamic_data: ['who'] });
    expect(agents.text).not.toContain('canary-prompt');
    const forbidden = ['/v2/ai-agents', `/v2/ai-agents/${stored.ai_agent_id}`, '/v1/calls', '/v1/api-keys', '/v1/phone-numbers'];
    for (const path of forbidden) expect([path, (await page('GET', path)).status]).toEqual([path, 403]);

    const { status, body: call } = await page('POST', '/v1/calls/create-web-call', { ai_agent_id: 'desk' });
    expect([status, typeof call.access_token]).toEqual([201, 'string']);
    const ref = { org: org.name, id: call._id as string };
    const key = recordingKey(org.name, ref.id);
    const { bytes } = await files.put(key, Readable.from([Buffer.from('sound')]), { maxBytes: 100 });
    await facade.store.calls.calls.addRecording({ ...ref, key, bytes, durationMs: 1_000, events: () => [] });
    await facade.store.calls.calls.end({ ...ref, reason: 'user_ended_call', events: () => [] });

    const seen = await page('GET', `/v1/calls/${ref.id}`);
    expect([seen.status, seen.body.call_status, typeof seen.body.recorded_call_audio_url]).toEqual([200, 'ended', 'string']);
    const heard = await page('POST', '/v1/call-recording/download', { call_id: ref.id });
    expect([heard.status, heard.text]).toEqual([200, 'sound']);

    // Another key's call is as unknown as one that doesn't exist.
    for (const [path, body] of [
      [`/v1/calls/${ref.id}`, undefined],
      ['/v1/call-recording/download', { call_id: ref.id }],
    ] as const) {
      const theirs = await other(body === undefined ? 'GET' : 'POST', path, body);
      const nothing = await other(
        body === undefined ? 'GET' : 'POST',
        path.replace(ref.id, 'call_00000000-0000-7000-8000-000000000000'),
        body && { call_id: 'call_00000000-0000-7000-8000-000000000000' },
      );
      expect([theirs.status, theirs.text]).toEqual([404, nothing.text]);
    }
    expect((await page('POST', '/v1/call-recording/signed-url', { call_id: ref.id })).status).toBe(403);
    expect((await page('POST', '/v1/calls/dial-outbound-phone-call', {})).status).toBe(403);
  });
});
