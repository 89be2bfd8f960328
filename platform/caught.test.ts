import { expect, test } from 'vitest';

import { errorMessageOf, toError } from './caught.ts';

test.each([
  [new Error('the disk is full'), 'the disk is full'],
  ['a text', 'a text'],
  [undefined, 'undefined'],
  [
    new AggregateError([new Error('connect ECONNREFUSED ::1:5432'), new Error('connect ECONNREFUSED 127.0.0.1:5432')], ''),
    'connect ECONNREFUSED ::1:5432',
  ],
  [new AggregateError([new Error('one')], 'two attempts failed'), 'two attempts failed'],
  [new AggregateError([], ''), ''],
])('of what was caught, the message is read: %s', (caught, message) => {
  expect(errorMessageOf(caught)).toBe(message);
});

test('what is no Error becomes one', () => {
  const error = new TypeError('not a function');
  expect(toError(error)).toBe(error);
  expect(toError('a text')).toEqual(new Error('a text'));
});
