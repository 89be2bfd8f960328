import { expect, it } from 'vitest';

import type { ContractContext } from './context.ts';
import { failureOf } from './failure-of.ts';

export function applyRules(context: ContractContext): void {
  const { namespace } = context;

  it('removes what its manager leaves out, and nothing of others', async () => {
    const widget = context.widget({ title: 'a', nested: { a: '1' }, map: { x: '1' }, ports: [{ name: 'http', port: 80 }] });
    const { metadata } = widget;
    await context.widgets('first').apply(widget);
    await context
      .widgets('second')
      .apply({ ...widget, spec: { nested: { b: '2' }, map: { y: '2' }, ports: [{ name: 'grpc', port: 90 }] } });
    const both = await context.widgets().get(metadata);
    expect(both.spec).toEqual({
      title: 'a',
      size: 'small',
      nested: { a: '1', b: '2' },
      map: { x: '1', y: '2' },
      ports: [
        { name: 'http', port: 80 },
        { name: 'grpc', port: 90 },
      ],
    });

    const left = await context.widgets('first').apply({ ...widget, spec: { start: 1 } });
    expect(left.spec).toEqual({ size: 'small', start: 1, nested: { b: '2' }, map: { y: '2' }, ports: [{ name: 'grpc', port: 90 }] });
    const none = await context.widgets('second').apply({ ...widget, spec: {} });
    expect(none.spec).toEqual({ size: 'small', start: 1 });
  });

  it('keeps every text and key as it is', async () => {
    const long = 'k'.repeat(2000);
    const texts = ['a\u0085b', 'a \u2028 b\u2029', '\u0000\u007f\u009f', '\ufeff\ufffe\uffff', 'yes', '- a: #b', '\t\r\n \\ "', 'é🎉'];
    const free = { texts, '<<': { on: 1e-7 }, '~': null, [long]: { [`${long}":`]: long }, 'a\u0085\u007f': 0.1 + 0.2 };
    const widget = context.widget({ free });
    expect((await context.widgets().apply(widget)).spec?.free).toEqual(free);
    expect((await context.widgets().get(widget.metadata)).spec?.free).toEqual(free);
  });

  it('reads a lone surrogate as U+FFFD, as in a create', async () => {
    const free = { 'half \ud83d': ['\ude00 half', '\ud83d\ud83d', '\\ud83d', '\\\ud83d', '🎉'] };
    const read = { 'half \ufffd': ['\ufffd half', '\ufffd\ufffd', '\\ud83d', '\\\ufffd', '🎉'] };
    expect((await context.widgets().create(context.widget({ free }))).spec?.free).toEqual(read);
    expect((await context.widgets().apply(context.widget({ free }))).spec?.free).toEqual(read);
  });

  it('names each field that another manager owns, and the manager', async () => {
    const spec = {
      title: 'a',
      nested: { a: '1' },
      map: { x: '1' },
      tags: ['a'],
      atomic: { x: '1' },
      ports: [{ name: 'http', port: 80 }],
      free: { q: { z: 1 } },
    };
    const widget = context.widget(spec, { labels: { team: 'a' }, annotations: { 'example.com/note': 'a' } });
    await context.widgets('first').apply(widget);
    const other = {
      ...widget,
      metadata: { ...widget.metadata, labels: { team: 'b' }, annotations: { 'example.com/note': 'b' } },
      spec: {
        title: 'b',
        nested: { a: '2' },
        map: { x: '2' },
        tags: ['b'],
        atomic: { y: '2' },
        ports: [{ name: 'http', port: 81 }],
        free: { q: { z: 2 } },
      },
    };
    for (const dryRun of [false, true]) {
      const error = await failureOf(context.widgets('second').apply(other, { dryRun }));
      expect(error).toMatchObject({ code: 409, reason: 'Conflict', ownershipConflict: true, staleConflict: false, retryable: false });
      expect([...error.causes].sort((a, b) => (a.field < b.field ? -1 : 1))).toMatchObject(
        [
          '.metadata.annotations.example.com/note',
          '.metadata.labels.team',
          '.spec.atomic',
          '.spec.free.q.z',
          '.spec.map.x',
          '.spec.nested.a',
          '.spec.ports[name="http"].port',
          '.spec.tags',
          '.spec.title',
        ].map((field) => ({ field, message: 'conflict with "first"' })),
      );
    }
    expect((await context.widgets().get(widget.metadata as { name: string })).spec).toMatchObject(spec);

    const forced = await context.widgets('second').apply(other, { force: true });
    expect(forced.spec).toMatchObject(other.spec);
    // A field that another manager took is no longer the first manager's: leaving it out removes nothing.
    const after = await context.widgets('first').apply({ ...widget, metadata: { name: widget.metadata.name, namespace }, spec: {} });
    expect(after.spec).toMatchObject(other.spec);
    expect(after.metadata.labels).toEqual({ team: 'b' });
  });

  it('lets two managers own one field while they agree on it', async () => {
    const widget = context.widget({ title: 'same' });
    await context.widgets('first').apply(widget);
    await context.widgets('second').apply(widget);
    const left = await context.widgets('first').apply({ ...widget, spec: {} });
    expect(left.spec?.title).toBe('same');
    const gone = await context.widgets('second').apply({ ...widget, spec: {} });
    expect(gone.spec?.title).toBeUndefined();
  });

  it('counts an ordinary update by the same name as another owner', async () => {
    const widget = context.widget({ title: 'created' });
    await context.widgets('first').create(widget);
    const error = await failureOf(context.widgets('first').apply({ ...widget, spec: { title: 'applied' } }));
    expect(error.causes).toMatchObject([
      { field: '.spec.title', message: expect.stringMatching(/^conflict with "first" using contract\.parley\.dev\/v1/) },
    ]);
  });

  it('takes ownership away with an ordinary update', async () => {
    const widget = context.widget({ title: 'applied', start: 1 });
    const stored = await context.widgets('first').apply(widget);
    await context.widgets('editor').update({ ...stored, spec: { ...stored.spec, title: 'edited' } });
    const error = await failureOf(context.widgets('first').apply(widget));
    expect(error.causes).toMatchObject([{ field: '.spec.title', message: expect.stringContaining('"editor"') }]);
    expect((await context.widgets('first').apply({ ...widget, spec: { start: 2 } })).spec).toMatchObject({ title: 'edited', start: 2 });
  });

  it('owns items of a keyed list and of a set one by one', async () => {
    const widget = context.widget({ ports: [{ name: 'a', port: 1 }], set: ['x', 'y'] });
    await context.widgets('first').apply(widget);
    await context.widgets('second').apply({
      ...widget,
      spec: {
        ports: [
          { name: 'b', port: 2 },
          { name: 'a', note: 'mine' },
        ],
        set: ['y', 'z'],
      },
    });
    const stored = await context.widgets('first').apply({ ...widget, spec: {} });
    expect([...(stored.spec?.ports ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: 'a', note: 'mine' },
      { name: 'b', port: 2 },
    ]);
    expect([...(stored.spec?.set ?? [])].sort()).toEqual(['y', 'z']);
  });

  it('changes nothing when nothing changes', async () => {
    const widget = context.widget({ title: 'same', ports: [{ name: 'a' }] });
    const once = await context.widgets().apply(widget);
    const twice = await context.widgets().apply(widget);
    expect(twice.metadata.resourceVersion).toBe(once.metadata.resourceVersion);
    expect(twice.metadata.managedFields).toEqual(once.metadata.managedFields);
  });

  it('refuses a stale resourceVersion, without causes', async () => {
    const widget = context.widget({ title: 'a' });
    const old = await context.widgets().apply(widget);
    await context.widgets().apply({ ...widget, spec: { title: 'b' } });
    const stale = { ...widget, metadata: { ...widget.metadata, resourceVersion: old.metadata.resourceVersion }, spec: { title: 'c' } };
    const error = await failureOf(context.widgets().apply(stale));
    expect(error).toMatchObject({
      code: 409,
      reason: 'Conflict',
      staleConflict: true,
      ownershipConflict: false,
      causes: [],
      retryable: true,
    });
    expect(await failureOf(context.widgets().update({ ...old, spec: { title: 'c' } }))).toMatchObject({ code: 409, staleConflict: true });
  });

  it('creates an object that is gone, unless a uid is given', async () => {
    const widget = context.widget({ title: 'a' });
    const first = await context.widgets().apply(widget);
    await context.widgets().delete(widget.metadata);
    const withUid = { ...widget, metadata: { ...widget.metadata, uid: first.metadata.uid } };
    expect(await failureOf(context.widgets().apply(withUid))).toMatchObject({ code: 409, reason: 'Conflict', staleConflict: true });
    const second = await context
      .widgets()
      .apply({ ...widget, metadata: { ...widget.metadata, resourceVersion: first.metadata.resourceVersion } });
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    // The name belongs to another object by now.
    expect(await failureOf(context.widgets().apply(withUid))).toMatchObject({ code: 409, reason: 'Conflict', staleConflict: true });
  });

  it('only creates where that is asked for: of many at once one does, and owns the fields as by any apply', async () => {
    const widget = context.widget({ title: 'new' });
    const dry = await context.widgets('first').applyNew(widget, { dryRun: true });
    expect(dry.spec).toMatchObject({ title: 'new' });
    const attempts = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((title) => context.widgets('first').applyNew({ ...widget, spec: { title } })),
    );
    const [made, ...others] = attempts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(others).toEqual([]);
    for (const spec of [widget.spec, made?.spec])
      for (const manager of ['first', 'second'])
        for (const dryRun of [true, false]) {
          const again = context.widgets(manager).applyNew({ ...widget, ...(spec && { spec }) }, { dryRun });
          expect(await failureOf(again)).toMatchObject({ code: 409, staleConflict: true });
        }
    expect(await context.widgets().get(widget.metadata)).toEqual(made);
    const changed = await context.widgets('first').apply({ ...widget, spec: { start: 1 } });
    expect(changed.spec).not.toHaveProperty('title');
    expect(changed.metadata.managedFields).toMatchObject([{ manager: 'first', operation: 'Apply' }]);
  });

  it('tries without doing', async () => {
    const widget = context.widget({ title: 'dry' });
    const dry = await context.widgets().apply(widget, { dryRun: true });
    expect(dry.spec).toEqual({ title: 'dry', size: 'small' });
    expect((await failureOf(context.widgets().get(widget.metadata as { name: string }))).code).toBe(404);
    const stored = await context.widgets().apply(widget);
    await context.widgets().apply({ ...widget, spec: { title: 'other' } }, { dryRun: true });
    await context.widgets().delete(widget.metadata, { dryRun: true });
    expect(await context.widgets().get(widget.metadata as { name: string })).toEqual(stored);
  });

  it('writes the data of a Secret from stringData, and owns it as stringData', async () => {
    const secrets = context.client('Secret');
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'from-strings', namespace }, stringData: { key: 'value' } };
    const stored = await secrets.apply(secret);
    expect(stored).toMatchObject({ data: { key: Buffer.from('value').toString('base64') } });
    expect(stored).not.toHaveProperty('stringData');
  });
}
