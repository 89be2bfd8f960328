import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubeConfig } from '@kubernetes/client-node';
import { Registry } from 'prom-client';

import { buildApi } from '../../../api/app.ts';
import { createTransport } from '../../../kube/index.ts';
import { systemClock } from '../../../platform/clock.ts';
import { Readiness } from '../../../platform/lifecycle.ts';
import { createLogger } from '../../../platform/logging.ts';
import { openStore } from '../../../store/index.ts';
import { anAgentRequest } from '../../support/builders.ts';
import { organization, startFacade, type Facade, type TestOrganization } from './facade.ts';

let facade: Facade;
let org: TestOrganization;
/** A port where nobody listens: it was free a moment ago. */
let deadPort: number;

beforeAll(async () => {
  facade = await startFacade();
  org = await organization(facade);
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  deadPort = (server.address() as AddressInfo).port;
  await new Promise((resolve) => server.close(resolve));
});
afterAll(() => facade.close());

function build(options: { readonly databaseUrl?: string; readonly kubeServer?: string }) {
  const logger = createLogger({ role: 'api', level: 'silent' });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser(
    { name: 'c', server: options.kubeServer ?? facade.transport.server, skipTLSVerify: true },
    { name: 'u' },
  );
  const transport = createTransport({ kubeConfig });
  const store = openStore({ databaseUrl: options.databaseUrl ?? facade.database.url, logger });
  const app = buildApi({
    store,
    transport,
    logger,
    registry: new Registry(),
    readiness: new Readiness(),
    clock: systemClock,
    random: Math.random,
    pageTokenKey: new Uint8Array(32),
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
    const { app, close } = build({ databaseUrl: `postgres://nobody@127.0.0.1:${deadPort}/none` });
    for (const url of ['/v2/ai-agents', '/v1/api-keys', '/v2/ai-agents/x']) {
      const answer = await app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${org.key}` } });
      expect(answer.statusCode).toBe(503);
      expect(answer.json()).toEqual({ error: 'unavailable', message: expect.any(String) });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    await close();
  });
});
