import { expect, it } from 'vitest';
import { parse } from 'yaml';

import { jsonAsYaml } from './yaml.ts';

it('is plain JSON where the two agree', () => {
  const value = { text: 'ü 🎉 "\\" \n\t\u0000 // # - ? ,}{][', list: [1.5, -0.1, 1e-7, true, null], empty: {} };
  expect(jsonAsYaml(value)).toBe(JSON.stringify(value));
});

it('escapes what YAML reads differently, in values and keys', () => {
  const value = { 'a\u0085b': 'a \u2028 b\u2029\u007f\u009f\ufeff\ufffe\uffff' };
  expect(jsonAsYaml(value)).toBe(String.raw`{"a\u0085b":"a \u2028 b\u2029\u007f\u009f\ufeff\ufffe\uffff"}`);
  expect(JSON.parse(jsonAsYaml(value))).toEqual(value);
});

it('puts U+FFFD in place of lone surrogates, and of nothing that only looks like one', () => {
  const value = { 'a \ud83d': ['\ude00\ud83d', '\\ud83d', '\\\ud83d', '🎉'] };
  const yaml = jsonAsYaml(value);
  expect(JSON.parse(yaml)).toEqual({ 'a \ufffd': ['\ufffd\ufffd', '\\ud83d', '\\\ufffd', '🎉'] });
  expect(parse(yaml)).toEqual(JSON.parse(yaml));
});

it('announces a key that only its escapes make long', () => {
  for (const length of [165, 166, 167, 168]) {
    const value = { list: [{ ['\u0001'.repeat(length)]: 'a'.repeat(1000) }] };
    expect(jsonAsYaml(value).includes('? "')).toBe(6 * length + 3 > 1000);
    expect(parse(jsonAsYaml(value))).toEqual(value);
  }
});

it('announces long keys, and nothing that only looks like one', () => {
  const long = 'k"\\:'.repeat(400);
  const value = { a: { [long]: long, b: [`${long}":`, { [long]: { [long]: 1 } }] } };
  const yaml = jsonAsYaml(value);
  expect(yaml.match(/\? "/g)).toHaveLength(3);
  expect(parse(yaml)).toEqual(value);
});
