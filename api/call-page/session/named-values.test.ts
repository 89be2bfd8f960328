import { expect, it } from 'vitest';

import { readNamedValues } from './named-values.ts';

it('reads one value from each line, with whatever the value contains', () => {
  expect(readNamedValues('\n customer_name = Ada Lovelace \nformula=a=b\r\nempty=\n')).toEqual({
    customer_name: 'Ada Lovelace',
    formula: 'a=b',
    empty: '',
  });
  expect(readNamedValues('')).toEqual({});
});

it.each(['Ada', '=Ada'])('names the line %s, which has no name', (line) => {
  expect(() => readNamedValues(`who=Ada\n${line}`)).toThrow(`“${line}”`);
});
