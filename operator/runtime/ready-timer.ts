import type { Clock } from '../../platform/clock.ts';
import type { Managed } from '../status/common.ts';
import { findCondition } from '../../crds/kind.ts';

/** Measures from the first event of a generation until its status says it is ready. */
export class ReadyTimer {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly generation: number; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a watch event: a new generation starts the timer; one that another process has made ready ends it. */
  saw(key: string, object: Managed): void {
    const generation = object.metadata.generation ?? 0;
    if (object.status?.observedGeneration === generation) {
      if (findCondition(object, 'Ready')?.status === 'True') this.#seen.delete(key);
      return;
    }
    if (this.#seen.get(key)?.generation === generation) return;
    this.#seen.set(key, { generation, at: this.#clock.monotonic() });
  }

  /** Returns, once, how many seconds a generation took until it was ready. */
  ready(key: string, generation: number): number | undefined {
    const seen = this.#seen.get(key);
    if (seen === undefined || seen.generation > generation) return undefined;
    this.#seen.delete(key);
    return (this.#clock.monotonic() - seen.at) / 1000;
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }
}
