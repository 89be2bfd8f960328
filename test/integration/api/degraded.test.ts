import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';

import { beforeAll, describe, expect, it } from 'vitest';
import { KubeConfig } from '@kubernetes/client-node';
import { Registry } from 'prom-client';

import { buildApi } from '../../../api/app.ts';
import { DATABASE_TIMEOUTS } from '../../../api/main.ts';
import { createTransport } from '../../../kube/index.ts';
import { systemClock } from '../../../platform/clock.ts';
import { Readiness } from '../../../platform/lifecycle.ts';
import { createLogger } from '../../../platform/logging.ts';
import { openStore } from '../../../store/index.ts';
import { anAgentRequest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { noCalls } from '../../support/no-calls.ts';
import { noKnowledge } from '../../support/no-knowledge.ts';
import { unlimited } from '../../support/limits.ts';
import { openPatientStore } from '../../support/postgres.ts';
import { testSigning } from '../../support/signing.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startProxyOf } from '../../support/tcp-proxy.ts';
import { localAddresses, organization, startFacade, startProxiedFacade, type RestAnswer } from './facade.ts';

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));
/** A port without a listener: it was free a moment ago. */
let deadPort: number;

beforeAll(async () => {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  deadPort = (server.address() as AddressInfo).port;
  await new Promise((resolve) => server.close(resolve));
});

function build(options: { readonly databaseUrl?: string; readonly kubeServer?: string }) {
  const logger = createLogger({ role: 'api', level: 'silent' });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser(
    { name: 'c', server: options.kubeServer ?? facade.transport.server, skipTLSVerify: true },
    { name: 'u' },
  );
  const transport = createTransport({ kubeConfig });
  const store =
    options.databaseUrl === undefined
      ? openPatientStore(facade.database.url, { logger })
      : openStore({ databaseUrl: options.databaseUrl, logger, ...DATABASE_TIMEOUTS });
  const app = buildApi({
    store,
    transport,
    logger,
    registry: new Registry(),
    readiness: new Readiness(),
    clock: systemClock,
    random: Math.random,
    signing: testSigning(),
    limits: unlimited,
    knowledge: noKnowledge,
    addresses: localAddresses,
    calls: noCalls,
    explain: () => Promise.resolve(undefined),
    mcp: true,
  });
  const close = async (): Promise<void> => {
    await app.close();
    await transport.close();
    await store.close();
  };
  return { app, close };
}

