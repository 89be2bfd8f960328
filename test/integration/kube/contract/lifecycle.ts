import { expect, it } from 'vitest';

import type { ContractContext } from './context.ts';
import { failureOf } from './failure-of.ts';

export function lifecycleRules(context: ContractContext): void {
  it('counts generations: with the spec and with the wish to delete, not with metadata', async () => {
    const widget = context.widget({ title: 'a' }, { finalizers: ['example.com/hold'] });
    const widgets = context.widgets();
    const ref = widget.metadata as { name: string };
    expect((await widgets.apply(widget)).metadata.generation).toBe(1);
    const labelled = { ...widget, metadata: { ...widget.metadata, labels: { a: 'b' } } };
    expect((await widgets.apply(labelled)).metadata.generation).toBe(1);
    expect((await widgets.apply({ ...labelled, spec: { title: 'b' } })).metadata.generation).toBe(2);
    await widgets.delete(ref);
    const going = await widgets.get(ref);
    expect(going.metadata).toMatchObject({ generation: 3, deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 });
    await widgets.delete(ref);
    expect((await widgets.get(ref)).metadata).toMatchObject({ resourceVersion: going.metadata.resourceVersion });
    await widgets.patchFinalizers(going, []);
  });

  it('goes when its last finalizer does', async () => {
    const widgets = context.widgets();
    const stored = await widgets.apply(context.widget({}, { finalizers: ['example.com/one', 'example.com/two'] }));
    const ref = stored.metadata as { name: string };
    await widgets.delete(ref);
    const going = await widgets.get(ref);
    const more = await failureOf(widgets.patchFinalizers(going, ['example.com/one', 'example.com/two', 'example.com/three']));
    expect(more).toMatchObject({ code: 422, causes: [{ reason: 'FieldValueForbidden', field: 'metadata.finalizers' }] });
    const one = await widgets.patchFinalizers(going, ['example.com/two']);
    expect(one.metadata.finalizers).toEqual(['example.com/two']);
    expect(await failureOf(widgets.patchFinalizers(going, []))).toMatchObject({ code: 409, staleConflict: true });
    await widgets.patchFinalizers(one, []);
    expect(await failureOf(widgets.get(ref))).toMatchObject({ code: 404 });
    expect(await failureOf(widgets.patchFinalizers(one, []))).toMatchObject({ code: 404 });
  });

  it('keeps other fields when finalizers are written', async () => {
    const widgets = context.widgets();
    const widget = context.widget({ title: 'kept' }, { labels: { kept: 'too' } });
    const stored = await context.widgets('operator').patchFinalizers(await widgets.apply(widget), ['example.com/hold']);
    expect(stored).toMatchObject({
      spec: { title: 'kept' },
      metadata: { labels: { kept: 'too' }, finalizers: ['example.com/hold'], generation: 1 },
    });
    // A manager that applies without naming the finalizer leaves it where it is.
    expect((await widgets.apply(widget)).metadata.finalizers).toEqual(['example.com/hold']);
    await widgets.patchFinalizers(stored, []);
  });

  it('deletes just the object, or the state, that is meant', async () => {
    const widgets = context.widgets();
    const widget = context.widget({});
    const old = await widgets.apply(widget);
    const ref = widget.metadata as { name: string };
    const newer = await widgets.apply({ ...widget, spec: { title: 'newer' } });
    expect(await failureOf(widgets.delete(ref, { uid: '11111111-1111-1111-1111-111111111111' }))).toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
    expect(await failureOf(widgets.delete(ref, { resourceVersion: old.metadata.resourceVersion }))).toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
    await widgets.delete(ref, { uid: newer.metadata.uid, resourceVersion: newer.metadata.resourceVersion });
    expect(await failureOf(widgets.get(ref))).toMatchObject({ code: 404 });
  });

  it('makes names', async () => {
    const { namespace } = context;
    const stored = await context
      .client('ConfigMap')
      .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '', generateName: 'made-', namespace } });
    expect(stored.metadata.name).toMatch(/^made-.{5}$/);
  });

  it('lets no finished write be undone by one that was decided before it', async () => {
    // Fifty partial updates of different fields at once, each from its own read: all must survive.
    const widgets = context.widgets();
    const widget = context.widget({ map: { start: '0' } });
    await widgets.apply(widget);
    const keys = Array.from({ length: 50 }, (_, index) => `k${index}`);
    await Promise.all(
      keys.map(async (key) => {
        for (;;) {
          const { metadata, spec } = await widgets.get(widget.metadata);
          const { uid, resourceVersion } = metadata;
          try {
            await widgets.apply({
              ...widget,
              metadata: { ...widget.metadata, uid, resourceVersion },
              spec: { map: { ...spec?.map, [key]: '1' } },
            });
            return;
          } catch (error) {
            if (!(error as { staleConflict?: boolean }).staleConflict) throw error;
          }
        }
      }),
    );
    expect(Object.keys((await widgets.get(widget.metadata as { name: string })).spec?.map ?? {}).sort()).toEqual([...keys, 'start'].sort());
  });
}
