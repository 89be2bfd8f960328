import { Registry } from 'prom-client';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { ConfigMap } from '../../../api/resources/core-clients.ts';
import {
  createInformer,
  createTransport,
  ResourceClient,
  type Change,
  type Informer,
  type InformerOptions,
  type Stored,
} from '../../../kube/index.ts';
import { createLogger } from '../../../platform/logging.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { startFaultProxy } from '../../support/fault-proxy/fault-proxy.ts';
import type { SeenRequest } from '../../support/fault-proxy/faults.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { configMap, configMaps, secrets } from './built-in.ts';

describe('createInformer', () => {
  const proxy = suiteFixture(async () => startFaultProxy((await controlPlane()).kubeconfig));
  const transport = suiteFixture(() => createTransport({ kubeConfig: proxy.kubeConfig }));
  let namespace: string;
  let client: ResourceClient<ConfigMap>;
  const lines: string[] = [];
  const informers: Informer<ConfigMap>[] = [];

  const informer = (options: Partial<InformerOptions<ConfigMap>> = {}): Informer<ConfigMap> => {
    const logger = createLogger({ role: 'test', level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
    // Without chance in it a Backoff would still be 0.8 s; these tests are about what happens, not when.
    const made = createInformer<ConfigMap>({ client, namespace, logger, random: () => 0.999, ...options });
    informers.push(made);
    return made;
  };
  const names = (from: Informer<ConfigMap>): string[] =>
    from.cache
      .list()
      .map((object) => object.metadata.name)
      .sort();
  const follow = (from: Informer<ConfigMap>): string[] => {
    const log: string[] = [];
    from.onChange(
      (change: Change<Stored<ConfigMap>>) =>
        void log.push(`${change.initial ? 'initial ' : ''}${change.type} ${change.object.metadata.name}`),
    );
    return log;
  };

  const key = (name: string): string => `${namespace}/${name}`;
  const put = (name: string, value = '1'): Promise<Stored<ConfigMap>> => client.apply(configMap(namespace, name, value));

  beforeAll(async () => {
    client = new ResourceClient<ConfigMap>({ transport, descriptor: configMaps, fieldManager: 'test' });
  });
  beforeEach(async () => {
    namespace = await organizationNamespace('informer');
    lines.length = 0;
  });
  afterEach(async () => {
    await Promise.all(informers.splice(0).map((each) => each.stop()));
    proxy.faults.clear();
  });

  it('lists what exists, follows changes, and reads its own writes', async () => {
    await put('a');
    await put('b');
    const informed = informer();
    const log = follow(informed);
    expect([informed.cache.synced, informed.lastContact()]).toEqual([false, Infinity]);
    informed.start();
    informed.start();
    await informed.synced();
    expect(log).toEqual(['initial added a', 'initial added b']);
    const written = await put('a', '2');
    await informed.cache.waitFor(written.metadata.resourceVersion);
    expect(informed.cache.get(key('a'))?.data).toEqual({ value: '2' });
    await client.delete({ namespace, name: 'b' });
    await eventually(() => expect(log.slice(2)).toEqual(['modified a', 'deleted b']));
    expect(informed.lastContact()).toBeLessThan(Infinity);
    expect(informed.state).toBe('watching');
  });

  it('drops bookkeeping by default and keeps what its own transform keeps', async () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', kept: 'yes' };
    const bare = configMap(namespace, 'a', '1');
    await client.apply({ ...bare, metadata: { ...bare.metadata, annotations } });
    const [plain, whole] = [informer(), informer({ transform: (object) => object })];
    for (const each of [plain, whole]) {
      each.start();
      await each.synced();
    }
    expect(plain.cache.get(key('a'))?.metadata.annotations).toEqual({ kept: 'yes' });
    expect(plain.cache.get(key('a'))?.metadata.managedFields).toBeUndefined();
    expect(whole.cache.get(key('a'))?.metadata.managedFields).toHaveLength(1);
    expect(whole.cache.get(key('a'))?.metadata.annotations).toEqual(annotations);
  });

  it('goes on when a listener throws, with the others and with that one', async () => {
    const informed = informer();
    const calls: string[] = [];
    informed.onChange((change) => {
      calls.push(change.object.metadata.name);
      throw new Error('broken listener');
    });
    const log = follow(informed);
    informed.start();
    await informed.synced();
    await put('a');
    await put('b');
    await eventually(() => expect(log).toEqual(['added a', 'added b']));
    expect(calls).toEqual(['a', 'b']);
    expect(lines.filter((line) => line.includes('broken listener') && line.includes(key('a')))).toHaveLength(1);
  });

  it('replays the cache to a late listener, and calls a removed one no more', async () => {
    await put('a');
    const informed = informer();
    informed.start();
    await informed.synced();
    const log: string[] = [];
    const leave = informed.onChange((change) => void log.push(`${change.type} ${change.initial}`));
    expect(log).toEqual(['added true']);
    leave();
    const other = follow(informed);
    await put('b');
    await eventually(() => expect(other).toContain('added b'));
    expect(log).toEqual(['added true']);
  });

  it('serves one namespace and one selection', async () => {
    const labelled = async (name: string, team: string, inNamespace = namespace): Promise<void> => {
      const object = configMap(inNamespace, name, '1');
      await client.apply({ ...object, metadata: { ...object.metadata, labels: { team } } });
    };
    await labelled('mine', 'x');
    await labelled('other-team', 'y');
    await labelled('other-place', 'x', await organizationNamespace('informer'));
    const informed = informer({ labelSelector: 'team=x', indexes: { team: (object) => [object.metadata.labels?.['team'] ?? ''] } });
    informed.start();
    await informed.synced();
    expect(names(informed)).toEqual(['mine']);
    expect(informed.cache.byIndex('team', 'x').map(({ metadata }) => metadata.name)).toEqual(['mine']);
  });

  it('lists many objects, by WatchList or by pages, and notices one among them', async () => {
    const count = 550;
    for (let from = 0; from < count; from += 50) await Promise.all(Array.from({ length: 50 }, (_, n) => put(`c${from + n}`)));
    const streamed = informer();
    const added = follow(streamed);
    streamed.start();
    await streamed.synced();
    expect(proxy.requests.filter(isList(namespace))).toEqual([]);
    const message = 'a watch stream was requested, but the required storage feature RequestWatchProgress is disabled';
    proxy.faults.next({ kind: 'error-event', code: 500, reason: 'InternalError', message, match: { watch: true } });
    const paged = informer();
    paged.start();
    await paged.synced();
    expect(proxy.requests.filter(isList(namespace))).toHaveLength(2);
    expect([streamed.cache.size, added.length, paged.cache.size]).toEqual([count, count, count]);
    await put('c77', '2');
    for (const each of [streamed, paged]) await eventually(() => expect(each.cache.get(key('c77'))?.data).toEqual({ value: '2' }));
  });

  it('never holds a value of what it watches as metadata only', async () => {
    const canary = 'canary-7d1f0c';
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'hidden' }, stringData: { token: canary } };
    const options = { transport, descriptor: secrets, fieldManager: 'test' };
    await new ResourceClient(options).apply(secret);
    const informed = createInformer({ client: new ResourceClient({ ...options, metadataOnly: true }), namespace });
    informed.start();
    await informed.synced();
    const held = JSON.stringify(informed.cache.list());
    await informed.stop();
    expect(held).toContain('"hidden"');
    expect(held).not.toContain(canary);
    expect(held).not.toContain(Buffer.from(canary).toString('base64'));
  });

  const laterEvents = Promise.withResolvers<void>();
  it.each([
    { kind: 'reset' },
    { kind: 'half-write' },
    { kind: 'duplicate' },
    { kind: 'reorder' },
    { kind: 'hold', until: laterEvents.promise },
    { kind: 'error-event', code: 410, reason: 'Expired' },
    { kind: 'error-event', code: 500, reason: 'InternalError' },
  ] as const)('ends up right after a watch met $kind', async (fault) => {
    await put('a');
    await put('b');
    const informed = informer();
    informed.start();
    await informed.synced();
    proxy.faults.next({ ...fault, match: { watch: true }, onEvent: true });
    await put('a', '2');
    await client.delete({ namespace, name: 'b' });
    await put('c');
    laterEvents.resolve();
    await eventually(() => {
      expect(names(informed)).toEqual(['a', 'c']);
      expect(informed.cache.get(key('a'))?.data).toEqual({ value: '2' });
    });
    expect(proxy.faults.left).toBe(0);
  });

  it.each([401, 403, 410, 500, 503])('goes on after the server refused it with %i', async (code) => {
    await put('a');
    const informed = informer();
    proxy.faults.next({ kind: 'status', code, match: { path: /configmaps$/ }, times: 2 });
    informed.start();
    await informed.synced();
    expect(names(informed)).toEqual(['a']);
  });

  it('misses no deletion while it is cut off for longer than the history reaches', async () => {
    await put('stays');
    await put('goes');
    const informed = informer();
    const log = follow(informed);
    informed.start();
    await informed.synced();
    proxy.faults.next({ kind: 'drop', match: { watch: true }, times: 2 });
    // The server refuses as after a compaction, of which informer.slow.test.ts has a real one.
    proxy.faults.next({ kind: 'status', code: 410, reason: 'Expired', match: { watch: true } });
    proxy.breakWatches();
    await client.delete({ namespace, name: 'goes' });
    await eventually(() => expect(log).toContain('deleted goes'));
    expect(names(informed)).toEqual(['stays']);
  });

  it('rejects those who wait when it is stopped, and keeps what it knew', async () => {
    await put('a');
    const informed = informer();
    informed.start();
    await informed.synced();
    const outcome = informed.cache.waitFor('999999999999').catch((error: unknown) => error);
    await informed.stop();
    expect(await outcome).toEqual(new Error('the informer was stopped'));
    expect(names(informed)).toEqual(['a']);
    await eventually(() => expect(proxy.watches).toBe(0));
    const never = informer();
    const gaveUp = new AbortController();
    const synced = never.synced(gaveUp.signal).catch((error: unknown) => error);
    gaveUp.abort(new Error('enough'));
    expect(await synced).toEqual(new Error('enough'));
  });

  it('says how it is in metrics', async () => {
    await put('a');
    const registry = new Registry();
    const informed = informer({ registry });
    informed.start();
    await informed.synced();
    const text = await registry.metrics();
    const labels = `resource="configmaps",namespace="${namespace}"`;
    expect(text).toContain(`informer_objects{${labels}} 1`);
    expect(text).toContain(`reflector_lists_total{${labels},mode="watch-list",outcome="synced"} 1`);
    expect(text).toMatch(new RegExp(`informer_last_contact_seconds\\{${labels}\\} \\d`));
  });
});

const isList =
  (namespace: string) =>
  ({ method, path, watch }: SeenRequest): boolean =>
    method === 'GET' && !watch && path === `/api/v1/namespaces/${namespace}/configmaps`;
