import { describe, expect, it } from 'vitest';

import { PathError, valueAt } from './json-path.ts';

const answer = {
  name: 'Ada',
  nil: null,
  'first name': 'Augusta',
  "it's": 1,
  'a.b': 2,
  customer: { tier: 'gold', tags: ['x', 'y'] },
  orders: [{ id: 7, lines: [{ id: 71 }] }, { id: 8 }],
};

describe('valueAt', () => {
  it.each([
    ['$.name', 'Ada'],
    ['name', 'Ada'],
    [' $.customer.tier ', 'gold'],
    ['customer.tier', 'gold'],
    ["$['first name']", 'Augusta'],
    ['["first name"]', 'Augusta'],
    [String.raw`$['it\'s']`, 1],
    ["$['a.b']", 2],
    ['$.orders[0].id', 7],
    ['$.orders[-1].id', 8],
    ['orders.1.id', 8],
    ['$.orders[ 0 ]["id"]', 7],
    ['$.customer', answer.customer],
    ['$.nil', null],
    ['$', answer],
    ['$.orders[*].id', [7, 8]],
    ['$.customer.*', ['gold', ['x', 'y']]],
    ['$..id', [7, 71, 8]],
    ['$..lines[0].id', [71]],
  ])('%s', (path, value) => {
    expect(valueAt(path, answer)).toEqual(value);
  });

  it.each(['$.absent', '$.name.length', '$.orders[2]', '$.orders[-3]', '$.orders.length', '$.constructor', '$.orders[*].none', '$.nil.x'])(
    '%s leads nowhere',
    (path) => {
      expect(valueAt(path, answer)).toBeUndefined();
    },
  );

  it.each(['$.', '$name', 'a b', '$.a[', '$[?(@.id==7)]', '$.orders[0:1]', "$['a','b']", '$...a', '$.a..', '$..a..b', ''])(
    '%s is no path',
    (path) => {
      expect(() => valueAt(path, answer)).toThrow(PathError);
    },
  );

  it('looks at each place once, however deep the answer is', () => {
    let deep: unknown = 'end';
    for (let level = 0; level < 60; level += 1) deep = [deep, deep];
    // Each level stands there twice: of the 2^60 places a path without wildcards sees one.
    expect(valueAt(`$${'[1]'.repeat(60)}`, deep)).toBe('end');
    let chain: unknown = 'end';
    for (let level = 0; level < 60; level += 1) chain = [chain];
    expect(valueAt(`$..*${'[*]'.repeat(20)}`, chain)).toHaveLength(40);
  });

  it('finds its way in a list, and in what is no object at all', () => {
    expect(valueAt('$[1]', [1, 2])).toBe(2);
    expect(valueAt('[0].a', [{ a: 3 }])).toBe(3);
    expect(valueAt('$', 'text')).toBe('text');
    expect(valueAt('$.a', 'text')).toBeUndefined();
  });
});
