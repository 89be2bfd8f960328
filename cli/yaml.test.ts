import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

import { fromYaml, stringifyYaml } from './yaml.ts';

/** Some reader of YAML takes each of these words for something else. */
const ambiguous = fc.constantFrom(
  'yes',
  'No',
  'on',
  'OFF',
  'y',
  'n',
  'null',
  '~',
  '',
  '0123',
  '0o17',
  '0x1F',
  '1_000',
  '1e3',
  'e3',
  '.',
  '.inf',
  '12:30',
  '9:30',
  '2001-01-01',
  '<<',
  '=',
  '12.50',
  '-5',
  '+1',
  '{{name}}',
  '# no comment',
  'a: b',
  '- a',
  "'",
  '"',
  ' a ',
  'a\n',
  '\ta',
  '🙂',
);
const texts = fc.oneof(ambiguous, fc.string({ unit: 'binary', maxLength: 20 }));
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    texts,
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      texts.filter((key) => key !== '__proto__' && key !== '<<'),
      tie('value'),
      { maxKeys: 3, noNullPrototype: true },
    ),
  ),
})).value;

it.each([false, true])('is read alike by kubectl and by readers of YAML 1.2, whatever is written (sorted: %s)', (sorted) => {
  fc.assert(
    fc.property(values, (value) => {
      const text = stringifyYaml({ value }, { sorted });
      expect(fromYaml(text)).toEqual([{ value }]);
      expect(parse(text)).toEqual({ value });
    }),
  );
});

it('keeps words as they are', () => {
  expect(stringifyYaml({ kind: 'Agent', name: 'front-desk', says: 'Hello there' })).toBe(
    'kind: Agent\nname: front-desk\nsays: Hello there\n',
  );
});
