import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { expressionOf, literal, tagOf } from './expression.ts';
import { collectionName } from './schema.ts';

describe('literal', () => {
  it('escapes what would end or bend a string', () => {
    expect(literal('a"b\\c\nd\re\tf')).toBe(String.raw`"a\"b\\c\nd\re\tf"`);
    expect(literal('ক 👩‍👧')).toBe('"ক 👩‍👧"');
  });

  it.each(['\0', 'a\u0007', '\u001b', '\u007f', '\u0085', '\ud83d'])('refuses %j', (text) => {
    expect(() => literal(text)).toThrow(expect.objectContaining({ kind: 'invalid' }) as Error);
  });

  it('says what was said when it is read again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(JSON.parse(literal(text))).toBe(text);
      }),
    );
  });
});

describe('tagOf', () => {
  it('distinguishes fields, types and values, and nothing else', () => {
    const tags = [tagOf('a', 1), tagOf('a', '1'), tagOf('a', true), tagOf('a', 'true'), tagOf('b', 1), tagOf('a","b', 1), tagOf('a', '')];
    expect(new Set(tags).size).toBe(tags.length);
    expect([tagOf('a', 1.0), tagOf('a', -0)]).toEqual([tagOf('a', 1), tagOf('a', 0)]);
    for (const tag of tags) expect(tag).toMatch(/^[0-9a-f]{40}$/);
  });
});

describe('expressionOf', () => {
  const collection = { org: 'acme', collectionId: 'col_1' };

  it('puts the tenant in front and the filter in parentheses behind it', () => {
    expect(expressionOf(collection)).toBe('scope == "acme/col_1"');
    expect(expressionOf(collection, { document: 'd', exclude: ['e', 'f'], filter: { k: '" or 1==1' } })).toBe(
      `scope == "acme/col_1" and document_id == "d" and document_id not in ["e", "f"] and (array_contains_all(tags, ["${tagOf('k', '" or 1==1')}"]))`,
    );
  });
});

describe('collectionName', () => {
  it('distinguishes models and dimensions with similar names, within the limits of Milvus', () => {
    const names = [
      { model: 'a/b', dimension: 3 },
      { model: 'a b', dimension: 3 },
      { model: 'a/b', dimension: 4 },
      { model: `${'x'.repeat(300)}1`, dimension: 3 },
      { model: `${'x'.repeat(300)}2`, dimension: 3 },
      { model: 'মডেল', dimension: 0 },
      { model: '', dimension: 0 },
    ].map(collectionName);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/);
  });
});
