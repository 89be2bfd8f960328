import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { TERM_WEIGHT_LIMIT } from '../lexical/vectors.ts';
import { DENSE_LENGTH, denseUnits, PASSAGE_UNIT, passageUnits, queryUnits } from './exact-weights.ts';

const weights = (least: number, most: number) =>
  fc
    .dictionary(fc.integer({ min: 1, max: 999_999_999 }).map(String), fc.double({ min: least, max: most, noNaN: true }), {
      minKeys: 1,
      maxKeys: 40,
    })
    .map((entries) => ({ indices: Object.keys(entries).map(Number), values: Object.values(entries) }));

describe('sparse vectors in units', () => {
  it('are off by half a unit at most, and never vanish', () => {
    fc.assert(
      fc.property(weights(1e-9, TERM_WEIGHT_LIMIT), weights(1e-9, 20), (passage, query) => {
        const stored = passageUnits(passage);
        const asked = queryUnits(query);
        expect(stored.indices).toEqual(passage.indices);
        for (const [position, units] of stored.units.entries()) {
          expect(Number.isInteger(units) && units >= 1).toBe(true);
          expect(Math.abs(units / PASSAGE_UNIT - (passage.values[position] ?? 0))).toBeLessThanOrEqual(1 / PASSAGE_UNIT);
        }
        for (const [position, units] of asked.units.entries()) {
          expect(Number.isInteger(units) && units >= 1).toBe(true);
          expect(Math.abs(units * asked.step - (query.values[position] ?? 0))).toBeLessThanOrEqual(asked.step);
        }
      }),
    );
  });

  it('add up exactly in single precision, in any order', () => {
    fc.assert(
      fc.property(
        weights(0.01, TERM_WEIGHT_LIMIT),
        weights(0.01, 12),
        fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
        (passage, query, order) => {
          const shared = Math.min(passage.indices.length, query.indices.length);
          const { units: left } = passageUnits(passage);
          const { units: right } = queryUnits(query);
          const products = Array.from({ length: shared }, (_, index) => (left[index] ?? 0) * (right[index] ?? 0));
          const sum = (values: readonly number[]): number => values.reduce((total, value) => Math.fround(total + Math.fround(value)), 0);
          const shuffled = products.map((value, index) => ({ value, key: order[index] ?? 0 })).toSorted((a, b) => a.key - b.key);
          expect(sum(shuffled.map(({ value }) => value))).toBe(products.reduce((total, value) => total + value, 0));
        },
      ),
    );
  });

  it.each([
    ['more indices than values', { indices: [1, 2], values: [1] }],
    ['indices twice', { indices: [1, 1], values: [1, 1] }],
    ['indices that fall', { indices: [2, 1], values: [1, 1] }],
    ['index 0', { indices: [0], values: [1] }],
    ['an index above the last', { indices: [1_000_000_000], values: [1] }],
    ['a fraction as index', { indices: [1.5], values: [1] }],
    ['a weight of 0', { indices: [1], values: [0] }],
    ['a negative weight', { indices: [1], values: [-1] }],
    ['an infinite weight', { indices: [1], values: [Infinity] }],
  ])('refuse %s', (_, vector) => {
    expect(() => passageUnits(vector)).toThrow(expect.objectContaining({ kind: 'invalid' }) as Error);
    expect(() => queryUnits(vector)).toThrow(expect.objectContaining({ kind: 'invalid' }) as Error);
  });
});

describe('dense vectors in units', () => {
  const vectors = (dimension: number) =>
    fc
      .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: dimension, maxLength: dimension })
      .filter((values) => values.some((value) => Math.abs(value) > 1e-3))
      .map((values) => Float32Array.from(values));

  it('keep their cosine, whatever their length', () => {
    fc.assert(
      fc.property(vectors(64), vectors(64), fc.double({ min: 1e-3, max: 1e6, noNaN: true }), (left, right, scale) => {
        const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
        const cosine = dot(left, right) / Math.sqrt(dot(left, left) * dot(right, right));
        const units = [
          denseUnits(
            left.map((value) => value * scale),
            64,
          ),
          denseUnits(right, 64),
        ] as const;
        expect(Math.abs(dot(...units) / DENSE_LENGTH ** 2 - cosine)).toBeLessThan(0.005);
        for (const vector of units) expect(vector.every((value) => Number.isInteger(value) && !Object.is(value, -0))).toBe(true);
      }),
    );
  });

  it('fit into half precision', () => {
    fc.assert(
      fc.property(vectors(8), (vector) => {
        for (const value of denseUnits(vector, 8)) expect(Math.abs(value)).toBeLessThanOrEqual(2048);
      }),
    );
  });

  it.each([
    ['another dimension', [1, 2, 3]],
    ['zeros', [0, 0]],
    ['no numbers', [Number.NaN, 1]],
    ['infinity', [Infinity, 1]],
  ])('refuse %s', (_, values) => {
    expect(() => denseUnits(Float32Array.from(values), 2)).toThrow(expect.objectContaining({ kind: 'invalid' }) as Error);
  });
});
