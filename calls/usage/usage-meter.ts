/** Adds up what one call, or one analysis, uses of providers. */
import { randomUUID } from 'node:crypto';

import type { Clock } from '../../platform/clock.ts';
import type { CallUsageRows, UsageLine } from '../../store/index.ts';
import type { PriceTable } from './price-table.ts';
import { NOTHING_USED, type UsageAmounts, type UsageOf } from './usage-line.ts';

/** An agent has few providers; models come from its configuration. */
const MOST_LINES = 64;

/** Usage that was added since the last report. */
export interface UsageAdded {
  readonly of: UsageOf;
  readonly amounts: UsageAmounts;
  /** Millionths of the currency; absent where there is no price. */
  readonly cost?: { readonly micros: number; readonly currency: string };
}

export interface UsageMeterOptions {
  readonly prices: PriceTable;
  readonly clock: Pick<Clock, 'now'>;
  /** Called with what was added, as often as it is stored: for metrics. */
  readonly onUsage?: ((added: readonly UsageAdded[]) => void) | undefined;
}

export class UsageMeter {
  readonly #options: UsageMeterOptions;
  readonly #lines = new Map<string, { readonly of: UsageOf; amounts: UsageAmounts }>();
  readonly #estimates = new Set<Promise<void>>();
  /** Totals are stored under this id: to store them again doubles nothing. */
  readonly #writer = randomUUID();
  readonly #reported = new Map<string, UsageLine>();
  #changed = false;

  constructor(options: UsageMeterOptions) {
    this.#options = options;
  }

  add(of: UsageOf, added: Partial<UsageAmounts>): void {
    const key = meterKey(of);
    const line = this.#lines.get(key) ?? { of, amounts: NOTHING_USED };
    if (!this.#lines.has(key) && this.#lines.size >= MOST_LINES) return;
    this.#lines.set(key, { of, amounts: sumOf(line.amounts, added) });
    this.#changed = true;
  }

  /** Adds amounts that are known only later. Never fails. */
  addLater(of: UsageOf, added: Promise<Partial<UsageAmounts>>): void {
    const waiting = added.then((amounts) => this.add(of, amounts)).finally(() => this.#estimates.delete(waiting));
    this.#estimates.add(waiting);
  }

  /** Resolves when nothing is being estimated. */
  async settled(): Promise<void> {
    while (this.#estimates.size > 0) await Promise.allSettled(this.#estimates);
  }

  /** Returns all totals, to be stored; undefined where they are as they were the last time. */
  takeUnstored(): CallUsageRows | undefined {
    if (!this.#changed) return undefined;
    this.#changed = false;
    const rows = this.#rows();
    const added = rows.lines
      .map((line) => addedTo(this.#reported.get(meterKey(line)), line))
      .filter(({ amounts }) => Object.values(amounts).some((amount) => amount !== 0));
    for (const line of rows.lines) this.#reported.set(meterKey(line), line);
    if (added.length > 0) this.#options.onUsage?.(added);
    return rows;
  }

  /** Call it when the totals of {@link takeUnstored} could not be stored. */
  notStored(): void {
    this.#changed = true;
  }

  #rows(): CallUsageRows {
    const { prices, clock } = this.#options;
    const now = clock.now();
    const lines = [...this.#lines.values()].map(({ of, amounts: exact }) => {
      const amounts = { ...exact, audioMilliseconds: Math.round(exact.audioMilliseconds) };
      return Object.assign(amounts, of, { cost: prices.costOf(of, amounts, now) });
    });
    return { writer: this.#writer, lines };
  }
}

const meterKey = ({ kind, purpose, provider, model }: UsageOf): string => JSON.stringify([kind, purpose, provider, model]);

function addedTo(before: UsageLine | undefined, line: UsageLine): UsageAdded {
  const names = Object.keys(NOTHING_USED) as (keyof UsageAmounts)[];
  const amounts = Object.fromEntries(names.map((name) => [name, line[name] - (before?.[name] ?? 0)])) as unknown as UsageAmounts;
  const { kind, purpose, provider, model, cost } = line;
  const micros = Number((cost?.micros ?? 0n) - (before?.cost?.micros ?? 0n));
  return { of: { kind, purpose, provider, model }, amounts, ...(cost !== null && { cost: { micros, currency: cost.currency } }) };
}

function sumOf(amounts: UsageAmounts, added: Partial<UsageAmounts>): UsageAmounts {
  const entries = Object.entries(amounts) as [keyof UsageAmounts, number][];
  return Object.fromEntries(entries.map(([name, amount]) => [name, amount + (added[name] ?? 0)])) as unknown as UsageAmounts;
}
