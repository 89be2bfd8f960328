import { expect, it } from 'vitest';

import { readCallsFragment } from './calls-fragment.ts';

it('brings a call, a key, both, or nothing', () => {
  expect(readCallsFragment('#call_01-a&key=pk_abc')).toEqual({ call: 'call_01-a', key: 'pk_abc' });
  expect(readCallsFragment('#call_01-a')).toEqual({ call: 'call_01-a', key: undefined });
  expect(readCallsFragment('#key=pk_abc')).toEqual({ call: undefined, key: 'pk_abc' });
  for (const nothing of ['', '#', '#key=', '#call_<b>']) expect(readCallsFragment(nothing)).toEqual({ call: undefined, key: undefined });
});
