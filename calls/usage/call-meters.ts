import type { CallUsageRows } from '../../store/index.ts';
import type { ProviderUsage } from './counted-requests.ts';
import type { CountTokens } from './token-usage.ts';
import type { UsageMeter } from './usage-meter.ts';

export interface CallMetersOptions {
  readonly create: (agent: string) => UsageMeter;
  readonly countTokens: CountTokens;
}

/** The usage of one call, by the agents that take part in it. */
export class CallMeters {
  readonly #options: CallMetersOptions;
  readonly #meters = new Map<string, UsageMeter>();

  constructor(options: CallMetersOptions) {
    this.#options = options;
  }

  /** Returns what counts the usage of an agent. */
  of(agent: string): ProviderUsage {
    const meter = this.#meters.get(agent) ?? this.#options.create(agent);
    this.#meters.set(agent, meter);
    return { meter, countTokens: this.#options.countTokens };
  }

  /** Resolves when nothing is being estimated. */
  async settled(): Promise<void> {
    await Promise.all([...this.#meters.values()].map((meter) => meter.settled()));
  }

  /** Returns the totals that have changed since the last time, to be stored. */
  takeUnstored(): readonly CallUsageRows[] {
    return [...this.#meters].flatMap(([agent, meter]) => {
      const rows = meter.takeUnstored();
      return rows === undefined ? [] : [{ ...rows, agent }];
    });
  }

  /** Call it when the totals of {@link takeUnstored} could not be stored. */
  notStored(): void {
    for (const meter of this.#meters.values()) meter.notStored();
  }
}
