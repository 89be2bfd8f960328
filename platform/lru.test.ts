import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { LruMap } from './lru.ts';

it('forgets the least recently used entry, and a read is a use', () => {
  const map = new LruMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  expect(map.get('a')).toBe(1);
  map.set('c', 3);
  expect(map.get('b')).toBeUndefined();
  expect(map.get('a')).toBe(1);
  expect(map.get('c')).toBe(3);
});

it('forgets until the others weigh no more than the limit, but never the newest', () => {
  const map = new LruMap<string, string>(9, { limit: 10, weigh: (text) => text.length });
  for (const text of ['aaaa', 'bbbb', 'cc', 'dddd']) map.set(text, text);
  expect(['aaaa', 'bbbb', 'cc', 'dddd'].map((key) => map.get(key))).toEqual([undefined, 'bbbb', 'cc', 'dddd']);
  map.set('bbbb', 'b'.repeat(4));
  expect(map.totalWeight).toBe(10);
  map.set('cc', 'heavier than all of them');
  expect([map.size, map.get('cc')]).toEqual([1, 'heavier than all of them']);
  map.delete('cc');
  map.set('a', 'a');
  map.set('b', 'b');
  expect(map.size).toBe(2);
});

it('behaves like a list that keeps the last few keys that were touched', () => {
  const step = fc.record({ op: fc.constantFrom('get', 'set', 'delete'), key: fc.nat(6), value: fc.nat() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step), (capacity, steps) => {
      const map = new LruMap<number, number>(capacity);
      const found: [number | undefined, number | undefined][] = [];
      let model: { key: number; value: number }[] = [];
      for (const { op, key, value } of steps) {
        const known = model.find((entry) => entry.key === key);
        const others = model.filter((entry) => entry.key !== key);
        if (op === 'delete') {
          map.delete(key);
          model = others;
        } else if (op === 'set') {
          map.set(key, value);
          model = [...others, { key, value }].slice(-capacity);
        } else {
          found.push([map.get(key), known?.value]);
          model = known === undefined ? others : [...others, known];
        }
        expect(map.size).toBe(model.length);
      }
      for (const [seen, expected] of found) expect(seen).toBe(expected);
    }),
  );
});
