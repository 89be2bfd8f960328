import { expect, it } from 'vitest';

import type { KubeObject } from '../../../../kube/index.ts';
import type { ContractContext } from './context.ts';
import { failureOf } from './failure-of.ts';

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export function readRules(context: ContractContext): void {
  const { namespace } = context;

  it('gets what was applied, with what the server adds', async () => {
    const widgets = context.widgets();
    const stored = await widgets.apply(context.widget({ title: 'hello' }, { labels: { a: 'b' } }));
    expect(stored.metadata).toMatchObject({ namespace, labels: { a: 'b' }, generation: 1, uid: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(stored.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(stored.spec).toEqual({ title: 'hello', size: 'small' });
    expect(await widgets.get(stored.metadata as { namespace: string; name: string })).toEqual(stored);
  });

  it('says that an object is not there', async () => {
    const error = await failureOf(context.widgets().get({ namespace, name: 'nowhere' }));
    expect(error).toMatchObject({ code: 404, reason: 'NotFound', notFound: true, retryable: false });
    expect(error.message).toContain('nowhere');
  });

  it('says that a kind is not there', async () => {
    const error = await failureOf(context.transport.request({ method: 'GET', path: '/apis/contract.parley.dev/v1/gadgets' }));
    expect(error).toMatchObject({ code: 404, reason: 'NotFound' });
  });

  it('lists in pages of one state, in the order of names, with type and selectors', async () => {
    const widgets = context.widgets();
    const labels = { list: 'pages' };
    for (const name of ['page-c', 'page-a', 'page-b'])
      await widgets.apply(context.widget({ size: name === 'page-b' ? 'large' : 'small' }, { name, labels }));

    const first = await widgets.list({ namespace, labelSelector: 'list=pages', limit: 2 });
    await widgets.apply(context.widget({}, { name: 'page-d', labels }));
    const second = await widgets.list({ namespace, labelSelector: 'list=pages', limit: 2, continue: first.continue as string });
    expect([...first.items, ...second.items].map((item) => item.metadata.name)).toEqual(['page-a', 'page-b', 'page-c']);
    expect(second.resourceVersion).toBe(first.resourceVersion);
    expect(second.continue).toBeUndefined();

    const all = await widgets.listAll({ namespace, labelSelector: 'list=pages', limit: 1 });
    expect(all.items.map((item) => item.metadata.name)).toEqual(['page-a', 'page-b', 'page-c', 'page-d']);
    expect(all.items[0]).toMatchObject({ apiVersion: 'contract.parley.dev/v1', kind: 'Widget' });
    const count = async (selectors: { readonly labelSelector?: string; readonly fieldSelector?: string }): Promise<number> =>
      (await widgets.list({ namespace, ...selectors })).items.length;
    expect(await count({ fieldSelector: 'metadata.name=page-b' })).toBe(1);
    expect(await count({ labelSelector: 'list=pages', fieldSelector: 'spec.size=large' })).toBe(1);
    expect(await count({ labelSelector: 'list in (pages,other),!missing' })).toBe(4);
    expect(await count({ labelSelector: 'list!=pages,list' })).toBe(0);
    expect((await failureOf(widgets.list({ namespace, fieldSelector: 'spec.title=x' }))).code).toBe(400);
  });

  it('lists built-in kinds with type', async () => {
    const configMaps = context.client('ConfigMap');
    await configMaps.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'typed', namespace } });
    const page = await configMaps.list({ namespace, fieldSelector: 'metadata.name=typed' });
    expect(page.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
  });

  it('gives metadata only, to get, list and watch', async () => {
    const secrets = context.client<Secret>('Secret');
    const data = { key: Buffer.from('canary').toString('base64') };
    await secrets.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'hidden', namespace, labels: { hidden: 'yes' } }, data });
    const metadataOnly = context.client<Secret>('Secret', { metadataOnly: true });
    const one = await metadataOnly.get({ namespace, name: 'hidden' });
    const { items } = await metadataOnly.list({ namespace, labelSelector: 'hidden=yes' });
    const watch = await metadataOnly.watch({ namespace, labelSelector: 'hidden=yes', sendInitialEvents: true });
    const events: unknown[] = [];
    for await (const event of watch) {
      events.push(event);
      if (event.type === 'BOOKMARK' && event.initialEventsEnd) break;
    }
    expect(events).toHaveLength(2);
    for (const seen of [one, items[0], (events[0] as { object: unknown }).object]) {
      expect(seen).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'hidden', namespace } });
    }
    expect(JSON.stringify([one, items, events])).not.toContain(data.key);
    expect((await failureOf(metadataOnly.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'hidden', namespace } }))).code).toBe(
      405,
    );
  });

  it('refuses a page token that is none', async () => {
    expect(await failureOf(context.widgets().list({ namespace, limit: 1, continue: 'nonsense' }))).toMatchObject({ code: 400 });
  });
}
