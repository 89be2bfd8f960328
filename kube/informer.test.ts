import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createLogger } from '../platform/logging.ts';
import { eventually } from '../test/support/eventually.ts';
import { createInformer, type Change, type Informer, type InformerOptions } from './informer.ts';
import { ResourceClient } from './resource-client.ts';
import { startApiServerDouble, type ApiServerDouble } from '../test/support/api-server-double/index.ts';
import { createTransport, type Transport } from './transport.ts';
import type { KubeObject, ResourceDescriptor, Stored } from './types.ts';

interface Widget extends KubeObject {
  readonly spec?: { readonly size?: number };
}

const widgets: ResourceDescriptor = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
const widget = (name: string, size = 1): Widget => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { namespace: 'default', name },
  spec: { size },
});

describe('createInformer', () => {
  let double: ApiServerDouble;
  let transport: Transport;
  let client: ResourceClient<Widget>;
  const lines: string[] = [];
  const informers: Informer<Widget>[] = [];

  const informer = (options: Partial<InformerOptions<Widget>> = {}): Informer<Widget> => {
    const logger = createLogger({ role: 'test', level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
    // Without chance in it a Backoff would still be 0.8 s; these tests are about what happens, not when.
    const made = createInformer<Widget>({ client, logger, random: () => 0.999, ...options });
    informers.push(made);
    return made;
  };
  const names = (from: Informer<Widget>): string[] =>
    from.cache
      .list()
      .map((object) => object.metadata.name)
      .sort();
  const follow = (from: Informer<Widget>): string[] => {
    const log: string[] = [];
    from.onChange(
      (change: Change<Stored<Widget>>) => void log.push(`${change.initial ? 'initial ' : ''}${change.type} ${change.object.metadata.name}`),
    );
    return log;
  };

  beforeEach(async () => {
    double = await startApiServerDouble({ resources: [{ descriptor: widgets }] });
    transport = createTransport({ kubeConfig: double.kubeConfig });
    client = new ResourceClient<Widget>({ transport, descriptor: widgets, fieldManager: 'test' });
    lines.length = 0;
  });
  afterEach(async () => {
    await Promise.all(informers.splice(0).map((each) => each.stop()));
    await transport.close();
    await double.stop();
  });

  it('knows what there is, is told what changes, and reads its own writes', async () => {
    double.seed(widgets, [widget('a'), widget('b')]);
    const informed = informer();
    const log = follow(informed);
    expect([informed.cache.synced, informed.lastContact()]).toEqual([false, Infinity]);
    informed.start();
    informed.start();
    await informed.synced();
    expect(log).toEqual(['initial added a', 'initial added b']);
    const written = await client.apply(widget('a', 2), { force: true });
    await informed.cache.waitFor(written.metadata.resourceVersion);
    expect(informed.cache.get('default/a')?.spec?.size).toBe(2);
    await client.delete({ namespace: 'default', name: 'b' });
    await eventually(() => expect(log.slice(2)).toEqual(['modified a', 'deleted b']));
    expect(informed.lastContact()).toBeLessThan(60_000);
    expect(informed.state).toBe('watching');
  });

  it('drops bookkeeping by default and keeps what its own transform keeps', async () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', kept: 'yes' };
    await client.apply({ ...widget('a'), metadata: { ...widget('a').metadata, annotations } });
    const [plain, whole] = [informer(), informer({ transform: (object) => object })];
    for (const each of [plain, whole]) {
      each.start();
      await each.synced();
    }
    expect(plain.cache.get('default/a')?.metadata.annotations).toEqual({ kept: 'yes' });
    expect(plain.cache.get('default/a')?.metadata.managedFields).toBeUndefined();
    expect(whole.cache.get('default/a')?.metadata.managedFields).toHaveLength(1);
    expect(whole.cache.get('default/a')?.metadata.annotations).toEqual(annotations);
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
    await client.apply(widget('a'));
    await client.apply(widget('b'));
    await eventually(() => expect(log).toEqual(['added a', 'added b']));
    expect(calls).toEqual(['a', 'b']);
    expect(lines.filter((line) => line.includes('broken listener') && line.includes('default/a'))).toHaveLength(1);
  });

  it('tells a late listener what is there, and one that left nothing more', async () => {
    double.seed(widgets, [widget('a')]);
    const informed = informer();
    informed.start();
    await informed.synced();
    const log: string[] = [];
    const leave = informed.onChange((change) => void log.push(`${change.type} ${change.initial}`));
    expect(log).toEqual(['added true']);
    leave();
    const other = follow(informed);
    await client.apply(widget('b'));
    await eventually(() => expect(other).toContain('added b'));
    expect(log).toEqual(['added true']);
  });

  it('serves one namespace and one selection', async () => {
    double.seed(widgets, [
      { ...widget('mine'), metadata: { namespace: 'one', name: 'mine', labels: { team: 'x' } } },
      { ...widget('other-team'), metadata: { namespace: 'one', name: 'other-team', labels: { team: 'y' } } },
      { ...widget('other-place'), metadata: { namespace: 'two', name: 'other-place', labels: { team: 'x' } } },
    ]);
    const informed = informer({
      namespace: 'one',
      labelSelector: 'team=x',
      indexes: { team: (object) => [object.metadata.labels?.['team'] ?? ''] },
    });
    informed.start();
    await informed.synced();
    expect(names(informed)).toEqual(['mine']);
    expect(informed.cache.byIndex('team', 'x').map(({ metadata }) => metadata.name)).toEqual(['mine']);
  });

  it('lists by pages where the server has no WatchLists', async () => {
    const old = await startApiServerDouble({ resources: [{ descriptor: widgets }], watchList: false });
    const line = createTransport({ kubeConfig: old.kubeConfig });
    try {
      old.seed(
        widgets,
        Array.from({ length: 1100 }, (_, n) => widget(`w${n}`)),
      );
      const informed = informer({ client: new ResourceClient<Widget>({ transport: line, descriptor: widgets, fieldManager: 'test' }) });
      informed.start();
      await informed.synced();
      expect(informed.cache.size).toBe(1100);
      expect(old.requests.filter((request) => !request.watch && request.path.endsWith('/widgets'))).toHaveLength(3);
      old.seed(widgets, [widget('later')]);
      await eventually(() => expect(informed.cache.get('default/later')).toBeDefined());
      await informed.stop();
    } finally {
      await line.close();
      await old.stop();
    }
  });

  it.each([
    { kind: 'reset' },
    { kind: 'half-write' },
    { kind: 'duplicate' },
    { kind: 'reorder' },
    { kind: 'delay', ms: 50 },
    { kind: 'error-event', code: 410, reason: 'Expired' },
    { kind: 'error-event', code: 500, reason: 'InternalError' },
  ] as const)('ends up right after a watch met $kind', async (fault) => {
    double.seed(widgets, [widget('a'), widget('b')]);
    const informed = informer();
    informed.start();
    await informed.synced();
    double.faults.next({ ...fault, match: { watch: true }, onEvent: true });
    await client.apply(widget('a', 2), { force: true });
    await client.delete({ namespace: 'default', name: 'b' });
    await client.apply(widget('c'));
    await eventually(() => {
      expect(names(informed)).toEqual(['a', 'c']);
      expect(informed.cache.get('default/a')?.spec?.size).toBe(2);
    });
    expect(double.faults.left).toBe(0);
  });

  it.each([401, 403, 410, 500, 503])('goes on after the server refused it with %i', async (code) => {
    double.seed(widgets, [widget('a')]);
    const informed = informer();
    double.faults.next({ kind: 'status', code, match: { path: /widgets$/ }, times: 2 });
    informed.start();
    await informed.synced();
    expect(names(informed)).toEqual(['a']);
  });

  it('misses no deletion while it is cut off for longer than the history reaches', async () => {
    double.seed(widgets, [widget('stays'), widget('goes')]);
    const informed = informer();
    const log = follow(informed);
    informed.start();
    await informed.synced();
    double.faults.next({ kind: 'drop', match: { watch: true }, times: 2 });
    double.resetConnections();
    await client.delete({ namespace: 'default', name: 'goes' });
    double.compact();
    await eventually(() => expect(log).toContain('deleted goes'));
    expect(names(informed)).toEqual(['stays']);
  });

  it('rejects those who wait when it is stopped, and keeps what it knew', async () => {
    double.seed(widgets, [widget('a')]);
    const informed = informer();
    informed.start();
    await informed.synced();
    const outcome = informed.cache.waitFor('999999999').catch((error: unknown) => error);
    await informed.stop();
    expect(await outcome).toEqual(new Error('the informer was stopped'));
    expect(names(informed)).toEqual(['a']);
    await eventually(() => expect(double.watches).toBe(0));
    const never = informer();
    const gaveUp = new AbortController();
    const synced = never.synced(gaveUp.signal).catch((error: unknown) => error);
    gaveUp.abort(new Error('enough'));
    expect(await synced).toEqual(new Error('enough'));
  });

  it('says how it is in metrics', async () => {
    double.seed(widgets, [widget('a')]);
    const registry = new Registry();
    const informed = informer({ registry, namespace: 'default' });
    informed.start();
    await informed.synced();
    const text = await registry.metrics();
    expect(text).toContain('informer_objects{resource="widgets.example.com",namespace="default"} 1');
    expect(text).toContain(
      'reflector_lists_total{resource="widgets.example.com",namespace="default",mode="watch-list",outcome="synced"} 1',
    );
    expect(text).toMatch(/informer_last_contact_seconds\{resource="widgets.example.com",namespace="default"\} \d/);
  });
});
