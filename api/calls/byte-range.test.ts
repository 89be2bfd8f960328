import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readRange } from './byte-range.ts';

describe('a range of bytes', () => {
  it.each([
    [undefined, undefined],
    ['bytes=0-', { start: 0, end: 99 }],
    ['bytes=10-19', { start: 10, end: 19 }],
    ['BYTES = 99-200', { start: 99, end: 99 }],
    ['bytes=-1', { start: 99, end: 99 }],
    ['bytes=-1000', { start: 0, end: 99 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    // A range that isn't understood, or has several parts, gets the whole.
    ['bytes=20-10', undefined],
    ['bytes=-', undefined],
    ['bytes=0-1,5-6', undefined],
    ['items=0-1', undefined],
    ['bytes=1.5-2', undefined],
  ] as const)('%s of 100 is %o', (header, expected) => {
    expect(readRange(header, 100)).toEqual(expected);
  });

  it('lies in what there is', () => {
    fc.assert(
      fc.property(fc.nat(), fc.option(fc.nat(), { nil: '' }), fc.nat(), (from, to, size) => {
        const range = readRange(`bytes=${from}-${to}`, size);
        if (typeof range !== 'object') return;
        expect(range.start).toBeLessThanOrEqual(range.end);
        expect(range.end).toBeLessThan(size);
      }),
    );
  });

  it('of nothing is never there', () => {
    expect(readRange('bytes=0-', 0)).toBe('unsatisfiable');
    expect(readRange('bytes=-5', 0)).toBe('unsatisfiable');
  });
});
