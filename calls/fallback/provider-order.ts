/** The providers of one part of a call, the preferred one first. One that fails or is late comes last, for a while. */
import type { ProviderError, ProviderPart } from '../provider-access/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';

/** Without an answer for so long, in milliseconds, the next provider is asked as well. */
export const LATE_MS = 900;

export interface Named {
  readonly provider: string;
  readonly model: string;
}

export interface ProviderOrderOptions<P extends Named> {
  readonly part: ProviderPart;
  /** At least one. */
  readonly providers: readonly P[];
  /** How long one comes last, in milliseconds. */
  readonly restMs: number;
  /** Of what an attempt was rejected with. */
  readonly failureOf: (rejection: unknown) => ProviderError;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onTakeover?: (part: ProviderPart) => void;
}

export class ProviderOrder<P extends Named> {
  readonly #options: ProviderOrderOptions<P>;
  /** Until when, by the monotonic clock. */
  readonly #resting = new Map<P, number>();
  #current: P;

  constructor(options: ProviderOrderOptions<P>) {
    this.#options = options;
    this.#current = options.providers[0]!;
  }

  get all(): readonly P[] {
    return this.#options.providers;
  }

  /** The one that answered last. */
  get current(): P {
    return this.#current;
  }

  /** In which they are asked now. */
  get order(): readonly P[] {
    const now = this.#options.clock.monotonic();
    const rests = (provider: P): boolean => (this.#resting.get(provider) ?? Number.NEGATIVE_INFINITY) > now;
    return [...this.all.filter((provider) => !rests(provider)), ...this.all.filter(rests)];
  }

  /** @param passed asked before it, with what they failed with, or late */
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
