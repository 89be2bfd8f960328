/** Runs `@parley/client` against a live API: what compiles here compiles for users, and their README runs. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { Parley, ParleyError, verifyWebhook, WebhookVerificationError, type components } from '../../../clients/typescript/src/index.ts';
import { realEffects } from '../../../clients/typescript/src/send.ts';
import { buildTypescriptClient } from '../../../scripts/artifacts/typescript-client.ts';
import { run } from '../../support/run.ts';
import { repository } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startWebhookSink } from '../../support/webhook-sink.ts';
import { mediaUrl } from '../api/calls-support.ts';
import { startDispatcher } from '../api/facade.ts';
import { startServedApi } from './served-api.ts';

const api = suiteFixture(startServedApi);
const sink = suiteFixture(startWebhookSink);
suiteFixture(() => startDispatcher(api.facade));
const parley = suiteFixture(() => connect(api.org.key));

// A request that was lost may be made again at once.
const connect = (apiKey: string): Parley => new Parley({ url: api.proxy.url, apiKey }, { ...realEffects, wait: async () => undefined });
const failure = (asked: Promise<unknown>): Promise<ParleyError> =>
  asked.then(
    () => expect.fail('it was carried out'),
    (error: unknown) => (error instanceof ParleyError ? error : Promise.reject(error)),
  );

/** Runs after the code of the README, whose receiver listens by then. */
const DELIVERY = `
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

const body = JSON.stringify({ eventName: 'Webhook.Test' });
const at = new Date();
const signature = new Webhook(process.env.WEBHOOK_SECRET!).sign('evt_1', at, body);
const stamp = String(Math.floor(at.getTime() / 1000));
const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': stamp, 'webhook-signature': signature };
const { status } = await fetch('http://127.0.0.1:' + (receiver.address() as AddressInfo).port, { method: 'POST', headers, body });
console.log('answered', status);
receiver.close();
receiver.closeAllConnections();
`;

