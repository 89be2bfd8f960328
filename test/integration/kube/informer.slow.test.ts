import assert from 'node:assert/strict';

import { beforeAll, describe, expect, it } from 'vitest';

import type { ConfigMap } from '../../../api/resources/core-clients.ts';
import { createInformer, createTransport, KubeError, loadKubeConfig, ResourceClient, type Informer } from '../../../kube/index.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { configMap, configMaps, namespaces } from './built-in.ts';
import { ownApiServer } from './own-api-server.ts';

const values = (informer: Informer<ConfigMap>): Record<string, string> =>
  Object.fromEntries(informer.cache.list().map((object) => [object.metadata.name, object.data?.['value'] ?? '']));

describe('an informer whose API server is killed', () => {
  const server = suiteFixture(ownApiServer);
  const transport = suiteFixture(() => createTransport({ kubeConfig: loadKubeConfig({ path: server.kubeconfig }) }));
  let client: ResourceClient<ConfigMap>;

  beforeAll(async () => {
    client = new ResourceClient<ConfigMap>({ transport, descriptor: configMaps, fieldManager: 'informer-test' });
    await new ResourceClient({ transport, descriptor: namespaces, fieldManager: 'informer-test' }).apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'load' },
    });
  });

  it('ends up with what the server has, after five kills under load, and its listener with the same', async () => {
    const informer = createInformer<ConfigMap>({ client, namespace: 'load' });
    const replayed = new Map<string, string>();
    const surprises: string[] = [];
    informer.onChange(({ type, object }) => {
      const { name } = object.metadata;
      // Surprises are collected, not thrown: an informer survives what its listeners throw.
      if (replayed.has(name) === (type === 'added')) surprises.push(`${type} ${name}`);
      if (type === 'deleted') replayed.delete(name);
      else replayed.set(name, object.data?.['value'] ?? '');
    });
    informer.start();
    await informer.synced();

    const state = { writing: true };
    let written = 0;
    /** Writes and deletes without pause; failures while the server is unavailable are part of the test. */
    const load = async (writer: number): Promise<void> => {
      for (let n = 0; state.writing; n++) {
        const name = `w${writer}-${n % 20}`;
        try {
          if (n % 7 === 6) await client.delete({ namespace: 'load', name }, { timeoutMs: 2_000 });
          else await client.apply(configMap('load', name, `${writer}-${n}`), { timeoutMs: 2_000 });
          written++;
        } catch (error) {
          assert(error instanceof KubeError);
          await eventually(() => client.list({ namespace: 'load', limit: 1 }));
        }
      }
    };
    const writers = [load(0), load(1)];
    for (let kill = 0; kill < 5; kill++) {
      const before = written;
      await eventually(() => expect(written).toBeGreaterThan(before + 20));
      await server.kill();
    }
    state.writing = false;
    await Promise.all(writers);

    const { items } = await client.listAll({ namespace: 'load' });
    const truth = Object.fromEntries(items.map((object) => [object.metadata.name, object.data?.['value'] ?? '']));
    await eventually(() => {
      expect(values(informer)).toEqual(truth);
      expect(Object.fromEntries(replayed)).toEqual(truth);
    });
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
