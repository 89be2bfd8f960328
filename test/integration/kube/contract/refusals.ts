import { expect, it } from 'vitest';

import type { KubeObject } from '../../../../kube/index.ts';
import type { ContractContext } from './context.ts';
import { failureOf } from './failure-of.ts';
import type { Widget } from './widget.ts';

export function refusalRules(context: ContractContext): void {
  const { namespace } = context;
  const apply = (spec: object): ReturnType<typeof failureOf> => failureOf(context.widgets().apply(context.widget(spec as Widget['spec'])));

  it('names fields that an apply has and the schema has not', async () => {
    expect(await apply({ titel: 'x' })).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      retryable: false,
      causes: [{ reason: 'UnknownField', field: 'spec.titel', message: 'field not declared in schema' }],
    });
    const two = await apply({ titel: 'x', nested: { c: '1' } });
    // The server gives up at the first unknown field of a level, in no order: it names one of them, or both.
    expect(two.causes.length).toBeGreaterThan(0);
    for (const { field, message } of two.causes) {
      expect(['spec.nested.c', 'spec.titel']).toContain(field);
      expect(message).toBe('field not declared in schema');
      expect(two.message).toContain(field);
    }
  });

  it('names fields of a wrong type in an apply, without their values', async () => {
    const error = await apply({ title: 31337 });
    expect(error).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      causes: [{ reason: 'FieldValueTypeInvalid', field: 'spec.title', message: 'expected string' }],
    });
    expect(JSON.stringify([error, error.message])).not.toContain('31337');
    const two = await apply({ start: 'canary', tags: 'canary' });
    expect(two.causes.length).toBeGreaterThan(0);
    for (const { field } of two.causes) expect(['spec.start', 'spec.tags']).toContain(field);
    expect(JSON.stringify([two, two.message])).not.toContain('canary');
  });

  it('refuses list items that are one, and items without their key', async () => {
    expect(await apply({ ports: [{ name: 'a' }, { name: 'a' }] })).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      causes: [{ field: 'spec.ports' }],
    });
    expect(await apply({ ports: [{ port: 1 }] })).toMatchObject({ code: 400, reason: 'BadRequest', causes: [{ field: 'spec.ports' }] });
  });

  it('names unknown fields of a create, which is strict', async () => {
    const error = await failureOf(context.widgets().create(context.widget({ titel: 'x', nested: { c: '1' } as object })));
    expect(error).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(error.causes.map((cause) => cause.field).sort()).toEqual(['spec.nested.c', 'spec.titel']);
  });

  it('names wrong types of a create, without the noise', async () => {
    const error = await failureOf(context.widgets().create(context.widget({ title: 5, start: 'x' } as object as Widget['spec'])));
    expect(error).toMatchObject({ code: 422, reason: 'Invalid' });
    expect([...error.causes].sort((a, b) => (a.field < b.field ? -1 : 1))).toEqual([
      { reason: 'FieldValueTypeInvalid', field: 'spec.start', message: 'spec.start in body must be of type integer: "string"' },
      { reason: 'FieldValueTypeInvalid', field: 'spec.title', message: 'spec.title in body must be of type string: "integer"' },
    ]);
    expect(error.message).not.toContain('some validation rules were not checked');
  });

  it('keeps to bounds, with one cause each', async () => {
    expect(await apply({ title: 'x'.repeat(21) })).toMatchObject({
      code: 422,
      causes: [{ reason: 'FieldValueTooLong', field: 'spec.title' }],
    });
    expect(await apply({ size: 'huge' })).toMatchObject({ code: 422, causes: [{ reason: 'FieldValueNotSupported', field: 'spec.size' }] });
    expect(await apply({ ports: [{ name: 'a', port: 0 }] })).toMatchObject({
      code: 422,
      causes: [{ reason: 'FieldValueInvalid', field: 'spec.ports[0].port' }],
    });
    expect(await apply({ tags: Array.from({ length: 101 }, () => 'x') })).toMatchObject({
      code: 422,
      causes: [{ reason: 'FieldValueTooMany', field: 'spec.tags' }],
    });
    expect(await failureOf(context.widgets().create(context.widget({}, { name: 'Not_A_Name' })))).toMatchObject({
      code: 422,
      causes: [{ field: 'metadata.name' }],
    });
  });

  it('gives the message of a rule, and nothing else', async () => {
    expect(await apply({ start: 5, end: 1 })).toMatchObject({
      code: 422,
      reason: 'Invalid',
      causes: [{ reason: 'FieldValueInvalid', field: 'spec', message: 'end must not be before start' }],
    });
  });

  it('refuses a body over 3 MiB', async () => {
    expect(await apply({ free: { big: 'x'.repeat(3_200_000) } })).toMatchObject({ code: 413, reason: 'RequestEntityTooLarge' });
  });

  it('refuses what exists, what is nowhere, and what another kind is', async () => {
    const widget = context.widget({});
    await context.widgets().create(widget);
    expect(await failureOf(context.widgets().create(widget))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      staleConflict: false,
      retryable: false,
    });
    expect(await failureOf(context.widgets().apply(context.widget({}, { namespace: 'no-such-namespace' })))).toMatchObject({
      code: 404,
      reason: 'NotFound',
    });
    expect(await failureOf(context.widgets().apply({ ...widget, kind: 'Gadget' }))).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(await failureOf(context.widgets().update(context.widget({}, { resourceVersion: '1' })))).toMatchObject({ code: 404 });
    expect(await failureOf(context.widgets().delete({ namespace, name: 'nowhere' }))).toMatchObject({ code: 404 });
  });

  it('refuses to replace without a resourceVersion', async () => {
    const widget = context.widget({});
    await context.widgets().apply(widget);
    expect(await failureOf(context.widgets().update(widget))).toMatchObject({ code: 422, causes: [{ field: 'metadata.resourceVersion' }] });
  });

  it('takes times of a Lease with six decimals only', async () => {
    const lease = (renewTime: string): KubeObject & { readonly spec: object } => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'times', namespace: context.namespace },
      spec: { holderIdentity: 'me', renewTime },
    });
    const leases = context.client('Lease');
    expect(await failureOf(leases.create(lease('2026-01-02T03:04:05.123Z')))).toMatchObject({ code: 400, reason: 'BadRequest' });
    const stored = await leases.create(lease('2026-01-02T03:04:05.123456Z'));
    expect(stored).toMatchObject({ spec: { renewTime: '2026-01-02T03:04:05.123456Z' } });
    expect(await failureOf(leases.update({ ...stored, metadata: { ...stored.metadata, resourceVersion: '1' } }))).toMatchObject({
      code: 409,
      staleConflict: true,
    });
    expect(await leases.update({ ...stored, spec: { holderIdentity: '' } } as typeof stored)).toMatchObject({
      metadata: { name: 'times' },
    });
  });
}
