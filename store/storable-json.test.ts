import { expect, it } from 'vitest';

import { storableJson } from './storable-json.ts';

it.each([
  ['a\u0000b', 'a\ufffdb'],
  ['half \ud83d', 'half \ufffd'],
  ['\ude00 half', '\ufffd half'],
  ['whole \ud83d\ude00', 'whole \ud83d\ude00'],
  [String.raw`C:\u0000`, String.raw`C:\u0000`],
  ['\\\u0000', '\\\ufffd'],
])('%j is stored as %j', (text, stored) => {
  expect(JSON.parse(storableJson({ [text]: [text] }))).toEqual({ [stored]: [stored] });
});
