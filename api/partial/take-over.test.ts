import { describe, expect, it } from 'vitest';

import type { ManagedFieldsEntry } from '../../kube/types.ts';
import { field, type Path } from './path.ts';
import { takeOver } from './take-over.ts';

const entry = (manager: string, spec: object, operation: 'Apply' | 'Update' = 'Apply'): ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': spec },
});
const after = (managedFields: readonly ManagedFieldsEntry[], ...paths: Path[]) =>
  takeOver({ apiVersion: 'v1', kind: 'Agent', metadata: { name: 'a', managedFields } }, paths, 'me');
const path = (...names: string[]): Path => ['spec', ...names].map(field);

describe('takeOver', () => {
  it('takes a field from all others, with all below, and leaves them the rest', () => {
    const others = [
      entry('git', { 'f:a': { 'f:b': {}, 'f:c': {} } }),
      entry('edit', { 'f:a': { '.': {}, 'f:b': { 'f:d': {} } } }, 'Update'),
    ];
    expect(after(others, path('a', 'b'))).toEqual([
      entry('git', { 'f:a': { 'f:c': {} } }),
      entry('edit', { 'f:a': { '.': {} } }, 'Update'),
      entry('me', { 'f:a': { 'f:b': {} } }),
    ]);
  });

  it('leaves nobody an emptied container, which would be owned whole, nor an emptied entry', () => {
    expect(after([entry('git', { 'f:a': { 'f:b': {} }, 'f:c': {} }), entry('edit', { 'f:a': { 'f:b': {} } })], path('a', 'b'))).toEqual([
      entry('git', { 'f:c': {} }),
      entry('me', { 'f:a': { 'f:b': {} } }),
    ]);
  });

  it('adds to what is owned already, also what was once written as an update, and leaves the status alone', () => {
    const status = { ...entry('operator', { 'f:a': {} }), subresource: 'status' };
    const mine = [entry('me', { 'f:a': { 'f:b': {} } }, 'Update'), entry('me', { 'f:a': {}, 'f:c': {} })];
    expect(after([...mine, status], path('a', 'b'), path('d'))).toEqual([
      status,
      entry('me', { 'f:a': { '.': {}, 'f:b': {} }, 'f:c': {}, 'f:d': {} }),
    ]);
  });

  it('finds items by their keys in any order', () => {
    const item: Path = [field('spec'), field('ports'), { type: 'key', key: { port: 1, protocol: 'TCP' } }];
    const ports = { 'k:{"protocol":"TCP","port":1}': { '.': {}, 'f:port': {} }, 'k:{"protocol":"UDP","port":1}': { '.': {} } };
    const [git] = after([entry('git', { 'f:ports': ports })], item);
    expect(git).toEqual(entry('git', { 'f:ports': { 'k:{"protocol":"UDP","port":1}': { '.': {} } } }));
  });
});
