import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { testSigning } from '../../test/support/signing.ts';
import { ValidationError } from '../http/api-error.ts';
import { pageOf } from './keyset.ts';
import { PageTokens } from './page-token.ts';

const tokens = new PageTokens(testSigning('a secret of the deployment'));

describe('page tokens', () => {
  it('come back as they went out', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.string({ unit: 'grapheme' })), (list, position) => {
        expect(tokens.read(list, tokens.write(list, position))).toEqual(position);
      }),
    );
  });

  it('are before every object where they are empty', () => {
    expect(tokens.read('agents/a', '')).toEqual([]);
    const items = [object(0, 'a'), object(1, 'b')];
    expect(pageOf(items, 5, tokens.read('agents/a', '')).items).toEqual(items);
  });

  it('are refused with any character changed, added or taken away, and by any other list or deployment', () => {
    const token = tokens.write('agents/a', ['2026-01-01T00:00:00Z', 'x']);
    const changed = Array.from(token, (character, at) => `${token.slice(0, at)}${character === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`);
    for (const bad of [...changed, token.slice(1), token.slice(0, -1), `${token}A`, `${token}=`, `${token} `, '!'])
      expect(() => tokens.read('agents/a', bad)).toThrow(ValidationError);
    expect(() => tokens.read('agents/b', token)).toThrow(ValidationError);
    expect(() => new PageTokens(testSigning('another secret')).read('agents/a', token)).toThrow(ValidationError);
    const rotated = new PageTokens(testSigning('another secret', 'a secret of the deployment'));
    expect(rotated.read('agents/a', token)).toEqual(['2026-01-01T00:00:00Z', 'x']);
  });
});

const object = (second: number, name: string) => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: new Date(second * 1000).toISOString() },
});

describe('pages', () => {
  const objects = fc.uniqueArray(
    fc.record({ second: fc.nat(4), name: fc.stringMatching(/^[a-z]{1,3}$/), fate: fc.constantFrom('stays', 'comes', 'goes') }),
    { selector: ({ name }) => name },
  );

  it('hold every object that stays, once, in order, while others come and go in between', () => {
    fc.assert(
      fc.property(objects, fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(10)), (all, size, moments) => {
        const seen: string[] = [];
        let position: readonly string[] | undefined;
        for (let round = 0; ; round += 1) {
          const there = all.filter(
            ({ fate }, index) => fate === 'stays' || round >= (moments[index % moments.length] ?? 0) === (fate === 'comes'),
          );
          const { items, next } = pageOf(
            there.map(({ second, name }) => object(second, name)),
            size,
            position,
          );
          seen.push(...items.map(({ metadata }) => metadata.name));
          if (next === undefined) break;
          position = next;
        }
        expect(new Set(seen).size).toBe(seen.length);
        const staying = all
          .filter(({ fate }) => fate === 'stays')
          .toSorted((a, b) => a.second - b.second || (a.name < b.name ? -1 : 1))
          .map(({ name }) => name);
        expect(seen.filter((name) => staying.includes(name))).toEqual(staying);
      }),
    );
  });
});
