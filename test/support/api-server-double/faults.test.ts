import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { KubeError } from '../../../kube/error.ts';
import { ResourceClient } from '../../../kube/resource-client.ts';
import { createTransport, type Transport } from '../../../kube/transport.ts';
import type { KubeObject } from '../../../kube/types.ts';
import type { WatchEvent } from '../../../kube/watch-stream.ts';
import { startApiServerDouble, type ApiServerDouble, type ApiServerDoubleOptions } from './index.ts';

const descriptor = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };

let double: ApiServerDouble;
let transport: Transport;
let configMaps: ResourceClient<KubeObject>;

async function start(options: ApiServerDoubleOptions = {}): Promise<void> {
  double = await startApiServerDouble(options);
  transport = createTransport({ kubeConfig: double.kubeConfig });
  configMaps = new ResourceClient<KubeObject>({ transport, descriptor, fieldManager: 'test' });
}
beforeEach(() => start());
afterEach(async () => {
  await transport.close();
  await double.stop();
});

const named = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });

/** What a watch from the beginning says until it has said `count` things, or ends. */
async function watched(count: number, during: () => Promise<void> | void, from = '1'): Promise<readonly string[]> {
  const said: string[] = [];
  try {
    const watch = await configMaps.watch({ namespace: 'default', resourceVersion: from, timeoutSeconds: 60 });
    await during();
    for await (const event of watch) {
      said.push(describeEvent(event));
      if (said.length === count) break;
    }
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    said.push(`${error.code} ${error.reason}`);
  }
  return said;
}

function describeEvent(event: WatchEvent<KubeObject>): string {
  return event.type === 'BOOKMARK' ? `BOOKMARK ${event.initialEventsEnd}` : `${event.type} ${event.object.metadata.name}`;
}

const both = (): void => double.seed(descriptor, [named('a'), named('b')]);

describe('a watch', () => {
  it.each([
    ['duplicate', { kind: 'duplicate' }, ['ADDED a', 'ADDED a', 'ADDED b']],
    ['reorder', { kind: 'reorder' }, ['ADDED b', 'ADDED a']],
    ['delay', { kind: 'delay', ms: 30, onEvent: true }, ['ADDED a', 'ADDED b']],
    ['reset', { kind: 'reset', onEvent: true }, ['0 Unreachable']],
    ['half-write', { kind: 'half-write', onEvent: true }, ['0 Unreachable']],
    ['error-event', { kind: 'error-event', code: 410, reason: 'Expired' }, ['410 Expired']],
    ['refusal', { kind: 'status', code: 403, reason: 'Forbidden', match: { watch: true } }, ['403 Forbidden']],
  ] as const)('with a %s', async (_, fault, expected) => {
    double.faults.next(fault);
    expect(await watched(expected.length, both)).toEqual(expected);
    expect(double.faults.left).toBe(0);
  });

  it('from before a compaction is told so in the stream', async () => {
    both();
    double.compact();
    expect(await watched(1, () => undefined)).toEqual(['410 Expired']);
  });

  it('gets bookmarks, an end and a broken connection on demand', async () => {
    expect(await watched(1, () => double.bookmark())).toEqual(['BOOKMARK false']);
    expect(await watched(1, () => double.endWatches())).toEqual([]);
    expect(await watched(1, () => double.resetConnections())).toEqual(['0 Unreachable']);
  });

  it('with initial events is refused in the stream by an old etcd', async () => {
    await transport.close();
    await double.stop();
    await start({ watchList: false });
    const watch = await configMaps.watch({ sendInitialEvents: true });
    await expect(async () => {
      for await (const event of watch) void event;
    }).rejects.toMatchObject({ code: 500, message: expect.stringContaining('RequestWatchProgress') });
  });
});

it('pages from before a compaction have expired', async () => {
  double.seed(descriptor, [named('a'), named('b')]);
  const page = await configMaps.list({ limit: 1 });
  double.compact();
  await expect(configMaps.list({ limit: 1, continue: page.continue as string })).rejects.toMatchObject({
    code: 410,
    reason: 'Expired',
    expired: true,
  });
});

it('faults meet the requests that they are for, as often as planned', async () => {
  double.faults.next({ kind: 'status', code: 422, match: { method: 'PATCH', path: /\/configmaps\/b$/ }, times: 2 });
  await configMaps.apply(named('a'));
  for (let count = 0; count < 2; count++) await expect(configMaps.apply(named('b'))).rejects.toMatchObject({ code: 422 });
  await configMaps.apply(named('b'));
  expect(double.requests.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)).toEqual([
    'PATCH a',
    'PATCH b',
    'PATCH b',
    'PATCH b',
  ]);
});

it('a removed namespace takes along what is in it', async () => {
  double.seed(descriptor, [{ ...named('a'), metadata: { name: 'a', namespace: 'team' } }]);
  const namespaces = new ResourceClient<KubeObject>({
    transport,
    descriptor: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
    fieldManager: 'test',
  });
  await namespaces.delete({ name: 'team' });
  expect(double.objects(descriptor)).toEqual([]);
});