describe('the TypeScript client', () => {
  it('is made from what the facade serves', async () => {
    const committed = await readFile(join(repository, 'docs/reference/openapi.json'), 'utf8');
    expect(await parley.get('/openapi.json')).toEqual(JSON.parse(committed));
  });

  it('walks through the agents and their tools', async () => {
    const body: components['schemas']['AgentCreate'] = {
      agent_name: 'Typed',
      llm: { model_name: 'gpt-4o-mini', tools: [] },
      stt: { provider: 'deepgram' },
      tts: { provider: 'elevenlabs' },
      ambient_sound: 'cafe',
    };
    const agent = await parley.post('/v2/ai-agents', { body });
    const sound: string = agent.ambient_sound;
    expect(sound).toBe('cafe');
    const path = { ai_agent_id: agent.ai_agent_id };
    const one = '/v2/ai-agents/{ai_agent_id}' as const;
    const read = await parley.send('get', one, { params: { path } });
    expect([read.data, read.response.headers.get('etag')]).toEqual([agent, expect.stringMatching(/^"\d+"$/)]);
    const stale = await failure(parley.put(one, { params: { path, header: { 'If-Match': '"1"' } }, body: { welcome_message: 'Hi' } }));
    expect([stale.status, stale.code, stale.cure]).toEqual([
      412,
      'precondition_failed',
      'read the object again and send the ETag that it has now',
    ]);
    const changed = await parley.put(one, {
      params: { path, query: { force: true } },
      body: { llm: { model_temperature: 0.5 }, welcome_message: null },
    });
    expect(changed.llm.model_temperature).toBe(0.5);

    const tool = await parley.post(`${one}/custom-tools`, {
      params: { path },
      body: { function_tool: { name: 'find_order' }, additional_tool_info: { api: { endpoint: 'https://api.example.com/orders' } } },
    });
    const toolPath = { ...path, tool_id: tool.tool_id };
    expect((await parley.get(`${one}/custom-tools`, { params: { path } })).data).toHaveLength(1);
    await parley.put(`${one}/custom-tools/{tool_id}`, {
      params: { path: toolPath },
      body: { function_tool: { description: 'Finds it.' } },
    });
    expect((await parley.get(`${one}/custom-tools/{tool_id}`, { params: { path: toolPath } })).function_tool.description).toBe('Finds it.');
    await parley.delete(`${one}/custom-tools/{tool_id}`, { params: { path: toolPath } });
    const transfer = await parley.post(`${one}/builtin-tools`, {
      params: { path },
      body: { tool_name: 'transfer_call', transfer_to: '+15550100' },
    });
    expect(transfer.tool_name === 'transfer_call' && transfer.transfer_to).toBe('+15550100');
    expect((await parley.get(`${one}/builtin-tools`, { params: { path } })).data.map(({ tool_name }) => tool_name)).toEqual([
      'transfer_call',
    ]);

    expect((await parley.delete(one, { params: { path } })).message).toBe('The AI agent was deleted');
    const missing = await failure(parley.get(one, { params: { path } }));
    expect([missing.status, missing.code, missing.traceId]).toEqual([404, 'not_found', expect.stringMatching(/^[\da-f]{32}$/)]);
  });

  it('refuses at compile time what the facade refuses', async () => {
    // @ts-expect-error -- page_size is a number
    const words = await failure(parley.get('/v2/ai-agents', { params: { query: { page_size: 'many' } } }));
    expect([words.status, words.fields.map(({ field }) => field)]).toEqual([422, ['page_size']]);
    // @ts-expect-error -- stt and tts are missing
    const little = await failure(parley.post('/v2/ai-agents', { body: { agent_name: 'x', llm: { model_name: 'm' } } }));
    expect(little.fields).toEqual([
      { field: 'stt', message: 'Field required' },
      { field: 'tts', message: 'Field required' },
    ]);
    // @ts-expect-error -- there is no such path
    const nothing = await failure(parley.get('/v2/nothing', {}));
    expect(nothing.status).toBe(404);
    // @ts-expect-error -- page_size has to be given
    const some = await failure(parley.get('/v1/public/webhook/subscriptions', {}));
    expect([some.status, some.code]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('takes the requests of the reference as they are written there', async () => {
    const page = await readFile(join(repository, 'docs/reference/rest.md'), 'utf8');
    const written = '{"phone_number": "+4930555012345", "sip_termination_uri": "sip:trunk.example.com", "sip_trunk_password": "secret"}';
    expect(page).toContain(written);
    // The same body is a literal here, which has to compile without `provider`.
    const body: components['schemas']['PhoneNumberCreate'] = {
      phone_number: '+4930555012345',
      sip_termination_uri: 'sip:trunk.example.com',
      sip_trunk_password: 'secret',
    };
    expect(body).toEqual(JSON.parse(written));
    const number = await parley.post('/v1/phone-numbers', { body });
    expect(number.provider === 'sip' && number.sip_termination_uri).toBe('sip:trunk.example.com');
    // @ts-expect-error -- a carrier's number has an account
    const little = parley.post('/v1/phone-numbers', { body: { provider: 'carrier', phone_number: '+4930555012346' } });
    expect((await failure(little)).status).toBe(422);
    const path = { phone_number_id: number._id };
    await parley.patch('/v1/phone-numbers/{phone_number_id}', { params: { path }, body: { friendly_name: 'Desk' } });
    expect((await parley.get('/v1/phone-numbers')).data.map(({ friendly_name }) => friendly_name)).toEqual(['Desk']);
    await parley.delete('/v1/phone-numbers/{phone_number_id}', { params: { path } });
  });

  it('walks through the API keys', async () => {
    const key = await parley.post('/v1/api-keys', { body: { name: 'typed', permissions: ['agents:read'] } });
    const path = { key_id: key.key_id };
    expect((await connect(key.api_key).get('/v2/ai-agents')).data).toEqual([]);
    expect((await failure(connect(key.api_key).get('/v1/api-keys'))).code).toBe('forbidden');
    expect((await parley.get('/v1/api-keys')).data.map(({ name }) => name)).toContain('typed');
    expect((await parley.get('/v1/api-keys/{key_id}', { params: { path } })).revoked).toBe(false);
    expect((await parley.post('/v1/api-keys/{key_id}/revoke', { params: { path } })).revoked).toBe(true);
  });

  it('walks through the knowledge bases', async () => {
    const { id } = await parley.post('/api/v1/knowledge-bases', { body: { name: 'Manuals' } });
    const path = { kb_id: id };
    const one = '/api/v1/knowledge-bases/{kb_id}' as const;
    expect((await parley.patch(one, { params: { path }, body: { description: 'Of devices' } })).description).toBe('Of devices');
    expect((await parley.get(one, { params: { path } })).name).toBe('Manuals');
    expect((await parley.get('/api/v1/knowledge-bases')).data).toHaveLength(1);
    await parley.delete(one, { params: { path } });
  });

  it('walks through the webhooks', async () => {
    const body: components['schemas']['WebhookSubscriptionCreate'] = {
      name: 'Typed',
      url: 'https://hooks.example.com',
      enable_signed_webhooks: true,
      retry_policy: { maxRetryAttempts: 0 },
    };
    const made = await parley.post('/v1/public/webhook/subscription', { body });
    expect(made.secret).toMatch(/^whsec_/);
    const path = { subscription_id: made.id };
    const list = await parley.get('/v1/public/webhook/subscriptions', { params: { query: { page_size: 10 } } });
    expect([list.total_count, list.data[0]?.retry_policy.maxRetryAttempts]).toEqual([1, 0]);
    const one = '/v1/public/webhook/subscription/{subscription_id}' as const;
    expect((await parley.patch(one, { params: { path }, body: { active: false } })).active).toBe(false);
    const paused = await failure(parley.post(`${one}/test`, { params: { path } }));
    expect([paused.status, paused.code]).toEqual([409, 'CONFLICT']);
    expect((await parley.put(one, { params: { path }, body: { active: true } })).active).toBe(true);
    expect((await parley.get(one, { params: { path } })).active).toBe(true);
    expect((await parley.post(`${one}/rotate-secret`, { params: { path } })).secret).not.toBe(made.secret);
    expect(await parley.post(`${one}/recover`, { params: { path }, body: { since: '2026-11-21T00:00:00Z' } })).toEqual({ recovered: 0 });
    expect((await parley.get(`${one}/deliveries`, { params: { path, query: { status: 'failed' } } })).data).toEqual([]);
    expect((await parley.get('/v1/public/webhook/event-types')).data.map(({ name }) => name)).toContain('Webhook.Test');
    await parley.delete(one, { params: { path } });
  });

  it('walks through the calls', async () => {
    const body: components['schemas']['WebCallCreate'] = { ai_agent_id: 'receptionist', metadata: { ticket: 4711 } };
    const call = await parley.post('/v1/calls/create-web-call', { body });
    expect([call.call_status, call.call_type, call.media_url]).toEqual(['registered', 'web_call', mediaUrl]);
    expect((await parley.get('/v1/calls/{call_id}', { params: { path: { call_id: call._id } } })).metadata).toEqual({ ticket: 4711 });
    const early = await failure(
      parley.post('/v1/call-recording/signed-url', { body: { call_id: call._id, expiration_url_in_minutes: 1 } }),
    );
    expect(early.code).toBe('recording_not_ready');
    await api.facade.store.calls.calls.end({ org: api.org.name, id: call._id, reason: 'no_answer', events: () => [] });
    const none = await failure(parley.post('/v1/call-recording/download', { body: { call_id: call._id }, parseAs: 'arrayBuffer' }));
    expect(none.code).toBe('recording_not_found');
    expect((await parley.get('/v1/usage')).data).toEqual([]);
  });

  it('reads what needs no key', async () => {
    expect(await parley.get('/healthz', { parseAs: 'text' })).toBe('ok\n');
    expect(await parley.get('/docs', { parseAs: 'text' })).toContain('<title>API · Parley</title>');
  });

  it('walks page by page through a list', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `Page ${index}`);
    for (const name of names) await parley.post('/api/v1/knowledge-bases', { body: { name } });
    const before = api.proxy.asked.length;
    const found: string[] = [];
    for await (const { name } of parley.list('/api/v1/knowledge-bases', { params: { query: { page_size: 3 } } })) found.push(name);
    expect([found, api.proxy.asked.length - before]).toEqual([names, 3]);
  });

  it('has asked for more than 30 operations', async () => {
    expect((await api.operations()).size).toBeGreaterThan(30);
  });

  it('has as many calls as it has asked for where every third answer is lost', async () => {
    const tickets = Array.from({ length: 30 }, (_, ticket) => ticket);
    const { lost: before } = api.proxy;
    api.proxy.loseEvery(3);
    const ids: string[] = [];
    for (const ticket of tickets) {
      const { _id } = await parley.post('/v1/calls/create-web-call', {
        body: { ai_agent_id: 'receptionist', metadata: { lossy: ticket } },
      });
      ids.push(_id);
    }
    api.proxy.loseEvery(0);
    const made: string[] = [];
    for await (const { _id, metadata } of parley.list('/v1/calls')) if ('lossy' in metadata) made.unshift(_id);
    expect(made).toEqual(ids);
    expect(api.proxy.lost - before).toBeGreaterThan(10);
  });

  it('verifies a delivery, and refuses another one', async () => {
    const { id, secret = '' } = await parley.post('/v1/public/webhook/subscription', {
      body: { name: 'Verified', url: sink.url('/verified'), enable_signed_webhooks: true },
    });
    const path = { subscription_id: id };
    const { event_id } = await parley.post('/v1/public/webhook/subscription/{subscription_id}/test', { params: { path } });
    await sink.arrived('/verified', 1);
    const [delivery] = sink.received('/verified');
    if (delivery === undefined) throw new Error('nothing was delivered');
    const event = verifyWebhook(delivery.body, delivery.headers, secret);
    expect([event.traceId, event.eventName, event.organizationId]).toEqual([event_id, 'Webhook.Test', api.org.name]);
    const headers = new Headers(Object.entries(delivery.headers) as [string, string][]);
    expect(verifyWebhook(delivery.body.toString(), headers, secret)).toEqual(event);
    expect(() => verifyWebhook(`${delivery.body.toString()} `, headers, secret)).toThrow(WebhookVerificationError);
  });

  it('has a README that compiles and runs', async () => {
    const folder = join(repository, 'build/clients/typescript-readme');
    await buildTypescriptClient(folder);
    const readme = await readFile(join(folder, 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code ?? '');
    await writeFile(join(folder, 'readme.ts'), [...blocks, DELIVERY].join('\n'));
    const options = { extends: '../../../tsconfig.json', include: ['readme.ts'], exclude: [] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options));
    const compiled = await run(join(repository, 'node_modules/.bin/tsc'), ['-p', folder]);
    expect(compiled.stdout).toBe('');
    const { code, stdout, stderr } = await run(process.execPath, [join(folder, 'readme.ts')], {
      env: { ...api.env, WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', PORT: '0' },
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.split('\n')).toEqual([
      'made Receptionist',
      'found Receptionist',
      'refused: 422 validation_failed max_call_duration_seconds',
      'Manuals: in use soon',
      'healthy: ok',
      '',
      'received Webhook.Test',
      'answered 204',
      '',
    ]);
  });
});
