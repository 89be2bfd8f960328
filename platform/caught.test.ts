import { expect, test } from 'vitest';

import { errorCodeOf, errorMessageOf, toError } from './caught.ts';

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

const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });

test.each([
  [refused, 'ECONNREFUSED'],
  [new TypeError('fetch failed', { cause: refused }), 'ECONNREFUSED'],
  [new AggregateError([new Error('connect'), refused]), 'ECONNREFUSED'],
  [Object.assign(new Error('connect'), { code: 7 }), undefined],
  [new Error('the disk is full'), undefined],
  ['ECONNREFUSED', undefined],
  [undefined, undefined],
])('of what was caught, the code is read: %s', (caught, code) => {
  expect(errorCodeOf(caught)).toBe(code);
});
