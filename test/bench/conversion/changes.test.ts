import { describe, expect, it } from 'vitest';

import { ValueGenerator } from '../../support/generated-objects.ts';
import { convert, type Change, type ConvertedObject, KEPT } from './changes.ts';
import { changedKinds, NEW, OLD, randomObject, toVersion } from './kinds.ts';

const kinds = changedKinds();
const object = (apiVersion: string, spec: object): ConvertedObject => ({
  apiVersion,
  kind: 'Agent',
  metadata: { name: 'a' },
  spec: { ...spec },
});

describe('a change and its inverse', () => {
  const cases: readonly (readonly [Change, object, object])[] = [
    [{ type: 'rename', at: ['a', '[]'], field: 'old', to: 'new' }, { a: [{ old: 1 }, {}] }, { a: [{ new: 1 }, {}] }],
    [{ type: 'move', at: [], from: 'a', field: 'x', to: 'x' }, { a: { x: 1, y: 2 } }, { a: { y: 2 }, x: 1 }],
    [{ type: 'split', at: [], field: 'name', into: ['first', 'rest'] }, { name: 'Ada  King' }, { first: 'Ada', rest: ' King' }],
    [{ type: 'split', at: [], field: 'name', into: ['first', 'rest'] }, { name: '' }, { first: '' }],
    [
      { type: 'listToMap', at: [], field: 'tools', key: 'name' },
      { tools: [{ name: 'a', x: 1 }, { name: 'b' }] },
      { tools: { a: { x: 1 }, b: {} } },
    ],
    [{ type: 'newValue', at: [], field: 'mode', value: 'Future' }, { mode: 'Future' }, { mode: 'Future' }],
  ];

  it.each(cases)('%j', (change, old, young) => {
    expect(convert(object(OLD, old), [change], 'up', NEW)).toEqual(object(NEW, young));
    expect(convert(object(NEW, young), [change], 'down', OLD)).toEqual(object(OLD, old));
  });

  it('keeps in an annotation what the other version has no place for', () => {
    const removed: Change = { type: 'remove', at: ['a'], field: 'gone' };
    const young = convert(object(OLD, { a: { gone: 'x' } }), [removed], 'up', NEW);
    expect(young).toMatchObject({ metadata: { annotations: { [KEPT.up]: '{"a.gone":"x"}' } }, spec: { a: {} } });
    expect(convert(young, [removed], 'down', OLD)).toEqual(object(OLD, { a: { gone: 'x' } }));
    const unordered: Change = { type: 'listToMap', at: [], field: 'tools', key: 'name' };
    const old = object(OLD, { tools: [{ name: 'b' }, { name: 'a' }] });
    expect(convert(convert(old, [unordered], 'up', NEW), [unordered], 'down', OLD)).toEqual(old);
  });

  it('brings a new member back, unless a client of the former version has chosen another type', () => {
    const member: Change = { type: 'newMember', at: [], discriminator: 'type', value: 'Future', member: 'future' };
    const young = object(NEW, { type: 'Future', future: { note: 'n' } });
    const old = convert(young, [member], 'down', OLD);
    expect(old.spec).toEqual({ type: 'Future' });
    expect(convert(old, [member], 'up', NEW)).toEqual(young);
    expect(convert({ ...old, spec: { type: 'Custom' } }, [member], 'up', NEW)).toEqual(object(NEW, { type: 'Custom' }));
  });

  it.each(['nonsense', '[]', '"text"'])('reads an object whose annotation is %s', (text) => {
    const annotated = { ...object(NEW, { b: 1 }), metadata: { name: 'a', annotations: { [KEPT.up]: text } } };
    expect(convert(annotated, [{ type: 'remove', at: [], field: 'gone' }], 'down', OLD)).toEqual(object(OLD, { b: 1 }));
  });
});

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('%s', (_name, kind) => {
  it('has changes, each of another type', () => {
    const types = kind.changes.map(({ type }) => type);
    expect(types).toEqual([...new Set(types)]);
    expect(types).toEqual(expect.arrayContaining(['remove', 'rename']));
  });

  it.each([
    [OLD, NEW],
    [NEW, OLD],
  ] as const)('comes back whole from %s over %s', (from, to) => {
    const generator = new ValueGenerator(20_261_201);
    for (let index = 0; index < 100; index += 1) {
      const random = randomObject(kind, from, 'a', generator);
      expect(toVersion(kinds, toVersion(kinds, random, to), from)).toEqual(random);
    }
  });
});

it('is tried with every type of change', () => {
  const types = new Set(kinds.flatMap(({ changes }) => changes.map(({ type }) => type)));
  expect([...types].toSorted()).toEqual(['listToMap', 'move', 'newMember', 'newValue', 'remove', 'rename', 'split']);
});
