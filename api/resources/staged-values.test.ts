import { describe, expect, it } from 'vitest';

import type { KubeObject, Stored } from '../../kube/types.ts';
import { ownCompanionName } from '../codec/secrets.ts';
import { planValueWrites, type ValueChange } from './staged-values.ts';

const usual = 'agent-a';
const own = ownCompanionName('Agent', 'a', 'uid-1');
const owner = { apiVersion: 'v1', kind: 'Agent', metadata: { namespace: 'acme', name: 'a', uid: 'uid-1' } } as Stored<KubeObject>;
const ref = (key: string, name = usual) => ({ name, key });
const pending = (...keys: string[]) => new Map(keys.map((key) => [key, `value of ${key}`]));

const planned = (change: Partial<ValueChange>) =>
  planValueWrites({
    namespace: 'acme',
    for: { kind: 'Agent', name: 'a' },
    owner: undefined,
    companions: {},
    before: {},
    after: {},
    ...change,
  }).map(({ kind, name, pending: values, replaced }) => [kind, name, [...values.keys()], replaced]);

describe('the writes of values', () => {
  it('are none where nothing comes and everything stays', () => {
    expect(planned({})).toEqual([]);
    expect(planned({ owner, before: { Secret: [ref('k')] }, after: { Secret: [ref('k')] } })).toEqual([]);
    expect(planned({ companions: { Secret: { name: usual, pending: new Map() } } })).toEqual([]);
  });

  it('put what comes where it belongs, and take what it replaces', () => {
    const companions = { Secret: { name: usual, pending: pending('new') }, ConfigMap: { name: usual, pending: pending('prompt') } };
    const change = { companions, before: { Secret: [ref('old')] }, after: { Secret: [ref('new')] } };
    expect(planned({ ...change, owner })).toEqual([
      ['Secret', usual, ['new'], ['old']],
      ['ConfigMap', usual, ['prompt'], []],
    ]);
  });

  it('rid the usual place of its keys when the values have moved to one of their own, and leave others alone', () => {
    const before = { Secret: [ref('old'), ref('older', own), ref('of a person', 'theirs')] };
    const companions = { Secret: { name: own, pending: pending('new') } };
    expect(planned({ owner, companions, before })).toEqual([
      ['Secret', usual, [], ['old']],
      ['Secret', own, ['new'], ['older']],
    ]);
  });
});
