import { expect, it } from 'vitest';

import type { ContractContext } from './context.ts';
import { failureOf } from './failure-of.ts';

export function statusRules(context: ContractContext): void {
  it('writes the status and nothing else through its subresource', async () => {
    const widget = context.widget({ title: 'a' });
    const stored = await context.widgets().apply({ ...widget, status: { phase: 'ignored' } });
    expect(stored.status).toBeUndefined();
    const up = await context
      .widgets('operator')
      .applyStatus({ ...widget, spec: { title: 'ignored' }, status: { phase: 'up', conditions: [{ type: 'Ready', status: 'True' }] } });
    expect(up.spec).toEqual(stored.spec);
    expect(up.status).toEqual({ phase: 'up', conditions: [{ type: 'Ready', status: 'True' }] });
    expect(up.metadata.generation).toBe(1);
    expect(up.metadata.managedFields?.find((entry) => entry.manager === 'operator')).toMatchObject({
      operation: 'Apply',
      subresource: 'status',
    });
    const changed = await context.widgets().apply({ ...widget, spec: { title: 'b' } });
    expect(changed.status).toEqual(up.status);
    expect(changed.metadata.generation).toBe(2);
  });

  it('takes the fields of other managers of the status by default', async () => {
    const widget = context.widget({});
    await context.widgets().apply(widget);
    await context.widgets('first').applyStatus({ ...widget, status: { phase: 'one', conditions: [{ type: 'Ready', status: 'True' }] } });
    const second = context.widgets('second');
    const error = await failureOf(second.applyStatus({ ...widget, status: { phase: 'two' } }, { force: false }));
    expect(error.causes).toMatchObject([{ field: '.status.phase', message: expect.stringContaining('"first"') }]);
    const taken = await second.applyStatus({ ...widget, status: { phase: 'two', conditions: [{ type: 'Other', status: 'False' }] } });
    expect(taken.status?.phase).toBe('two');
    expect(taken.status?.conditions).toHaveLength(2);
    const dropped = await second.applyStatus({ ...widget, status: { phase: 'two' } });
    expect(dropped.status?.conditions).toEqual([{ type: 'Ready', status: 'True' }]);
  });

  it('refuses the status of an object that is gone, and fields that a status has not', async () => {
    const widget = context.widget({});
    expect(await failureOf(context.widgets().applyStatus({ ...widget, status: { phase: 'up' } }))).toMatchObject({
      code: 404,
      notFound: true,
    });
    const stored = await context.widgets().apply(widget);
    expect(await failureOf(context.widgets().applyStatus({ ...widget, status: { phas: 'up' } }))).toMatchObject({
      code: 400,
      causes: [{ field: 'status.phas' }],
    });
    const stale = { ...widget, metadata: { ...widget.metadata, resourceVersion: stored.metadata.resourceVersion } };
    await context.widgets().apply({ ...widget, spec: { title: 'newer' } });
    expect(await failureOf(context.widgets().applyStatus({ ...stale, status: { phase: 'up' } }))).toMatchObject({
      code: 409,
      staleConflict: true,
    });
  });

  it('writes nothing when the status is the same', async () => {
    const widget = context.widget({});
    await context.widgets().apply(widget);
    const once = await context.widgets().applyStatus({ ...widget, status: { phase: 'up' } });
    const twice = await context.widgets().applyStatus({ ...widget, status: { phase: 'up' } });
    expect(twice.metadata.resourceVersion).toBe(once.metadata.resourceVersion);
  });
}
