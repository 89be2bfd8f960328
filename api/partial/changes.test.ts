import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { agentKind } from '../../crds/index.ts';
import { applyChanges, changesBetween, inOrderOf } from './changes.ts';
import { sameJson } from '../../platform/json.ts';
import { formatPath } from './path.ts';
import { shapeOf } from './shape.ts';

const shape = shapeOf(
  z.object({
    a: z.int().optional(),
    nested: z.object({ b: z.string().optional(), c: z.string().optional() }).optional(),
    items: z
      .array(z.object({ name: z.string(), x: z.int().optional(), list: z.array(z.int()).optional() }))
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
      .optional(),
    words: z.array(z.string()).meta({ 'x-kubernetes-list-type': 'set' }).optional(),
    free: z.record(z.string(), z.unknown()).optional(),
  }),
);

const text = fc.constantFrom('', 'p', 'q');
const state = fc.record(
  {
    a: fc.nat(2),
    nested: fc.record({ b: text, c: text }, { requiredKeys: [] }),
    items: fc.uniqueArray(
      fc.record({ name: text, x: fc.nat(2), list: fc.array(fc.nat(2), { maxLength: 2 }) }, { requiredKeys: ['name'] }),
      { selector: (item) => item.name },
    ),
    words: fc.uniqueArray(text),
    free: fc.dictionary(fc.constantFrom('u', 'v', '__proto__'), fc.jsonValue({ maxDepth: 2 })),
  },
  { requiredKeys: [] },
);

/** Removes empty containers: clearing the last field of one takes it along, and an empty one and none are the same here. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => pruned(item) ?? item);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .map(([name, item]) => [name, pruned(item)] as const)
    .filter(([, item]) => item !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

describe('changes between two states', () => {
  it('lead from the one to the other, whatever the two are', () => {
    fc.assert(
      fc.property(state, state, (before, after) => {
        const result = inOrderOf(shape, applyChanges(before, changesBetween(shape, before, after)), after);
        expect(sameJson(pruned(result), pruned(after))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('are none between equal states', () => {
    fc.assert(
      fc.property(state, (same) => {
        expect(changesBetween(shape, same, structuredClone(same))).toEqual({ sets: [], clears: [] });
      }),
    );
  });

  it('name single fields of list items, as the API server does', () => {
    const { sets, clears } = changesBetween(
      shapeOf(agentKind.spec),
      {
        requiredDynamicData: ['a', 'b'],
        dynamicData: [
          { name: 'x', url: 'http://1', body: { k: { a: 1, b: [1] } } },
          { name: 'y', url: 'http://2' },
        ],
      },
      { requiredDynamicData: ['b', 'c'], dynamicData: [{ name: 'x', url: 'http://3', body: { k: { a: 1, b: [2] } } }] },
    );
    expect(sets.map(({ path }) => formatPath(path))).toEqual([
      '.requiredDynamicData[="c"]',
      '.dynamicData[name="x"].url',
      '.dynamicData[name="x"].body',
    ]);
    expect(clears.map(formatPath)).toEqual(['.requiredDynamicData[="a"]', '.dynamicData[name="y"]']);
  });
});
