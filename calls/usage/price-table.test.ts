import { describe, expect, it } from 'vitest';

import { problemOfPrices, providerPrice } from '../../platform/config/prices.ts';
import type { UsageLine } from '../../store/index.ts';
import { PriceTable } from './price-table.ts';
import { NOTHING_USED } from './usage-line.ts';

const price = (fields: object) => providerPrice.parse({ provider: 'p', currency: 'USD', ...fields });
const llm = (fields: object = {}) => price({ kind: 'llm', inputPerMillionTokens: '0.4', outputPerMillionTokens: 1.6, ...fields });
const of = { kind: 'llm', purpose: 'conversation', provider: 'p', model: 'm' } as const;
const at = Date.parse('2026-11-21T00:00:00Z');

const micros = (table: PriceTable, kind: UsageLine['kind'], amounts: object) =>
  table.costOf({ ...of, kind }, { ...NOTHING_USED, ...amounts }, at)?.micros;

describe('a table of prices', () => {
  it('counts cached tokens at their own price, or at that of the others', () => {
    const used = { inputTokens: 1_000_000, cachedInputTokens: 250_000, outputTokens: 500_000 };
    expect(micros(new PriceTable([llm({ cachedInputPerMillionTokens: '0.1' })]), 'llm', used)).toBe(300_000n + 25_000n + 800_000n);
    expect(micros(new PriceTable([llm()]), 'llm', used)).toBe(400_000n + 800_000n);
  });

  it('has prices for characters, minutes and hours, also together', () => {
    const table = new PriceTable([
      price({ kind: 'tts', perMillionCharacters: '15', perMinute: '0.6' }),
      price({ kind: 'stt', perHour: '0.462' }),
    ]);
    expect(micros(table, 'tts', { characters: 1_000, audioMilliseconds: 30_000 })).toBe(15_000n + 300_000n);
    expect(micros(table, 'stt', { audioMilliseconds: 3_600_000 })).toBe(462_000n);
  });

  it('has prices for the tokens of questions, and for searches', () => {
    const table = new PriceTable([
      price({ kind: 'embedding', inputPerMillionTokens: '0.02' }),
      price({ kind: 'rerank', perThousandSearches: '2' }),
      price({ kind: 'rerank', model: 'm2', inputPerMillionTokens: '0.05' }),
    ]);
    const used = { requests: 3, inputTokens: 1_000_000 };
    expect(micros(table, 'embedding', used)).toBe(20_000n);
    expect(micros(table, 'rerank', used)).toBe(6_000n);
    expect(table.costOf({ ...of, kind: 'rerank', model: 'm2' }, { ...NOTHING_USED, ...used }, at)?.micros).toBe(50_000n);
  });

  it('is exact, and rounds each line once, half up', () => {
    const table = new PriceTable([llm({ inputPerMillionTokens: '0.5', outputPerMillionTokens: '999999999.999999' })]);
    expect(micros(table, 'llm', { inputTokens: 1 })).toBe(1n);
    expect(micros(table, 'llm', { inputTokens: 3 })).toBe(2n);
    expect(micros(table, 'llm', { outputTokens: 3_000_000 })).toBe(2_999_999_999_999_997n);
  });

  it('knows no price for what it does not name', () => {
    const table = new PriceTable([llm({ model: 'another' })]);
    expect(micros(table, 'llm', {})).toBeUndefined();
    expect(micros(table, 'stt', {})).toBeUndefined();
    expect(new PriceTable([]).costOf(of, NOTHING_USED, at)).toBeNull();
  });

  it('takes the price of the model before that of the provider, and the newest that has begun', () => {
    const table = new PriceTable([
      llm({ inputPerMillionTokens: '9' }),
      llm({ model: 'm', inputPerMillionTokens: '3', from: '2026-11-20' }),
      llm({ model: 'm', inputPerMillionTokens: '2', from: '2026-11-21T00:00:00+01:00' }),
      llm({ model: 'm', inputPerMillionTokens: '1', from: '2026-11-22' }),
    ]);
    expect(micros(table, 'llm', { inputTokens: 1_000_000 })).toBe(2_000_000n);
    expect(table.costOf({ ...of, model: 'x' }, { ...NOTHING_USED, inputTokens: 1_000_000 }, at)?.micros).toBe(9_000_000n);
  });

  it('has another version with other prices', () => {
    expect(new PriceTable([llm()]).version).toBe(new PriceTable([llm()]).version);
    expect(new PriceTable([llm()]).version).not.toBe(new PriceTable([llm({ model: 'm' })]).version);
  });
});

describe('prices that can not be used', () => {
  it.each([
    [{ kind: 'llm', inputPerMillionTokens: '1' }, 'a price of kind llm needs inputPerMillionTokens and outputPerMillionTokens'],
    [{ kind: 'llm', inputPerMillionTokens: '1', outputPerMillionTokens: '1', perMinute: '1' }, 'no price for characters or time'],
    [{ kind: 'stt', perMinute: '1', perHour: '1' }, 'perMinute and perHour exclude each other'],
    [{ kind: 'stt', perMillionCharacters: '1' }, 'a price of kind stt needs perMinute or perHour alone'],
    [{ kind: 'tts' }, 'a price of kind tts needs perMillionCharacters, perMinute or perHour'],
    [{ kind: 'tts', perMinute: '1', cachedInputPerMillionTokens: '1' }, 'a price of kind tts has no price for tokens'],
    [{ kind: 'embedding', outputPerMillionTokens: '1' }, 'a price of kind embedding needs inputPerMillionTokens alone'],
    [{ kind: 'embedding', inputPerMillionTokens: '1', perHour: '1' }, 'a price of kind embedding needs inputPerMillionTokens alone'],
    [
      { kind: 'rerank', inputPerMillionTokens: '1', perThousandSearches: '1' },
      'a price of kind rerank needs either inputPerMillionTokens or perThousandSearches alone',
    ],
    [{ kind: 'stt', perMinute: '1', perThousandSearches: '1' }, 'a price of kind stt has no price for searches'],
    [{ kind: 'stt', perMinute: '-1' }, 'must be an amount like 0.15'],
    [{ kind: 'stt', perMinute: 1e-7 }, 'must be an amount like 0.15'],
    [{ kind: 'stt', perMinute: '1', currency: 'dollars' }, 'must be a currency in three capital letters'],
  ])('%j', (fields, message) => {
    expect(() => price(fields)).toThrow(message);
  });

  it('are in several currencies, or twice', () => {
    expect(problemOfPrices([llm(), llm({ model: 'm', currency: 'EUR' })])).toBe('prices are in USD and EUR: write all in one currency');
    expect(problemOfPrices([llm({ model: 'm' }), llm({ model: 'm' })])).toBe('llm p m has two prices: remove one');
    expect(problemOfPrices([llm({ model: 'm' }), llm({ model: 'm', from: '2026-01-01' }), llm()])).toBeUndefined();
  });
});
