import { describe, expect, it } from 'vitest';

import { providerPrice } from '../../platform/config/prices.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { PriceTable } from './price-table.ts';
import { UsageMeter, type UsageAdded } from './usage-meter.ts';

const of = { kind: 'tts', purpose: 'conversation', provider: 'p', model: 'm' } as const;
const prices = new PriceTable([providerPrice.parse({ kind: 'tts', provider: 'p', currency: 'USD', perMillionCharacters: '10' })]);

function aMeter() {
  const reports: UsageAdded[][] = [];
  return { meter: new UsageMeter({ prices, clock: new FakeClock(), onUsage: (added) => reports.push([...added]) }), reports };
}

describe('a meter', () => {
  it('gives totals under one name, and only where they have changed', () => {
    const { meter } = aMeter();
    expect(meter.takeUnstored()).toBeUndefined();
    meter.add(of, { requests: 1, characters: 100 });
    const first = meter.takeUnstored();
    expect(first?.lines).toEqual([
      expect.objectContaining({ ...of, requests: 1, characters: 100, cost: expect.objectContaining({ micros: 1_000n }) }),
    ]);
    expect(meter.takeUnstored()).toBeUndefined();
    meter.add(of, { characters: 50 });
    const second = meter.takeUnstored();
    expect(second?.writer).toBe(first?.writer);
    expect(second?.lines).toEqual([expect.objectContaining({ requests: 1, characters: 150 })]);
  });

  it('gives again what could not be stored', () => {
    const { meter } = aMeter();
    meter.add(of, { characters: 100 });
    const rows = meter.takeUnstored();
    meter.notStored();
    expect(meter.takeUnstored()).toEqual(rows);
  });

  it('reports differences, and rounds sound only in the sum', () => {
    const { meter, reports } = aMeter();
    meter.add(of, { characters: 100, audioMilliseconds: 0.4 });
    meter.takeUnstored();
    meter.add(of, { characters: 7, audioMilliseconds: 0.4 });
    meter.takeUnstored();
    expect(reports.map(([added]) => [added?.amounts.characters, added?.amounts.audioMilliseconds, added?.cost?.micros])).toEqual([
      [100, 0, 1_000],
      [7, 1, 70],
    ]);
  });

  it('is settled when every estimate is in', async () => {
    const { meter } = aMeter();
    const estimate = Promise.withResolvers<{ readonly characters: number }>();
    meter.addLater(of, estimate.promise);
    const settled = meter.settled();
    estimate.resolve({ characters: 3 });
    await settled;
    expect(meter.takeUnstored()?.lines[0]?.characters).toBe(3);
  });
});
