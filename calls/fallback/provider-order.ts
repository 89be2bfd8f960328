/** The providers of one part of a call, the preferred one first. One that fails or is late comes last, for a while. */
import type { ProviderError, ProviderPart } from '../provider-access/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';

/** Milliseconds without an answer after which the next provider is asked, too. */
export const LATE_MS = 900;

export interface Named {
  readonly provider: string;
  readonly model: string;
  /** True while it can't be asked: it comes last. */
  readonly isAway?: boolean;
}

export interface ProviderOrderOptions<P extends Named> {
  readonly part: ProviderPart;
  /** At least one provider, the preferred one first. */
  readonly providers: readonly P[];
  /** How long a provider that failed or was late comes last, in milliseconds. */
  readonly restMs: number;
  /** Turns what an attempt was rejected with into a ProviderError. */
  readonly failureOf: (rejection: unknown) => ProviderError;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onTakeover?: (part: ProviderPart) => void;
}

export class ProviderOrder<P extends Named> {
  readonly #options: ProviderOrderOptions<P>;
  /** When each provider stops coming last, by the monotonic clock. */
  readonly #resting = new Map<P, number>();
  #current: P;

  constructor(options: ProviderOrderOptions<P>) {
    this.#options = options;
    this.#current = options.providers[0]!;
  }

  get all(): readonly P[] {
    return this.#options.providers;
  }

  /** The provider that answered last. */
  get current(): P {
    return this.#current;
  }

  /** Providers in the order in which they are asked now. */
  get order(): readonly P[] {
    const now = this.#options.clock.monotonic();
    const rests = (provider: P): boolean => provider.isAway === true || (this.#resting.get(provider) ?? Number.NEGATIVE_INFINITY) > now;
    return [...this.all.filter((provider) => !rests(provider)), ...this.all.filter(rests)];
  }

  /** Returns a new order with one more provider, which is preferred to all others. */
  withFirst(provider: P): ProviderOrder<P> {
    return new ProviderOrder({ ...this.#options, providers: [provider, ...this.all] });
  }

  /** @param passed the providers that were asked before it, each with its failure; one without a failure was late */
  answered(provider: P, passed: readonly { readonly provider: P; readonly failure?: unknown }[] = []): void {
    const others = passed.filter((each) => each.provider !== provider);
    this.#current = provider;
    this.#resting.delete(provider);
    for (const other of others) this.#replaced(other, provider);
    if (others.length > 0) this.#options.onTakeover?.(this.#options.part);
  }

  #replaced({ provider, failure }: { readonly provider: P; readonly failure?: unknown }, by: P): void {
    const { part, restMs, failureOf, clock, logger } = this.#options;
    this.#resting.set(provider, clock.monotonic() + restMs);
    const line = { part, provider: provider.provider, model: provider.model, by: `${by.provider} ${by.model}` };
    if (failure === undefined) return logger.warn(line, 'a provider is late; another one answers');
    const { kind, status, message } = failureOf(failure);
    logger.warn({ ...line, kind, status, failure: message }, 'a provider has failed; another one answers');
  }
}
