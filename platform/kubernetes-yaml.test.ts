import { describe, expect, it } from 'vitest';

import { readYaml } from './yaml.ts';

const valueOf = (text: string): unknown => (readYaml(`v: ${text}\n`, { dialect: 'kubernetes' })[0]!.value as { readonly v: unknown }).v;

/** sigs.k8s.io/yaml 1.4.0 reads each text as this value. */
const READ: readonly (readonly [text: string, value: unknown])[] = [
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'true', 'True', 'TRUE'].map((text) => [text, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'false', 'False', 'FALSE'].map((text) => [text, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((text) => [text, null] as const),
  ...['yEs', 'tRUE', 'nil', 'e3', '.e3', '.', '._', '_1', '=', '+', '0x', '0b2', '0o8', '1.2.3', '1,000', 'Infinity', 'NaN', '1e400'].map(
    (text) => [text, text] as const,
  ),
  ...['9:30', '12:30', '1:30:00', '2001-01-01', '2001-01-01T10:00:00Z', '2001-01-01 10:00:00'].map((text) => [text, text] as const),
  ...['"yes"', "'yes'", '!!str yes'].map((text) => [text, 'yes'] as const),
  ['0123', 83],
  ['-0123', -83],
  ['0_7', 7],
  ['00', 0],
  ['0o17', 15],
  ['0O17', 15],
  ['089', 89],
  ['08', 8],
  ['09.5', 9.5],
  ['0x1F', 31],
  ['0X1F', 31],
  ['-0x1f', -31],
  ['0b11', 3],
  ['-0b11', -3],
  ['+12', 12],
  ['-12', -12],
  ['1_000', 1000],
  ['1__0', 10],
  ['1_', 1],
  ['1_000.5', 1000.5],
  ['12.50', 12.5],
  ['.5', 0.5],
  ['+.5', 0.5],
  ['5.', 5],
  ['1e3', 1000],
  ['1.5e+3', 1500],
  ['0', 0],
  ['0.0', 0],
  ['!!int "12"', 12],
  ['!!float 12', 12],
  ['!!bool yes', true],
  ['!!timestamp 2001-01-01', '2001-01-01'],
  ['!!binary aGVsbG8=', 'hello'],
  ['!!set {a, b}', { a: null, b: null }],
  ['[no, 0123, 9:30]', [false, 83, '9:30']],
  ['{on: 1, 0123: 2}', { true: 1, 83: 2 }],
];

describe("YAML in Kubernetes' dialect", () => {
  it.each(READ)('%s is %j', (text, value) => {
    expect(valueOf(text)).toEqual(value);
  });

  it.each(['.inf', '-.inf', '.nan', '.NaN'])('refuses %s, which no JSON has', (text) => {
    expect(() => valueOf(text)).toThrow(`${text} can't be written as JSON: put it in quotes, or give a number`);
  });

  it('merges what << names', () => {
    expect(readYaml('a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\n', { dialect: 'kubernetes' })[0]!.value).toEqual({
      a: { x: 1, true: 2 },
      b: { x: 1, true: 3 },
    });
  });
});
