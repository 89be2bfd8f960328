import { expect, it } from 'vitest';

import { readDynamicData } from './dynamic-data.ts';

it('reads one value from each line, with whatever the value contains', () => {
  expect(readDynamicData('\n customer_name = Ada Lovelace \nformula=a=b\r\nempty=\n')).toEqual({
    customer_name: 'Ada Lovelace',
    formula: 'a=b',
    empty: '',
  });
  expect(readDynamicData('')).toEqual({});
});

it.each(['Ada', '=Ada'])('names the line %s, which has no name', (line) => {
  expect(() => readDynamicData(`who=Ada\n${line}`)).toThrow(`“${line}”`);
});
