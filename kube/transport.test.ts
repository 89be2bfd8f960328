import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { KubeError } from './error.ts';
import { ResourceClient } from './resource-client.ts';
import { FakeClock } from '../test/support/fake-clock.ts';
import { startFaultProxy, type FaultAnswer, type FaultProxy } from '../test/support/fault-proxy/fault-proxy.ts';
import { testFolder } from '../test/support/folders.ts';
import { createTransport, loadKubeConfig, type Transport, type TransportOptions } from './transport.ts';
import type { KubeObject } from './types.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const descriptor = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const ref = { namespace: 'default', name: 'a' };
const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: ref, data: { key: 'value' } };

/** A server that holds one object, and stores what it is sent for as long as the answer takes. */
const answer: FaultAnswer = ({ method, path, watch, authorization, body }) => {
  if (token !== undefined && authorization !== `Bearer ${token}`) {
    return { code: 401, body: { kind: 'Status', code: 401, reason: 'Unauthorized', message: 'Unauthorized' } };
  }
  if (watch) return undefined;
  if (method !== 'GET') return { body: body as object };
  return path.endsWith('/a') ? { body: object } : undefined;
};

/** The Bearer token that the server asks for. */
let token: string | undefined;
let server: FaultProxy;
const opened: Transport[] = [];

beforeEach(async () => {
  token = undefined;
  server = await startFaultProxy(answer);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((transport) => transport.close()));
  await server.stop();
});

/** A client that remembers its waits between attempts instead of waiting, and never times out, unless `options` bring a clock. */
function connect(options: Partial<TransportOptions> = {}): {
  readonly transport: Transport;
  readonly configMaps: ResourceClient<ConfigMap>;
  readonly waits: number[];
} {
  const waits: number[] = [];
  const clock = {
    now: () => Date.UTC(2026, 0, 1),
    monotonic: () => 0,
    after(ms: number, callback: () => void) {
      if (ms === 30_000) return { cancel: () => undefined };
      waits.push(ms);
      const handle = setImmediate(callback);
      return { cancel: () => clearImmediate(handle) };
    },
  };
  const transport = createTransport({ kubeConfig: server.kubeConfig, clock, random: () => 0, ...options });
  opened.push(transport);
  return { transport, configMaps: new ResourceClient<ConfigMap>({ transport, descriptor, fieldManager: 'test' }), waits };
}

async function failureOf(request: Promise<unknown>): Promise<KubeError> {
  const error = await request.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(KubeError);
  return error as KubeError;
}

describe('retries', () => {
  it('waits as long as a 429 asks for, for any request', async () => {
    const { configMaps, waits } = connect();
    server.faults.next({ kind: 'status', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 2, times: 2 });
    await configMaps.create({ ...object, metadata: { ...ref, name: 'b' } });
    expect(waits).toEqual([2000, 2000]);
    expect(server.requests.filter((request) => request.method === 'POST')).toHaveLength(3);
  });

  it('gives up after five attempts, with the last answer', async () => {
    const { configMaps, waits } = connect();
    server.faults.next({ kind: 'status', code: 429, retryAfterSeconds: 1, times: 99 });
    expect(await failureOf(configMaps.get(ref))).toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      retryAfterMs: 1000,
      retryable: true,
    });
    expect(server.requests).toHaveLength(5);
    expect(waits).toHaveLength(4);
  });

  it('leaves a long wait to the caller', async () => {
    const { configMaps, waits } = connect();
    server.faults.next({ kind: 'status', code: 429, retryAfterSeconds: 600 });
    expect(await failureOf(configMaps.get(ref))).toMatchObject({ code: 429, retryAfterMs: 600_000 });
    expect(waits).toEqual([]);
  });

  it.each([
    ['get', (configMaps: ResourceClient<ConfigMap>) => configMaps.get(ref), true],
    ['apply', (configMaps) => configMaps.apply(object), true],
    ['delete with a precondition', (configMaps) => configMaps.delete(ref, { uid: 'x' }), true],
    ['delete', (configMaps) => configMaps.delete(ref), false],
    ['create', (configMaps) => configMaps.create({ ...object, metadata: { ...ref, name: 'b' } }), false],
    ['update', (configMaps) => configMaps.update(object), false],
  ] satisfies [string, (configMaps: ResourceClient<ConfigMap>) => Promise<unknown>, boolean][])(
    'after a 503: %s',
    async (_, send, again) => {
      const { configMaps } = connect();
      server.faults.next({ kind: 'status', code: 503, retryAfterSeconds: 1 });
      await send(configMaps).catch(() => undefined);
      expect(server.requests).toHaveLength(again ? 2 : 1);
    },
  );

  it('sends an idempotent request again when its connection breaks, once, and no other', async () => {
    const { configMaps } = connect();
    for (const kind of ['reset', 'drop', 'half-write'] as const) {
      server.faults.next({ kind, match: { method: 'PATCH' } });
      expect((await configMaps.apply(object, { force: true })).data).toEqual({ key: 'value' });
      server.faults.next({ kind, match: { method: 'POST' } });
      expect(await failureOf(configMaps.create({ ...object, metadata: { ...ref, name: kind } }))).toMatchObject({
        code: 0,
        reason: 'Unreachable',
        retryable: true,
      });
    }
    expect(server.requests.filter((request) => request.method === 'POST')).toHaveLength(3);
    server.faults.next({ kind: 'reset', times: 2 });
    expect((await failureOf(configMaps.get(ref))).reason).toBe('Unreachable');
  });

  it('does not retry what would fail again', async () => {
    const { configMaps } = connect();
    for (const code of [400, 403, 409, 422, 500]) {
      server.faults.next({ kind: 'status', code });
      expect((await failureOf(configMaps.get(ref))).code).toBe(code);
    }
    expect(server.requests).toHaveLength(5);
  });
});

