import { expect, it } from 'vitest';

import type { WatchEvent, WatchStream } from '../../../../kube/index.ts';
import { settle } from '../../../support/fake-clock.ts';
import type { ContractContext } from './context.ts';
import { failureOf } from './failure-of.ts';
import type { Widget } from './widget.ts';

export function watchRules(context: ContractContext): void {
  const { namespace } = context;

  it('sends what happens after a resourceVersion, in order', async () => {
    const widgets = context.widgets();
    const { resourceVersion } = await widgets.list({ namespace });
    const labels = { watch: 'order' };
    const widget = context.widget({ title: 'a' }, { labels });
    const watch = await widgets.watch({ namespace, resourceVersion, labelSelector: 'watch=order', timeoutSeconds: 60 });
    await widgets.apply(widget);
    const last = await widgets.apply({ ...widget, spec: { title: 'b' } });
    await widgets.delete(widget.metadata);
    const events = await take(watch, 3);
    expect(events.map((event) => event.type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    expect(objects(events).map((object) => object.spec?.title)).toEqual(['a', 'b', 'b']);
    expect(Number(objects(events)[2]?.metadata.resourceVersion)).toBeGreaterThan(Number(last.metadata.resourceVersion));
  });

  it('sends what is there first, then says that this was all', async () => {
    const widgets = context.widgets();
    const labels = { watch: 'list' };
    await widgets.apply(context.widget({}, { name: 'wl-b', labels }));
    const newest = await widgets.apply(context.widget({}, { name: 'wl-a', labels }));
    const watch = await widgets.watch({ namespace, labelSelector: 'watch=list', sendInitialEvents: true, timeoutSeconds: 60 });
    const iterator = watch[Symbol.asyncIterator]();
    const initial: WatchEvent<Widget>[] = [];
    while (initial.at(-1)?.type !== 'BOOKMARK') {
      const { value, done } = await iterator.next();
      if (done) throw new Error('the watch ended before its bookmark');
      initial.push(value);
    }
    expect(initial.map((event) => event.type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK']);
    const bookmark = initial[2] as { readonly resourceVersion: string };
    expect(bookmark).toMatchObject({ initialEventsEnd: true });
    expect(Number(bookmark.resourceVersion)).toBeGreaterThanOrEqual(Number(newest.metadata.resourceVersion));
    expect(
      objects(initial)
        .map((object) => object.metadata.name)
        .sort(),
    ).toEqual(['wl-a', 'wl-b']);
    await widgets.apply(context.widget({ title: 'after' }, { name: 'wl-a', labels }));
    expect((await iterator.next()).value).toMatchObject({ type: 'MODIFIED', object: { spec: { title: 'after' } } });
    watch.destroy();
  });

  it('sends nothing, not even an error, after a resourceVersion that it has yet to reach', async () => {
    const widgets = context.widgets();
    const { resourceVersion } = await widgets.list({ namespace });
    const options = { namespace, labelSelector: 'watch=future' };
    const reached = String(Number(resourceVersion) + 1_000_000);
    const future = await widgets.watch({ ...options, resourceVersion: reached, timeoutSeconds: 2 });
    const present = await widgets.watch({ ...options, resourceVersion, timeoutSeconds: 60 });
    await widgets.apply(context.widget({}, { labels: { watch: 'future' } }));
    expect(await take(present, 1)).toHaveLength(1);
    const sent: WatchEvent<Widget>[] = [];
    for await (const event of future) sent.push(event);
    expect(sent).toEqual([]);
  });

  it('sends what comes to match and what ceases to as added and deleted', async () => {
    const widgets = context.widgets();
    const { resourceVersion } = await widgets.list({ namespace });
    const watch = await widgets.watch({ namespace, resourceVersion, labelSelector: 'watch=match', timeoutSeconds: 60 });
    const widget = context.widget({});
    const matching = { ...widget, metadata: { ...widget.metadata, labels: { watch: 'match' } } };
    await widgets.apply(widget);
    await widgets.apply(matching);
    await widgets.apply(widget);
    expect((await take(watch, 2)).map((event) => event.type)).toEqual(['ADDED', 'DELETED']);
  });

  it('sends nothing of an apply that changes nothing', async () => {
    const widgets = context.widgets();
    const widget = context.widget({ title: 'a' }, { labels: { watch: 'quiet' } });
    const { metadata } = await widgets.apply(widget);
    const watch = await widgets.watch({
      namespace,
      resourceVersion: metadata.resourceVersion,
      labelSelector: 'watch=quiet',
      timeoutSeconds: 60,
    });
    await widgets.apply(widget);
    await widgets.apply({ ...widget, spec: { title: 'b' } });
    expect(objects(await take(watch, 1))[0]?.spec?.title).toBe('b');
  });

  it('ends in order when its time is over', async () => {
    const { resourceVersion } = await context.widgets().list({ namespace });
    const watch = await context.widgets().watch({ namespace, resourceVersion, timeoutSeconds: 1, labelSelector: 'watch=never' });
    expect(await take(watch, 1)).toEqual([]);
  });

  it('sends what is there first also to a watch from nowhere', async () => {
    const widgets = context.widgets();
    await widgets.apply(context.widget({}, { name: 'nowhere-a', labels: { watch: 'nowhere' } }));
    for (const from of [{}, { resourceVersion: '0' }]) {
      const watch = await widgets.watch({ namespace, ...from, labelSelector: 'watch=nowhere', timeoutSeconds: 60 });
      const seen: WatchEvent<Widget>[] = [];
      for await (const event of watch) {
        seen.push(event);
        if (event.type === 'BOOKMARK') break;
      }
      expect(seen).toMatchObject([
        { type: 'ADDED', object: { metadata: { name: 'nowhere-a' } } },
        { type: 'BOOKMARK', initialEventsEnd: true },
      ]);
    }
  });

  it('ends at once with its signal, and with destroy', async () => {
    const controller = new AbortController();
    const watch = await context.widgets().watch({ namespace, labelSelector: 'watch=never', signal: controller.signal });
    const aborted = failureOf(take(watch, 1));
    await settle();
    controller.abort();
    expect(await aborted).toMatchObject({ code: 0, reason: 'Aborted', aborted: true, retryable: false });
    const other = await context.widgets().watch({ namespace, labelSelector: 'watch=never' });
    const destroyed = failureOf(take(other, 1));
    await settle();
    other.destroy();
    expect(await destroyed).toMatchObject({ reason: 'Aborted' });
  });

  it('refuses initial events without the version to match', async () => {
    const query = { watch: true, sendInitialEvents: true };
    const path = `/apis/contract.parley.dev/v1/namespaces/${namespace}/widgets`;
    expect(await failureOf(context.transport.stream({ method: 'GET', path, query }))).toMatchObject({
      code: 422,
      causes: [{ field: 'resourceVersionMatch' }],
    });
  });
}

async function take(watch: WatchStream<Widget>, count: number): Promise<readonly WatchEvent<Widget>[]> {
  const events: WatchEvent<Widget>[] = [];
  for await (const event of watch) {
    if (event.type !== 'BOOKMARK') events.push(event);
    if (events.length === count) break;
  }
  return events;
}

function objects(events: readonly WatchEvent<Widget>[]): readonly Widget[] {
  return events.flatMap((event) => (event.type === 'BOOKMARK' ? [] : [event.object]));
}
