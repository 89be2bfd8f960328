import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { smallerPage, withinBounds } from './bounds.ts';

const text = fc.string({ maxLength: 300 });
const object = fc.record({ id: text, messages: fc.array(text, { maxLength: 60 }), turns: fc.array(text, { maxLength: 60 }) });

describe('an answer with long lists', () => {
  it('is read whole by reading on, in parts that fit', () => {
    fc.assert(
      fc.property(object, fc.integer({ min: 1, max: 4_000 }), (answer, room) => {
        const read = { messages: [] as unknown[], turns: [] as unknown[] };
        let offset: number | undefined = 0;
        while (offset !== undefined) {
          const part: ReturnType<typeof withinBounds> = withinBounds(answer, { lists: ['messages', 'turns'], offset, room });
          expect(part['id']).toBe(answer.id);
          for (const name of ['messages', 'turns'] as const) read[name].push(...(part[name] as unknown[]));
          const { read_on: next } = part;
          // An answer longer than the room holds one item of each list.
          if (JSON.stringify(part).length > room + 100) expect((part['messages'] as unknown[]).length).toBeLessThanOrEqual(1);
          if (next) expect(next.offset).toBeGreaterThan(offset);
          offset = next?.offset;
        }
        expect(read).toEqual({ messages: answer.messages, turns: answer.turns });
      }),
    );
  });

  it('is as it was where it fits, and has nothing beyond its end', () => {
    expect(withinBounds({ a: 1, items: [1, 2] }, { lists: ['items', 'absent'], offset: 0 })).toEqual({ a: 1, items: [1, 2] });
    expect(withinBounds({ items: [1, 2] }, { lists: ['items'], offset: 7 })).toEqual({ items: [] });
  });
});

describe('a smaller page', () => {
  it('is smaller each time, and never empty', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 1000 }), fc.integer({ min: 80_001, max: 50_000_000 }), (asked, characters) => {
        const size = smallerPage(asked, characters);
        expect(size).toBeGreaterThanOrEqual(1);
        expect(size).toBeLessThan(asked);
      }),
    );
  });
});
