/** One walk through everything with a client whose types are made from the OpenAPI document: what compiles here compiles for users. */
import createClient, { type Client } from 'openapi-fetch';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { repository } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { serveAgent, realMediaServer, mediaUrl } from './calls-support.ts';
import { organization, startFacade } from './facade.ts';
// Made by scripts/client-types.ts, which `make test` and `npm run types` run.
import type { components, paths } from './client-types.ts';

const facade = suiteFixture(async () => startFacade({ calls: { mediaServer: await realMediaServer() } }));
const org = suiteFixture(() => organization(facade));
const client = suiteFixture(() => connect(org.key));

const connect = (key: string): Client<paths> => createClient<paths>({ baseUrl: facade.url, headers: { authorization: `Bearer ${key}` } });

describe('a typed client', () => {
  it('is made from what the facade serves', async () => {
    const served = await (await fetch(`${facade.url}/openapi.json`)).text();
    const committed = await readFile(join(repository, 'docs/reference/openapi.json'), 'utf8');
    expect(JSON.parse(served)).toEqual(JSON.parse(committed));
  });

  it('walks through the agents', async () => {
    const body: components['schemas']['AgentCreate'] = {
      agent_name: 'Typed',
      llm: { model_name: 'gpt-4o-mini', tools: [] },
      stt: { provider: 'deepgram' },
      tts: { provider: 'elevenlabs' },
      ambient_sound: 'cafe',
    };
    const made = await client.POST('/v2/ai-agents', { body });
    const agent = made.data;
    if (agent === undefined) throw new Error(JSON.stringify(made.error));
    expect(agent.ambient_sound).toBe('cafe');
    const { ai_agent_id } = agent;

    const read = await client.GET('/v2/ai-agents/{ai_agent_id}', { params: { path: { ai_agent_id } } });
    expect(read.data).toEqual(agent);

    const stale = await client.PUT('/v2/ai-agents/{ai_agent_id}', {
      params: { path: { ai_agent_id }, header: { 'If-Match': '"1"' } },
      body: { welcome_message: 'Hi' },
    });
    expect(stale.response.status).toBe(412);
    const changed = await client.PUT('/v2/ai-agents/{ai_agent_id}', {
      params: { path: { ai_agent_id }, query: { force: true } },
      body: { llm: { model_temperature: 0.5 }, welcome_message: null },
    });
    expect(changed.data?.llm.model_temperature).toBe(0.5);

    const names: string[] = [];
    let page_token: string | null | undefined;
    do {
      const { data } = await client.GET('/v2/ai-agents', {
        params: { query: { page_size: 1, ...(page_token ? { page_token } : {}) } },
      });
      names.push(...(data?.data ?? []).map(({ agent_name }) => agent_name));
      page_token = data?.next_page_token;
    } while (page_token);
    expect(names).toEqual(['Typed']);

    const gone = await client.DELETE('/v2/ai-agents/{ai_agent_id}', { params: { path: { ai_agent_id } } });
    expect(gone.data?.message).toBe('The AI agent was deleted');
    const missing = await client.GET('/v2/ai-agents/{ai_agent_id}', { params: { path: { ai_agent_id } } });
    expect(missing.error).toEqual({ error: 'not_found', message: 'AI agent not found' });
  });

  it('refuses at compile time what the facade refuses', async () => {
    // @ts-expect-error -- page_size is a number
    const words = await client.GET('/v2/ai-agents', { params: { query: { page_size: 'many' } } });
    expect(words.response.status).toBe(422);
    // @ts-expect-error -- stt and tts are missing
    const little = await client.POST('/v2/ai-agents', { body: { agent_name: 'x', llm: { model_name: 'm' } } });
    expect(little.response.status).toBe(422);
    // @ts-expect-error -- there is no such address
    const nothing = await client.GET('/v2/nothing', {});
    expect((nothing as { response: Response }).response.status).toBe(404);
  });

  it('takes the requests of the reference as they are written there', async () => {
    const page = await readFile(join(repository, 'docs/reference/rest.md'), 'utf8');
    const written = '{"phone_number": "+4930555012345", "sip_termination_uri": "sip:trunk.example.com", "sip_trunk_password": "secret"}';
    expect(page).toContain(written);
    // The same as a literal, which has to compile without `provider`.
    const body: components['schemas']['PhoneNumberCreate'] = {
      phone_number: '+4930555012345',
      sip_termination_uri: 'sip:trunk.example.com',
      sip_trunk_password: 'secret',
    };
    expect(body).toEqual(JSON.parse(written));
    const { data: number } = await client.POST('/v1/phone-numbers', { body });
    if (number?.provider !== 'sip') throw new Error('a number without a provider is one behind a trunk');
    expect(number.sip_termination_uri).toBe('sip:trunk.example.com');
    // @ts-expect-error -- a carrier's number has an account
    const little = await client.POST('/v1/phone-numbers', { body: { provider: 'carrier', phone_number: '+4930555012346' } });
    expect(little.response.status).toBe(422);
    await client.DELETE('/v1/phone-numbers/{phone_number_id}', { params: { path: { phone_number_id: number._id } } });
  });

  it('walks through the API keys', async () => {
    const made = await client.POST('/v1/api-keys', { body: { name: 'typed', permissions: ['agents:read'] } });
    const key = made.data;
    if (key === undefined) throw new Error(JSON.stringify(made.error));
    const path = { key_id: key.key_id };
    expect((await connect(key.api_key).GET('/v2/ai-agents')).response.status).toBe(200);
    expect((await connect(key.api_key).GET('/v1/api-keys')).response.status).toBe(403);
    expect((await client.GET('/v1/api-keys', {})).data?.data.map(({ name }) => name)).toContain('typed');
    expect((await client.GET('/v1/api-keys/{key_id}', { params: { path } })).data?.revoked).toBe(false);
    expect((await client.POST('/v1/api-keys/{key_id}/revoke', { params: { path } })).data?.revoked).toBe(true);
  });

  it('walks through the webhooks', async () => {
    const body: components['schemas']['WebhookSubscriptionCreate'] = {
      name: 'Typed',
      url: 'https://hooks.example.com',
      enable_signed_webhooks: true,
      retry_policy: { retryStrategy: 'NO_RETRY' },
    };
    const made = await client.POST('/v1/public/webhook/subscription', { body });
    if (made.data === undefined) throw new Error(JSON.stringify(made.error));
    const { secret, id: subscription_id } = made.data;
    const path = { subscription_id };
    expect(secret).toMatch(/^whsec_/);
    const list = await client.GET('/v1/public/webhook/subscriptions', { params: { query: { page_size: 10 } } });
    expect([list.data?.total_count, list.data?.data[0]?.retry_policy.retryStrategy]).toEqual([1, 'NO_RETRY']);
    const one = '/v1/public/webhook/subscription/{subscription_id}' as const;
    expect((await client.PATCH(one, { params: { path }, body: { active: false } })).data?.active).toBe(false);
    const paused = await client.POST(`${one}/test`, { params: { path } });
    expect([paused.error, paused.response.status]).toEqual([expect.objectContaining({ type: 'CONFLICT' }), 409]);
    expect((await client.PUT(one, { params: { path }, body: { active: true } })).data?.active).toBe(true);
    const test = await client.POST(`${one}/test`, { params: { path } });
    expect(test.data?.event_id).toMatch(/^evt_/);
    const rotated = await client.POST(`${one}/rotate-secret`, { params: { path } });
    expect(rotated.data?.secret).not.toBe(secret);
    const recovered = await client.POST(`${one}/recover`, { params: { path }, body: { since: '2026-11-21T00:00:00Z' } });
    expect(recovered.data).toEqual({ recovered: 0 });
    const deliveries = await client.GET(`${one}/deliveries`, { params: { path, query: { status: 'failed' } } });
    expect(deliveries.data?.data).toEqual([]);
    const types = await client.GET('/v1/public/webhook/event-types');
    expect(types.data?.data.map(({ name }) => name)).toContain('Webhook.Test');
    // @ts-expect-error -- page_size has to be given
    const little = await client.GET('/v1/public/webhook/subscriptions', {});
    expect(little.response.status).toBe(400);
    expect((await client.DELETE(one, { params: { path } })).response.status).toBe(200);
  });

  it('walks through the calls', async () => {
    await serveAgent(facade.store, org.name, 'receptionist', { displayName: 'Receptionist' });
    const body: components['schemas']['WebCallCreate'] = { ai_agent_id: 'receptionist', metadata: { ticket: 4711 } };
    const { data: call } = await client.POST('/v1/calls/create-web-call', { body });
    if (call === undefined) throw new Error('no call was made');
    expect([call.call_status, call.call_type, call.media_url]).toEqual(['registered', 'web_call', mediaUrl]);
    const read = await client.GET('/v1/calls/{call_id}', { params: { path: { call_id: call._id } } });
    expect(read.data?.metadata).toEqual({ ticket: 4711 });
    const { data: page } = await client.GET('/v1/calls', {
      params: { query: { ai_agent_ids: ['receptionist'], call_status: 'registered', page_size: 1000 } },
    });
    expect([page?.calls.map(({ _id }) => _id), page?.total_count]).toEqual([[call._id], 1]);
    const early = await client.POST('/v1/call-recording/signed-url', { body: { call_id: call._id, expiration_url_in_minutes: 1 } });
    expect(early.error).toMatchObject({ error: 'recording_not_ready' });
    await facade.store.calls.calls.end({ org: org.name, id: call._id, reason: 'no_answer', events: () => [] });
    const none = await client.POST('/v1/call-recording/download', { body: { call_id: call._id } });
    expect(none.error).toMatchObject({ error: 'recording_not_found' });
  });

  it('reads what needs no key', async () => {
    expect((await client.GET('/healthz', { parseAs: 'text' })).data).toBe('ok\n');
    expect((await client.GET('/docs', { parseAs: 'text' })).data).toContain('<title>Parley API</title>');
  });
});
