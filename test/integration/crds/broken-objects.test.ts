/** Hundreds of broken objects, made from the schemas of the kinds: the API server refuses each, and names the field and what is allowed. */
import { describe, expect, it } from 'vitest';

import { kinds } from '../../../crds/index.ts';
import { mulberry } from '../../../platform/mulberry.ts';
import { forEachOf } from '../../bench/harness/rounds.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { brokenObjects, type BrokenObject } from './broken-objects.ts';
import { openCluster } from './support.ts';

const SEED = 20_261_201;
/** Of each defect of a kind so many are tried. */
const OF_EACH = 12;
const AT_ONCE = 8;
/** Whatever the kinds become, their schemas have room for each of these. */
const DEFECTS = [
  'another type',
  'an unknown field',
  'a field missing',
  'too short',
  'too long',
  'another form',
  'a value that is none',
  'too small',
  'too large',
  'out of range',
  'too few items',
  'too many items',
  'too many entries',
  'a type without its member',
  'a member of another type',
  'another type than the member',
  'two members',
  'no member',
  'a forbidden change',
];

const all = brokenObjects(SEED);
const groups = Object.groupBy(all, ({ kind, defect }) => `${kind}: ${defect}`);
const random = mulberry(SEED);
const chosen = Object.values(groups).flatMap((group = []) =>
  group
    .map((each) => ({ each, order: random() }))
    .toSorted((one, other) => one.order - other.order)
    .slice(0, OF_EACH)
    .map(({ each }) => each),
);

describe('broken objects', () => {
  const cluster = suiteFixture(() => openCluster('broken'));

  /** Returns what is wrong with the answer; undefined for one that says all that a person needs. */
  async function complaint(
    { kind, defect, node, object, before, field, allowed }: BrokenObject,
    index: number,
  ): Promise<object | undefined> {
    const name = `${kind.toLowerCase()}-${index}`;
    if (before !== undefined) await cluster.apply({ ...before, metadata: { name } });
    const answer = await cluster.answer({ ...object, metadata: { name } }, { update: before !== undefined });
    const said = answer.find((cause) => cause.includes(field) && allowed.every((text) => cause.includes(text)));
    return said === undefined ? { node, defect, field, allowed, answer, spec: object.spec } : undefined;
  }

  it('are all refused, with the field and what is allowed', async () => {
    const found: object[] = [];
    await forEachOf(chosen, AT_ONCE, async (each, index) => {
      const wrong = await complaint(each, index);
      if (wrong !== undefined) found.push(wrong);
    });
    expect(found).toEqual([]);
  });

  it('are of every kind and way, and at least 300', () => {
    expect(new Set(chosen.map(({ kind }) => kind))).toEqual(new Set(kinds.map(({ descriptor }) => descriptor.kind)));
    expect(chosen.length).toBeGreaterThanOrEqual(300);
    expect(Array.from(new Set(chosen.map(({ defect }) => defect)))).toEqual(expect.arrayContaining(DEFECTS));
  });
});
