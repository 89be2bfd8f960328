import { expect, it } from 'vitest';

import { inOrderOfReferences } from './tables.ts';

const names = (tables: Readonly<Record<string, readonly string[]>>): readonly string[] =>
  inOrderOfReferences(Object.entries(tables).map(([name, references]) => ({ name, references }))).map(({ name }) => name);

it('has what others refer to before them, through several of them, too', () => {
  expect(names({ chunks: ['documents'], documents: ['collections'], organizations: [], collections: ['organizations'] })).toEqual([
    'organizations',
    'collections',
    'documents',
    'chunks',
  ]);
});

it('leaves the order of tables that refer to nothing, and knows no other tables', () => {
  expect(names({ b: ['elsewhere'], a: [] })).toEqual(['b', 'a']);
});

it('ends where two tables refer to each other', () => {
  expect(names({ a: ['b'], b: ['a'] }).toSorted()).toEqual(['a', 'b']);
});
