import assert from 'node:assert/strict';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  createInformer,
  createTransport,
  KubeError,
  loadKubeConfig,
  ResourceClient,
  type Change,
  type Informer,
  type Stored,
  type Transport,
  type WatchEvent,
} from '../../../kube/index.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { configMap, configMaps, namespaces, secrets, type ConfigMap } from './built-in.ts';
import { ownApiServer, type OwnApiServer } from './own-api-server.ts';

const values = (informer: Informer<ConfigMap>, prefix = ''): Record<string, string> =>
  Object.fromEntries(
    informer.cache
      .list()
      .filter((object) => object.metadata.name.startsWith(prefix))
      .map((object) => [object.metadata.name, object.data?.['value'] ?? '']),
  );

describe('an informer on a real API server', () => {
  let transport: Transport;
  let client: ResourceClient<ConfigMap>;
  let namespace: string;
  const informers: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    transport = createTransport({ kubeConfig: loadKubeConfig({ path: (await controlPlane()).kubeconfig }) });
    client = new ResourceClient<ConfigMap>({ transport, descriptor: configMaps, fieldManager: 'informer-test' });
    namespace = await organizationNamespace('informer');
  });
  afterAll(async () => {
    await Promise.all(informers.map((informer) => informer.stop()));
    await transport.close();
  });

  it('gets a WatchList that ends with the annotated bookmark, and later events on the same stream', async () => {
    await client.apply(configMap(namespace, 'listed', '1'));
    const stop = new AbortController();
    const watch = await client.watch({ namespace, labelSelector: 'never!=set', sendInitialEvents: true, signal: stop.signal });
    const seen: WatchEvent<ConfigMap>[] = [];
    for await (const event of watch) {
      seen.push(event);
      if (event.type === 'BOOKMARK' && event.initialEventsEnd) await client.apply(configMap(namespace, 'later', '1'));
      if (event.type !== 'BOOKMARK' && event.object.metadata.name === 'later') break;
    }
    const end = seen.findIndex((event) => event.type === 'BOOKMARK' && event.initialEventsEnd);
    expect(seen.slice(0, end).map((event) => event.type !== 'BOOKMARK' && `${event.type} ${event.object.metadata.name}`)).toContain(
      'ADDED listed',
    );
    expect(seen.at(-1)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'later' } } });
  });

  it('follows what happens, reads its own writes and tells the story in order', async () => {
    const informer = createInformer<ConfigMap>({ client, namespace, indexes: { value: (object) => [object.data?.['value'] ?? ''] } });
    informers.push(informer);
    const log: string[] = [];
    informer.onChange(
      ({ type, object }: Change<Stored<ConfigMap>>) =>
        object.metadata.name.startsWith('story') && void log.push(`${type} ${object.data?.['value']}`),
    );
    informer.start();
    await informer.synced();
    for (const value of ['1', '2', '3']) {
      const written = await client.apply(configMap(namespace, 'story', value));
      await informer.cache.waitFor(written.metadata.resourceVersion);
      expect(informer.cache.get(`${namespace}/story`)?.data).toEqual({ value });
    }
    expect(informer.cache.byIndex('value', '3').map(({ metadata }) => metadata.name)).toContain('story');
    expect(informer.cache.get(`${namespace}/story`)?.metadata.managedFields).toBeUndefined();
    await client.delete({ namespace, name: 'story' });
    await eventually(() => expect(log).toEqual(['added 1', 'modified 2', 'modified 3', 'deleted 3']));
  });

  it('never holds a value of what it watches as metadata only', async () => {
    const canary = 'canary-7d1f0c';
    const plain = new ResourceClient({ transport, descriptor: secrets, fieldManager: 'informer-test' });
    await plain.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'hidden' },
      stringData: { token: canary },
    } as never);
    const informer = createInformer({
      client: new ResourceClient({ transport, descriptor: secrets, fieldManager: 'informer-test', metadataOnly: true }),
      namespace,
    });
    informers.push(informer);
    informer.start();
    await informer.synced();
    const held = JSON.stringify(informer.cache.list());
    expect(held).toContain('"hidden"');
    expect(held).not.toContain(canary);
    expect(held).not.toContain(Buffer.from(canary).toString('base64'));
  });

  it('notices one object among many, in a namespace of a few thousand, and lists them all', async () => {
    const crowded = await organizationNamespace('crowd');
    const count = 1500;
    for (let from = 0; from < count; from += 50)
      await Promise.all(Array.from({ length: 50 }, (_, n) => client.create(configMap(crowded, `c${from + n}`, 'x'))));
    const informer = createInformer<ConfigMap>({ client, namespace: crowded });
    informers.push(informer);
    let added = 0;
    informer.onChange(({ type }) => void (added += type === 'added' ? 1 : 0));
    informer.start();
    await informer.synced();
    expect([informer.cache.size, added]).toEqual([count, count]);
    await client.apply(configMap(crowded, 'c77', 'y'), { force: true });
    await eventually(() => expect(informer.cache.get(`${crowded}/c77`)?.data).toEqual({ value: 'y' }));
  });
});

