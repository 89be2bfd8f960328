import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { extractOwned } from './extract.ts';
import { formatElement, parseElement, serializeElement, type PathElement } from './fields.ts';
import type { KubeObject, ManagedFieldsEntry } from './types.ts';

it.each([
  ['f:a.b/c', '.a.b/c'],
  ['k:{"port":80,"protocol":"TCP"}', '[port=80,protocol="TCP"]'],
  ['v:"a"', '[="a"]'],
  ['v:1', '[=1]'],
  ['i:0', '[0]'],
])('writes %s as the API server does: %s', (member, path) => {
  expect(formatElement(parseElement(member) as PathElement)).toBe(path);
});

it('reads every member it writes', () => {
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean());
  const element: fc.Arbitrary<PathElement> = fc.oneof(
    fc.record({ type: fc.constant('field' as const), name: fc.string() }),
    fc.record({
      type: fc.constant('key' as const),
      key: fc.dictionary(fc.string({ minLength: 1 }), scalar, { minKeys: 1, noNullPrototype: true }),
    }),
    fc.record({ type: fc.constant('value' as const), value: scalar }),
    fc.record({ type: fc.constant('index' as const), index: fc.nat() }),
  );
  fc.assert(
    fc.property(element, (each) => {
      expect(parseElement(serializeElement(each))).toEqual(each);
    }),
  );
  expect(parseElement('.')).toBeUndefined();
});

const object = (managedFields: readonly ManagedFieldsEntry[], rest: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'a', namespace: 'b', uid: 'u', managedFields },
  ...rest,
});
const owner = { manager: 'me', operation: 'Apply' } as const;
const entry = (fieldsV1: Record<string, unknown>, rest: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  ...owner,
  fieldsV1,
  ...rest,
});

it('takes an owned value whole, and nothing else', () => {
  const stored = object([entry({ 'f:spec': { 'f:list': {}, 'f:gone': {}, 'f:zero': {}, 'f:null': {} } })], {
    spec: { list: [{ deep: [1] }], zero: 0, null: null, other: 1 },
    status: {},
  });
  expect(extractOwned(stored, owner)).toEqual({
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name: 'a', namespace: 'b' },
    spec: { list: [{ deep: [1] }], zero: 0, null: null },
  });
});

it('takes items by any keys, in the order they stand, and sets by value', () => {
  const fields = {
    'f:spec': {
      'f:ports': {
        'k:{"port":80,"protocol":"TCP"}': { 'f:note': {} },
        'k:{"port":53,"protocol":"UDP"}': { '.': {}, 'f:port': {}, 'f:protocol': {} },
      },
      'f:tags': { 'v:"b"': {}, 'v:1': {} },
    },
  };
  const ports = [
    { port: 53, protocol: 'TCP', note: 'not mine' },
    { port: 53, protocol: 'UDP', note: 'not mine' },
    { port: 80, protocol: 'TCP', note: 'mine', other: 1 },
  ];
  expect(extractOwned(object([entry(fields)], { spec: { ports, tags: ['a', 'b', 1] } }), owner)).toMatchObject({
    spec: {
      ports: [
        { port: 53, protocol: 'UDP' },
        { port: 80, protocol: 'TCP', note: 'mine' },
      ],
      tags: ['b', 1],
    },
  });
});

it('leaves out what others own below an owned map or list', () => {
  const theirs = entry({ 'f:spec': { 'f:map': { 'f:b': {} }, 'f:set': { 'v:"y"': {} } } }, { manager: 'other', operation: 'Update' });
  const stored = object([entry({ 'f:spec': { 'f:map': {}, 'f:set': {} } }), theirs], { spec: { map: { a: 1, b: 2 }, set: ['x', 'y'] } });
  expect(extractOwned(stored, owner)).toMatchObject({ spec: { map: { a: 1 }, set: ['x'] } });
});

it('distinguishes managers, operations and subresources', () => {
  const stored = object(
    [
      entry({ 'f:spec': { 'f:a': {} } }, { operation: 'Update' }),
      entry({ 'f:status': { 'f:b': {} } }, { subresource: 'status' }),
      entry({ 'f:spec': { 'f:c': {} } }, { manager: 'you' }),
    ],
    { spec: { a: 1, c: 3 }, status: { b: 2 } },
  );
  expect(extractOwned(stored, owner)).toEqual({ apiVersion: 'v1', kind: 'X', metadata: { name: 'a', namespace: 'b' } });
  expect(extractOwned(stored, { ...owner, subresource: 'status' })).toMatchObject({ status: { b: 2 } });
});

it('takes keys that are special to JavaScript as data', () => {
  const stored = object([entry({ 'f:spec': { 'f:__proto__': {}, 'f:constructor': {} } })], {
    spec: JSON.parse('{"__proto__": "data", "constructor": "data"}') as object,
  });
  expect(JSON.stringify(extractOwned(stored, owner).metadata)).toBe('{"name":"a","namespace":"b"}');
  expect(JSON.stringify((extractOwned(stored, owner) as unknown as { spec: object }).spec)).toBe(
    '{"__proto__":"data","constructor":"data"}',
  );
});