describe('time', () => {
  const unanswered = { kind: 'hold', until: new Promise(() => undefined) } as const;

  it('ends a request after its timeout, retries included', async () => {
    const clock = new FakeClock();
    const { configMaps } = connect({ clock });
    server.faults.next(unanswered);
    const late = failureOf(configMaps.get(ref, { timeoutMs: 50 }));
    await expect.poll(() => server.requests).toHaveLength(1);
    clock.tick(50);
    expect(await late).toMatchObject({ code: 0, reason: 'Timeout', retryable: true });
    server.faults.next({ kind: 'status', code: 429, retryAfterSeconds: 2 });
    expect(await failureOf(configMaps.get(ref, { timeoutMs: 100 }))).toMatchObject({ code: 429 });
  });

  it('ends a request with its signal: before, during and between attempts', async () => {
    const clock = new FakeClock();
    const { configMaps } = connect({ clock });
    expect(await failureOf(configMaps.get(ref, { signal: AbortSignal.abort() }))).toMatchObject({
      reason: 'Aborted',
      aborted: true,
      retryable: false,
    });
    expect(server.requests).toHaveLength(0);
    const during = new AbortController();
    server.faults.next(unanswered);
    const first = failureOf(configMaps.get(ref, { signal: during.signal }));
    await expect.poll(() => server.requests).toHaveLength(1);
    during.abort();
    expect(await first).toMatchObject({ reason: 'Aborted' });
    const between = new AbortController();
    server.faults.next({ kind: 'status', code: 429, retryAfterSeconds: 9 });
    const second = failureOf(configMaps.get(ref, { signal: between.signal }));
    await expect.poll(() => clock.nextIn).toBe(9_000);
    between.abort();
    expect(await second).toMatchObject({ reason: 'Aborted' });
  });

  it('leaves a signal without listeners', async () => {
    const { configMaps } = connect();
    const controller = new AbortController();
    let listeners = 0;
    const add = controller.signal.addEventListener.bind(controller.signal);
    const remove = controller.signal.removeEventListener.bind(controller.signal);
    controller.signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
    controller.signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args));
    for (let count = 0; count < 5; count++) await configMaps.get(ref, { signal: controller.signal });
    expect(listeners).toBe(0);
  });
});

