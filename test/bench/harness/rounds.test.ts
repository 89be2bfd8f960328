import { setImmediate } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { forEachOf, interleave, load, paced } from './rounds.ts';

describe('interleave', () => {
  it('lets contenders take turns and keeps the warm-up out of the results', async () => {
    const turns: string[] = [];
    const results = await interleave({
      contenders: {
        own: async (round: number) => (turns.push(`own ${round}`), round),
        stock: async (round: number) => (turns.push(`stock ${round}`), round * 10),
      },
      rounds: 2,
    });
    expect(turns).toEqual(['own -1', 'stock -1', 'own 0', 'stock 0', 'own 1', 'stock 1']);
    expect(results).toEqual({ own: [0, 1], stock: [0, 10] });
  });
});

describe('load', () => {
  it('keeps exactly as many in flight as asked for and counts each request once', async () => {
    let current = 0;
    let most = 0;
    const seen = new Set<number>();
    const result = await load({
      inFlight: 4,
      durationMs: 30,
      request: async (index) => {
        seen.add(index);
        most = Math.max(most, ++current);
        await setImmediate();
        current -= 1;
      },
    });
    expect(most).toBe(4);
    expect(result.requests).toBe(seen.size);
    expect(result.latenciesMs).toHaveLength(seen.size);
  });

  it('ends with the failure of a request', async () => {
    await expect(load({ inFlight: 2, durationMs: 1000, request: () => Promise.reject(new Error('refused')) })).rejects.toThrow('refused');
  });
});

describe('forEachOf', () => {
  it('takes every item once, within the limit', async () => {
    let current = 0;
    let most = 0;
    const seen: number[] = [];
    await forEachOf([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      most = Math.max(most, ++current);
      await setImmediate();
      seen.push(item);
      current -= 1;
    });
    expect(seen.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(3);
  });

  it('starts nothing more after a failure', async () => {
    const seen: number[] = [];
    const task = async (item: number): Promise<void> => {
      seen.push(item);
      if (item === 2) throw new Error('item 2');
    };
    await expect(forEachOf([1, 2, 3, 4], 1, task)).rejects.toThrow('item 2');
    expect(seen).toEqual([1, 2]);
  });
});

describe('paced', () => {
  it('does not wait for earlier ones', async () => {
    const open: (() => void)[] = [];
    await paced({
      perSecond: 200,
      seconds: 0.05,
      task: () =>
        new Promise((resolve) => {
          open.push(resolve);
          if (open.length === 10) for (const release of open) release();
        }),
    });
    expect(open).toHaveLength(10);
  });

  it('reports a failure once all have ended', async () => {
    let ended = 0;
    const task = async (index: number): Promise<void> => {
      ended += 1;
      if (index === 0) throw new Error('first');
    };
    await expect(paced({ perSecond: 1000, seconds: 0.005, task })).rejects.toThrow('first');
    expect(ended).toBe(5);
  });
});