describe('with a server behind the facade away', () => {
  it('the API server: 503 with Retry-After for what needs it, and API keys go on', async () => {
    const { app, close } = build({ kubeServer: `https://127.0.0.1:${deadPort}` });
    const headers = { authorization: `Bearer ${org.key}` };
    for (const [method, url, payload] of [
      ['GET', '/v2/ai-agents/agent-x', undefined],
      ['PUT', '/v2/ai-agents/agent-x', {}],
      ['DELETE', '/v2/ai-agents/agent-x', undefined],
      ['POST', '/v2/ai-agents', anAgentRequest('x')],
    ] as const) {
      const answer = await app.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
      expect(answer.statusCode, `${method} ${url}`).toBe(503);
      expect(answer.json()).toEqual({ error: 'unavailable', message: expect.any(String) });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect((await app.inject({ method: 'GET', url: '/v1/api-keys', headers })).statusCode).toBe(200);
    expect((await app.inject({ method: 'GET', url: '/readyz' })).statusCode).toBe(503);
    expect((await app.inject({ method: 'GET', url: '/healthz' })).statusCode).toBe(200);
    await close();
  });

  it('an API server that grants nothing, as one does that is coming up: 503 with Retry-After', async () => {
    const { app, close } = build({});
    const headers = { authorization: `Bearer ${org.key}` };
    for (const method of ['GET', 'DELETE'] as const) {
      const answer = await app.inject({ method, url: '/v2/ai-agents/agent-x', headers });
      expect(answer.statusCode, answer.body).toBe(503);
      expect(answer.json()).toMatchObject({ error: 'unavailable' });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    await close();
  });

  it('Postgres: 503 for everything that needs a key', async () => {
    const { app, close } = build({ databaseUrl: `postgres://absent@127.0.0.1:${deadPort}/none` });
    for (const url of ['/v2/ai-agents', '/v1/api-keys', '/v2/ai-agents/x']) {
      const answer = await app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${org.key}` } });
      expect(answer.statusCode).toBe(503);
      expect(answer.json()).toEqual({ error: 'unavailable', message: expect.any(String) });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    await close();
  });
});

const age = (answer: RestAnswer): number => Number(answer.headers.get('age') ?? Number.NaN);

describe.each(['cut', 'stall'] as const)('when the API server goes away (%s)', (how) => {
  it('reads come from the cache with their age, writes are refused, keys are checked, and all comes back by itself', async () => {
    const { behind, proxy } = await startProxiedFacade(facade);
    const ask = (method: string, path: string, body?: unknown, key = org.key): Promise<RestAnswer> =>
      behind.call(method, path, { key, ...(body !== undefined && { body }) });
    const request = anAgentRequest('Degraded', { llm: { model_name: 'm', api_key: 'secret', system_prompt: 'p'.repeat(5000) } });
    const { body: agent } = await ask('POST', '/v2/ai-agents', request);
    const path = `/v2/ai-agents/${agent.ai_agent_id}`;
    const call = { tool_name: 'transfer_call', transfer_to: '+15550100' };
    const { body: tool } = await ask('POST', `${path}/builtin-tools`, call);
    const phoneNumber = `+1${randomInt(1e12, 1e13)}`;
    const { body: number } = await ask('POST', '/v1/phone-numbers', { phone_number: phoneNumber, sip_trunk_password: 'p' });
    const lookup = { endpoint: 'https://x', headers: { Authorization: 'custom secret' } };
    const { body: custom } = await ask('POST', `${path}/custom-tools`, {
      function_tool: { name: 'f' },
      additional_tool_info: { api: lookup },
    });
    const mail = { tool_name: 'send_email', from_email: 'a@b', app_password: 'mail secret' };
    const { body: mailer } = await ask('POST', `${path}/builtin-tools`, mail);
    const others = [
      [`${path}/builtin-tools/${tool.tool_id}`, tool],
      [`/v1/phone-numbers/${number._id}`, number],
      [`${path}/custom-tools/${custom.tool_id}`, custom],
      [`${path}/builtin-tools/${mailer.tool_id}`, mailer],
    ] as const;
    const spy = await org.keyWith('tools:read', 'phone_numbers:read', 'secrets:read');
    const asSpy = async () => Promise.all(others.map(async ([url]) => (await ask('GET', url, undefined, spy)).body));
    const inClear = await asSpy();
    expect(inClear).toEqual([
      tool,
      { ...number, sip_trunk_password: 'p' },
      { ...custom, additional_tool_info: { ...custom.additional_tool_info, api: { ...custom.additional_tool_info.api, ...lookup } } },
      { ...mailer, app_password: 'mail secret' },
    ]);
    const before = await ask('GET', path);
    expect([before.status, before.headers.get('age')]).toEqual([200, null]);
    // Every long prompt of the organisation has been read once.
    await eventually(async () => expect((await ask('GET', '/v2/ai-agents?page_size=100')).status).toBe(200));
    const reader = await org.keyWith('agents:read', 'secrets:read');
    expect((await ask('GET', path, undefined, reader)).body.llm.api_key).toBe('secret');
    const { body: doomed } = await ask('POST', '/v1/api-keys', { name: 'doomed', permissions: ['agents:read'] });
    expect((await ask('GET', path, undefined, doomed.api_key)).status).toBe(200);
    // Once a list shows what was written it is in the cache.
    for (const [url, object] of others) {
      const list = await ask('GET', `${url.slice(0, url.lastIndexOf('/'))}?page_size=100`);
      expect(list.body.data).toContainEqual(object);
    }

    proxy[how]();
    await eventually(async () => expect(age(await ask('GET', path))).toBeGreaterThanOrEqual(1));
    const during = await ask('GET', path);
    expect([during.status, during.text, during.headers.get('etag')]).toEqual([200, before.text, before.headers.get('etag')]);
    const list = await ask('GET', '/v2/ai-agents?page_size=100');
    expect(list.status).toBe(200);
    expect(age(list)).toBeGreaterThanOrEqual(1);
    expect(list.body.data).toContainEqual(before.body);
    for (const [url, object] of others) {
      const one = await ask('GET', url);
      expect([one.status, one.body, age(one)]).toEqual([200, object, expect.any(Number)]);
      const all = await ask('GET', `${url.slice(0, url.lastIndexOf('/'))}?page_size=100`);
      expect([all.status, age(all)]).toEqual([200, expect.any(Number)]);
      expect(all.body.data).toContainEqual(object);
      expect((await ask('DELETE', url)).status).toBe(503);
    }
    // Secrets are kept nowhere: they are masked while they can't be read.
    expect(await asSpy()).toEqual(others.map(([, object]) => object));
    expect((await ask('GET', '/v1/phone-numbers/pn-aaaaaaaaaaaaaaaa')).status).toBe(404);
    expect((await ask('GET', `${path}/custom-tools/${mailer.tool_id}`)).status).toBe(404);
    expect((await ask('GET', path, undefined, reader)).body.llm.api_key).toBe('********');
    expect((await ask('GET', '/v2/ai-agents/agent-aaaaaaaaaaaaaaaa')).status).toBe(404);
    for (const [method, url, body] of [
      ['POST', '/v2/ai-agents', anAgentRequest('x')],
      ['PUT', path, { agent_name: 'y' }],
      ['DELETE', path],
      ['POST', `${path}/builtin-tools`, { tool_name: 'book_calendar', event_type_id: 1, cal_api_key: 'k' }],
      ['PUT', others[0][0], call],
      ['PUT', others[2][0], { function_tool: { name: 'g' } }],
      ['PUT', path, { llm: { tools: [{ tool_id: custom.tool_id }] } }],
      ['POST', `${path}/custom-tools?dry_run=true`, { function_tool: { name: 'g' }, additional_tool_info: { api: lookup } }],
      ['POST', '/v1/phone-numbers', { phone_number: '+1999' }],
      ['PATCH', others[1][0], { friendly_name: 'x' }],
    ] as const) {
      const answer = await ask(method, url, body);
      expect(answer.status, method).toBe(503);
      expect(answer.body).toEqual({ error: 'unavailable', message: expect.any(String) });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    // Another replica revokes: this one hears of it.
    await facade.store.apiKeys.revoke({ org: org.name, keyId: doomed.key_id });
    await eventually(async () => expect((await ask('GET', path, undefined, doomed.api_key)).status).toBe(401));
    expect((await behind.call('GET', '/readyz')).status).toBe(200);

    proxy.restore();
    await eventually(async () => expect((await ask('PUT', path, { agent_name: 'Back' })).status).toBe(200));
    await eventually(async () => {
      const back = await ask('GET', '/v2/ai-agents?page_size=100');
      expect([back.status, back.headers.get('age')]).toEqual([200, null]);
      expect(back.body.data.find((each: { ai_agent_id: string }) => each.ai_agent_id === agent.ai_agent_id).agent_name).toBe('Back');
    });
    expect((await ask('GET', path, undefined, reader)).body.llm.api_key).toBe('secret');
    expect(await asSpy()).toEqual(inClear);
    await behind.close();
  });
});

describe.each(['cut', 'stall'] as const)('when Postgres goes away (%s)', (how) => {
  it('everything that needs a key is a clear 503, and comes back by itself', async () => {
    const url = new URL(facade.database.url);
    const proxy = await startProxyOf(url.href);
    url.port = String(proxy.port);
    const { app, close } = build({ databaseUrl: url.href, kubeServer: `https://127.0.0.1:${deadPort}` });
    const ask = async () => app.inject({ method: 'GET', url: '/v1/api-keys', headers: { authorization: `Bearer ${org.key}` } });
    await eventually(async () => expect((await ask()).statusCode).toBe(200));
    proxy[how]();
    const answers = await Promise.all(Array.from({ length: 30 }, ask));
    for (const answer of answers) {
      expect(answer.statusCode).toBe(503);
      expect(answer.json()).toEqual({ error: 'unavailable', message: expect.any(String) });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    proxy.restore();
    await eventually(async () => expect((await ask()).statusCode).toBe(200));
    await close();
    await proxy.close();
  });
});
