import { describe, expect, it } from 'vitest';

import { byRank, candidatesFor, fuseRankings } from './fuse-rankings.ts';
import type { VectorHit } from './vector-store.ts';

const ranking = (...ids: string[]): VectorHit[] =>
  ids.map((chunkId, index) => ({ chunkId, documentId: chunkId, ordinal: 0, tieBreaker: 0, score: 100 - index }));

describe('fuseRankings', () => {
  it('adds the reciprocal ranks up', () => {
    const fused = fuseRankings([ranking('b', 'a', 'c'), ranking('a', 'b', 'd')], 10);
    expect(fused.map(({ chunkId, score }) => [chunkId, score])).toEqual([
      ['a', 1 / 62 + 1 / 61],
      ['b', 1 / 61 + 1 / 62],
      ['c', 1 / 63],
      ['d', 1 / 63],
    ]);
  });

  it('decides ties by the content of the document, then by the order in it, and never by the id where either differs', () => {
    const hit = (documentId: string, ordinal: number, tieBreaker: number): VectorHit => ({
      chunkId: `${documentId}:${ordinal}`,
      documentId,
      ordinal,
      tieBreaker,
      score: 1,
    });
    const hits = [hit('a', 10, 7), hit('a', 2, 7), hit('b', 0, 3), hit('c', 5, 9)];
    expect(hits.toSorted(byRank).map(({ chunkId }) => chunkId)).toEqual(['b:0', 'a:2', 'a:10', 'c:5']);
  });

  it('puts what both found before what one found first', () => {
    expect(fuseRankings([ranking('x', 'm'), ranking('y', 'm')], 2).map(({ chunkId }) => chunkId)).toEqual(['m', 'x']);
  });

  it('takes an empty ranking, and gives no more than is asked for', () => {
    expect(fuseRankings([[], ranking('a', 'b')], 1).map(({ chunkId }) => chunkId)).toEqual(['a']);
    expect(fuseRankings([[], []], 5)).toEqual([]);
  });

  it('asks for four times as many candidates, and fifty at least', () => {
    expect([1, 12, 13, 1_000].map(candidatesFor)).toEqual([50, 50, 52, 4_000]);
  });
});
