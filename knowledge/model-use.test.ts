import { expect, it } from 'vitest';

import { reportedUseOf } from './model-use.ts';

it.each<[string, unknown, object]>([
  ['tokens of questions', { usage: { prompt_tokens: 3, total_tokens: 5 } }, { tokens: 3 }],
  ['tokens of all', { usage: { total_tokens: 5 } }, { tokens: 5 }],
  ['search units', { meta: { api_version: {}, billed_units: { search_units: 2 } } }, { searchUnits: 2 }],
  ['zeros, which are no count', { usage: { prompt_tokens: 0, total_tokens: 0 }, meta: { billed_units: { search_units: 0 } } }, {}],
  ['one number and one that is none', { usage: { prompt_tokens: 'three', total_tokens: 5 } }, { tokens: 5 }],
  ['something else under these names', { usage: 'much', meta: [] }, {}],
  ['null', { usage: null, meta: null }, {}],
  ['a list', [{ index: 0, score: 1 }], {}],
  ['nothing', {}, {}],
])('reads %s', (_what, answer, expected) => {
  expect(reportedUseOf(answer)).toEqual(expected);
});
