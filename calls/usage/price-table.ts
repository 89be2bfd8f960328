/** Computes exactly what usage costs: prices are millionths of the currency, sums are integers, and each line is rounded once, to a millionth. */
import { createHash } from 'node:crypto';

import { canonicalJson } from '../../platform/canonical-json.ts';
import type { ProviderPrice } from '../../platform/config/prices.ts';
import { microsIn } from '../../platform/money.ts';
import type { Cost } from '../../store/index.ts';
import type { UsageAmounts, UsageOf } from './usage-line.ts';

const MILLION = 1_000_000n;
const MS_PER_HOUR = 3_600_000n;

export class PriceTable {
  readonly #prices: readonly ProviderPrice[];
  /** Distinguishes tables: a digest of the prices. */
  readonly version: string;

  constructor(prices: readonly ProviderPrice[]) {
    this.#prices = prices;
    this.version = createHash('sha256').update(canonicalJson(prices)).digest('hex').slice(0, 12);
  }

  /** @returns null where there is no price. @param at milliseconds since the epoch */
  costOf(of: UsageOf, amounts: UsageAmounts, at: number): Cost | null {
    const price = this.#priceOf(of, at);
    if (price === undefined) return null;
    return { micros: microsOf(price, amounts), currency: price.currency, priceVersion: this.version };
  }

  #priceOf({ kind, provider, model }: UsageOf, at: number): ProviderPrice | undefined {
    const begun = this.#prices.filter((price) => price.kind === kind && price.provider === provider && beginOf(price) <= at);
    const newest = (wanted: string | undefined) =>
      begun.filter((price) => price.model === wanted).toSorted((a, b) => beginOf(b) - beginOf(a))[0];
    return newest(model) ?? newest(undefined);
  }
}

const beginOf = ({ from }: ProviderPrice): number => (from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from));

function microsOf(price: ProviderPrice, used: UsageAmounts): bigint {
  const input = microsIn(price.inputPerMillionTokens ?? '0');
  const cached = microsIn(price.cachedInputPerMillionTokens ?? price.inputPerMillionTokens ?? '0');
  const output = microsIn(price.outputPerMillionTokens ?? '0');
  const perMillion =
    BigInt(used.inputTokens - used.cachedInputTokens) * input +
    BigInt(used.cachedInputTokens) * cached +
    BigInt(used.outputTokens) * output +
    BigInt(used.characters) * microsIn(price.perMillionCharacters ?? '0') +
    1_000n * BigInt(used.requests) * microsIn(price.perThousandSearches ?? '0');
  const perHour = microsIn(price.perHour ?? '0') + 60n * microsIn(price.perMinute ?? '0');
  return rounded(perMillion * MS_PER_HOUR + BigInt(used.audioMilliseconds) * perHour * MILLION, MILLION * MS_PER_HOUR);
}

/** Divides, and rounds half up. */
const rounded = (dividend: bigint, divisor: bigint): bigint => (2n * dividend + divisor) / (2n * divisor);
