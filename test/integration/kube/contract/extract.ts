import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { extractOwned } from '../../../../kube/index.ts';
import type { ContractContext } from './context.ts';
import type { Widget } from './widget.ts';

const word = fc.stringMatching(/^[a-z]{1,6}$/);
const words = fc.uniqueArray(word, { maxLength: 4 });
/** Generates maps that hold something: a rule of its own distinguishes an empty one from an absent one. */
const filled = <V>(value: fc.Arbitrary<V>): fc.Arbitrary<Record<string, V>> =>
  fc.dictionary(word, value, { minKeys: 1, maxKeys: 3, noNullPrototype: true });
const some = <V extends object>(object: fc.Arbitrary<V>): fc.Arbitrary<V> => object.filter((value) => Object.keys(value).length > 0);

/** Generates anything that a Widget may hold. */
const specs: fc.Arbitrary<NonNullable<Widget['spec']>> = some(
  fc.record(
    {
      title: fc.string({ maxLength: 5 }),
      start: fc.integer({ min: -1000, max: 0 }),
      end: fc.integer({ min: 0, max: 1000 }),
      size: fc.constantFrom('small', 'large'),
      nested: some(fc.record({ a: word, b: word }, { requiredKeys: [] })),
      free: filled(fc.oneof(word, fc.integer(), fc.boolean(), fc.array(word, { maxLength: 2 }), filled(word))),
      map: filled(word),
      tags: fc.array(word, { maxLength: 3 }),
      set: fc.uniqueArray(word, { minLength: 1, maxLength: 4 }),
      ports: words
        .filter((names) => names.length > 0)
        .chain((names) =>
          fc.tuple(
            ...names.map((name) =>
              fc.record({ name: fc.constant(name), port: fc.integer({ min: 1, max: 9 }), note: word }, { requiredKeys: ['name'] }),
            ),
          ),
        ),
      atomic: fc.record({ x: word, y: word }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  ),
);

export function extractRules(context: ContractContext): void {
  const mine = { manager: 'first', operation: 'Apply' } as const;

  it('reads back what was applied, whatever it was, next to another manager', async () => {
    const others = context.widgets('second');
    await fc.assert(
      fc.asyncProperty(specs, specs, async (spec, theirs) => {
        const widget = context.widget(spec, { labels: { a: 'b' } });
        await others.apply({ ...widget, metadata: { name: widget.metadata.name, namespace: context.namespace }, spec: theirs });
        const stored = await context.widgets('first').apply(widget, { force: true });
        const extracted = extractOwned(stored, mine);
        expect(withSortedItems(extracted)).toEqual(withSortedItems(widget));
        // Applying it again says the same thing.
        const again = await context.widgets('first').apply(extracted as Widget);
        expect(again.metadata.resourceVersion).toBe(stored.metadata.resourceVersion);
        await context.widgets().delete(widget.metadata);
      }),
      { numRuns: 25 },
    );
  });

  it('leaves out what others own, but keeps the keys of list items', async () => {
    const widget = context.widget({ nested: {}, ports: [{ name: 'http', note: 'n' }] });
    await context.widgets('first').apply(widget);
    const stored = await context.widgets('second').apply({
      ...widget,
      spec: {
        title: 'theirs',
        nested: { a: '1' },
        ports: [
          { name: 'http', port: 80 },
          { name: 'grpc', port: 90 },
        ],
      },
    });
    expect(extractOwned(stored, mine).spec).toEqual({ nested: {}, ports: [{ name: 'http', note: 'n' }] });
    expect(extractOwned(stored, { manager: 'second', operation: 'Apply' }).spec).toEqual({
      title: 'theirs',
      nested: { a: '1' },
      ports: [
        { name: 'http', port: 80 },
        { name: 'grpc', port: 90 },
      ],
    });
    expect(extractOwned(stored, { manager: 'third', operation: 'Apply' })).toEqual({
      apiVersion: widget.apiVersion,
      kind: widget.kind,
      metadata: { name: widget.metadata.name, namespace: context.namespace },
    });
  });

  it('distinguishes the status from the rest', async () => {
    const widget = context.widget({ title: 'a' });
    await context.widgets('first').apply(widget);
    const stored = await context.widgets('first').applyStatus({ ...widget, status: { phase: 'up' } });
    expect(extractOwned(stored, mine)).not.toHaveProperty('status');
    expect(extractOwned(stored, { ...mine, subresource: 'status' })).toMatchObject({ status: { phase: 'up' } });
    expect(extractOwned(stored, { ...mine, subresource: 'status' })).not.toHaveProperty('spec');
  });
}

/** Sorts keyed items, whose order among those of others is the server's business. */
function withSortedItems(value: { readonly spec?: unknown }): unknown {
  const spec = value.spec as Widget['spec'];
  const sorted = {
    ...(spec?.ports === undefined ? {} : { ports: [...spec.ports].sort((a, b) => (a.name < b.name ? -1 : 1)) }),
    ...(spec?.set === undefined ? {} : { set: [...spec.set].sort() }),
  };
  return { ...value, spec: { ...spec, ...sorted } };
}