describe('connections', () => {
  it('answers requests while any number of watches is open', async () => {
    const { configMaps } = connect();
    const watches = await Promise.all(Array.from({ length: 40 }, () => configMaps.watch({ namespace: 'default' })));
    expect(server.watches).toBe(40);
    expect((await configMaps.get(ref)).data).toEqual(object.data);
    for (const watch of watches) watch.destroy();
  });

  it('says that the connection of a watch broke', async () => {
    const { configMaps } = connect();
    const watch = await configMaps.watch({ namespace: 'default', resourceVersion: '1' });
    const ended = failureOf(watch[Symbol.asyncIterator]().next());
    server.breakWatches();
    expect(await ended).toMatchObject({ code: 0, reason: 'Unreachable' });
  });

  it('says where nothing listens', async () => {
    const { configMaps } = connect();
    const address = server.server;
    await server.stop();
    const error = await failureOf(configMaps.get(ref));
    expect(error).toMatchObject({ code: 0, reason: 'Unreachable' });
    expect(error.message).toContain(address);
  });

  it('refuses requests after close, and ends watches', async () => {
    const { transport, configMaps } = connect();
    const watch = await configMaps.watch({ namespace: 'default', resourceVersion: '1' });
    const ended = failureOf(
      (async () => {
        for await (const event of watch) void event;
      })(),
    );
    await transport.close();
    expect((await ended).code).toBe(0);
    expect(await failureOf(configMaps.get(ref))).toMatchObject({ reason: 'Aborted' });
  });
});

const withFile = async (run: (folder: string) => Promise<void>): Promise<void> => {
  const folder = testFolder();
  await run(folder);
};

const kubeconfig = (user: object): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: server.server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });

describe('credentials', () => {
  it('reads a token file again after a 401, once', () =>
    withFile(async (folder) => {
      token = 'old';
      writeFileSync(join(folder, 'token'), 'old\n');
      writeFileSync(join(folder, 'config'), kubeconfig({ tokenFile: 'token' }));
      const { configMaps } = connect({ kubeConfig: loadKubeConfig({ path: join(folder, 'config') }) });
      await configMaps.get(ref);
      token = 'new';
      expect(await failureOf(configMaps.get(ref))).toMatchObject({ code: 401, reason: 'Unauthorized', retryable: false });
      expect(server.requests).toHaveLength(3);
      writeFileSync(join(folder, 'token'), 'new\n');
      expect((await configMaps.create({ ...object, metadata: { ...ref, name: 'b' } })).data).toEqual(object.data);
    }));

  it('runs an exec plugin, again after a 401', () =>
    withFile(async (folder) => {
      token = 'from-plugin';
      const script = `process.stdout.write(JSON.stringify({ kind: 'ExecCredential', status: { token: require('node:fs').readFileSync(${JSON.stringify(join(folder, 'token'))}, 'utf8') } }))`;
      writeFileSync(join(folder, 'token'), 'stale');
      writeFileSync(
        join(folder, 'config'),
        kubeconfig({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: ['-e', script] } }),
      );
      const { configMaps } = connect({ kubeConfig: loadKubeConfig({ path: join(folder, 'config') }) });
      expect((await failureOf(configMaps.get(ref))).code).toBe(401);
      writeFileSync(join(folder, 'token'), 'from-plugin');
      expect((await configMaps.get(ref)).data).toEqual(object.data);
    }));

  it('says what is wrong with a plugin or a kubeconfig', () =>
    withFile(async (folder) => {
      writeFileSync(
        join(folder, 'config'),
        kubeconfig({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command: join(folder, 'missing') } }),
      );
      const { configMaps } = connect({ kubeConfig: loadKubeConfig({ path: join(folder, 'config') }) });
      const error = await failureOf(configMaps.get(ref));
      expect(error).toMatchObject({ code: 401, reason: 'Unauthorized' });
      expect(error.message).toContain('missing');
      expect(() => loadKubeConfig({ path: join(folder, 'nowhere') })).toThrow(/nowhere/);
      writeFileSync(join(folder, 'empty'), '{}');
      expect(() => loadKubeConfig({ path: join(folder, 'empty') })).toThrow(KubeError);
    }));
});

it("counts and times requests under client-go's names", async () => {
  const registry = new Registry();
  const { configMaps } = connect({ registry });
  const again = connect({ registry });
  await configMaps.get(ref);
  await again.configMaps.get(ref);
  await failureOf(configMaps.get({ ...ref, name: 'nowhere' }));
  server.faults.next({ kind: 'reset', times: 2 });
  await failureOf(configMaps.get(ref));
  const text = await registry.metrics();
  const host = new URL(server.server).host;
  expect(text).toContain(`rest_client_requests_total{code="200",method="GET",host="${host}"} 2`);
  expect(text).toContain(`rest_client_requests_total{code="404",method="GET",host="${host}"} 1`);
  expect(text).toContain(`rest_client_requests_total{code="<error>",method="GET",host="${host}"} 2`);
  expect(text).toContain(`rest_client_request_duration_seconds_count{verb="GET",host="${host}"} 5`);
});