describe('an informer whose API server is killed', () => {
  let server: OwnApiServer;
  let transport: Transport;
  let client: ResourceClient<ConfigMap>;

  beforeAll(async () => {
    server = await ownApiServer();
    transport = createTransport({ kubeConfig: loadKubeConfig({ path: server.kubeconfig }) });
    client = new ResourceClient<ConfigMap>({ transport, descriptor: configMaps, fieldManager: 'informer-test' });
    await new ResourceClient({ transport, descriptor: namespaces, fieldManager: 'informer-test' }).apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'load' },
    });
  });
  afterAll(async () => {
    await transport?.close();
    await server?.stop();
  });

  it('ends up with what the server has, after five kills under load, and its listener with the same', async () => {
    const informer = createInformer<ConfigMap>({ client, namespace: 'load' });
    const told = new Map<string, string>();
    const surprises: string[] = [];
    informer.onChange(({ type, object }) => {
      const { name } = object.metadata;
      // Collected, not thrown: an informer survives what its listeners throw.
      if (told.has(name) === (type === 'added')) surprises.push(`${type} ${name}`);
      if (type === 'deleted') told.delete(name);
      else told.set(name, object.data?.['value'] ?? '');
    });
    informer.start();
    await informer.synced();

    const state = { writing: true };
    let written = 0;
    /** Writes and deletes without pause; what fails while the server is away is part of the test. */
    const load = async (writer: number): Promise<void> => {
      for (let n = 0; state.writing; n++) {
        const name = `w${writer}-${n % 20}`;
        try {
          if (n % 7 === 6) await client.delete({ namespace: 'load', name }, { timeoutMs: 2_000 });
          else await client.apply(configMap('load', name, `${writer}-${n}`), { timeoutMs: 2_000 });
          written++;
        } catch (error) {
          assert(error instanceof KubeError);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    };
    const writers = [load(0), load(1)];
    for (let kill = 0; kill < 5; kill++) {
      const before = written;
      await eventually(() => expect(written).toBeGreaterThan(before + 20), 120_000);
      await server.kill();
    }
    state.writing = false;
    await Promise.all(writers);

    const { items } = await client.listAll({ namespace: 'load' });
    const truth = Object.fromEntries(items.map((object) => [object.metadata.name, object.data?.['value'] ?? '']));
    await eventually(() => {
      expect(values(informer)).toEqual(truth);
      expect(Object.fromEntries(told)).toEqual(truth);
    }, 120_000);
    expect(surprises).toEqual([]);
    expect(informer.state).toBe('watching');
    await informer.stop();
  });

  it('is refused a position from before the kill, and sees deletions from then', async () => {
    const first = await client.apply(configMap('load', 'before', '1'), { force: true });
    for (let n = 0; n < 5; n++) await client.apply(configMap('load', 'before', `again ${n}`), { force: true });
    const informer = createInformer<ConfigMap>({ client, namespace: 'load' });
    informer.start();
    await informer.synced();
    await server.kill();
    const read = async (): Promise<void> => {
      const watch = await client.watch({ namespace: 'load', resourceVersion: first.metadata.resourceVersion, timeoutSeconds: 5 });
      for await (const _ of watch);
    };
    await expect(read()).rejects.toMatchObject({ code: 410 });
    await client.delete({ namespace: 'load', name: 'before' });
    await eventually(() => expect(informer.cache.get('load/before')).toBeUndefined());
    await informer.stop();
  });
});
